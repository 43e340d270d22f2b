// Alerts whose page waits for a group, the first that opened first: a step of the coordinator asks when the next is due, and never goes through those that are not.
import { firstPlace } from "../../../core/collections/sorted-search.ts";
import type { Alert } from "./alert.ts";
import { GROUP_GATE, openedMs } from "./group-wait.ts";

interface Entry {
  readonly openedMs: number;
  readonly alert: Alert;
}

export class WaitingAlerts {
  /** Ascending by opening, then by id. */
  readonly #order: Entry[] = [];
  readonly #byId = new Map<string, Entry>();

  /** When the first of them opened; infinite where none waits. */
  get firstOpenedMs(): number {
    return this.#order[0]?.openedMs ?? Number.POSITIVE_INFINITY;
  }

  /** Those that opened by then, the first to open first. */
  openedBy(atMs: number): Alert[] {
    const due: Alert[] = [];
    for (const entry of this.#order) {
      if (entry.openedMs > atMs) break;
      due.push(entry.alert);
    }
    return due;
  }

  /** All of them, the first to open first. */
  *[Symbol.iterator](): Generator<Alert> {
    for (const { alert } of this.#order) yield alert;
  }

  /** Takes an alert as it is now. */
  put(alert: Alert): void {
    this.remove(alert.state.id);
    if (!isWaiting(alert)) return;
    const entry = { openedMs: openedMs(alert), alert };
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
    return firstPlace(0, this.#order.length, (place) => comesBefore(this.#order[place] as Entry, entry));
  }
}

/** Whether the page of an alert waits for a group. */
export function isWaiting({ heldBy, state }: Alert): boolean {
  return heldBy === GROUP_GATE && state.resolvedAtMs === null;
}

function comesBefore(one: Entry, other: Entry): boolean {
  return one.openedMs < other.openedMs || (one.openedMs === other.openedMs && one.alert.state.id < other.alert.state.id);
}
