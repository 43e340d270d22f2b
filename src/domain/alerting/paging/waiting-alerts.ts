// Alerts whose page waits for a group, the first that waits first: a step of the coordinator asks when the next is due, and never goes through those that are not.
import { firstIndex } from "../../../core/collections/sorted-search.ts";
import type { Alert } from "./alert.ts";
import { GROUP_GATE } from "./group-wait.ts";

interface Entry {
  readonly sinceMs: number;
  readonly alert: Alert;
}

export class WaitingAlerts {
  /** Ascending by when they began to wait, then by id. */
  readonly #order: Entry[] = [];
  readonly #byId = new Map<string, Entry>();

  /** When the first of them began to wait; infinite where none does. */
  get firstSinceMs(): number {
    return this.#order[0]?.sinceMs ?? Number.POSITIVE_INFINITY;
  }

  /** Those that waited by then, the first of them first. */
  waitingBy(atMs: number): Alert[] {
    const due: Alert[] = [];
    for (const entry of this.#order) {
      if (entry.sinceMs > atMs) break;
      due.push(entry.alert);
    }
    return due;
  }

  /** When one of this id began to wait; undefined where it does not. */
  sinceMs(id: string): number | undefined {
    return this.#byId.get(id)?.sinceMs;
  }

  /** All of them, the first that waits first. */
  *[Symbol.iterator](): Generator<Alert> {
    for (const { alert } of this.#order) yield alert;
  }

  /** Takes an alert as it is now. */
  put(alert: Alert): void {
    const known = this.#byId.get(alert.state.id);
    this.remove(alert.state.id);
    if (!isWaiting(alert)) return;
    // What joins it while it waits changes it, and prolongs nothing.
    const entry = { sinceMs: known?.sinceMs ?? alert.updatedAtMs, alert };
    this.#byId.set(alert.state.id, entry);
    this.#order.splice(this.#lowerBound(entry), 0, entry);
  }

  /** Forgets an alert. */
  remove(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    this.#byId.delete(id);
    this.#order.splice(this.#lowerBound(entry), 1);
  }

  /** The first place whose entry does not come before this one. */
  #lowerBound(entry: Entry): number {
    return firstIndex(0, this.#order.length, (index) => comesBefore(this.#order[index] as Entry, entry));
  }
}

/** Whether the page of an alert waits for a group. */
export function isWaiting({ heldBy, state }: Alert): boolean {
  return heldBy === GROUP_GATE && state.resolvedAtMs === null;
}

function comesBefore(one: Entry, other: Entry): boolean {
  return one.sinceMs < other.sinceMs || (one.sinceMs === other.sinceMs && one.alert.state.id < other.alert.state.id);
}
