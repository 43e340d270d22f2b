import type { ShareLedger } from "../../../core/base/share-ledger.ts";
import type { WaitingRows } from "./waiting-rows.ts";

/** A row in the notifier's hands: outcomes of an earlier serial are of an earlier run. */
export interface HeldRow {
  readonly serial: number;
  readonly tenant: string;
  readonly lane: string;
  /** It leaves before others that wait. */
  readonly isUrgent?: boolean;
}

/** Rows in the notifier's hands, counted by lane, each with a place of its tenant's share. */
export class HeldRows<R extends HeldRow> {
  readonly #rows = new Map<string, R>();
  readonly #byLane = new Map<string, number>();
  readonly #places: () => ShareLedger;

  constructor(places: () => ShareLedger) {
    this.#places = places;
  }

  get size(): number {
    return this.#rows.size;
  }

  get(key: string): R | undefined {
    return this.#rows.get(key);
  }

  has(key: string): boolean {
    return this.#rows.has(key);
  }

  /** Number of rows that a lane has. */
  count(lane: string): number {
    return this.#byLane.get(lane) ?? 0;
  }

  /** Rows of a lane; they may be released meanwhile. */
  keysOf(lane: string): string[] {
    return [...this.#rows].filter(([, row]) => row.lane === lane).map(([key]) => key);
  }

  hold(key: string, row: R): void {
    this.#places().add(row.tenant);
    this.#rows.set(key, row);
    this.#byLane.set(row.lane, this.count(row.lane) + 1);
  }

  release(key: string): void {
    const row = this.#rows.get(key);
    if (row === undefined) return;
    this.#rows.delete(key);
    this.#places().give(row.tenant);
    const left = this.count(row.lane) - 1;
    if (left > 0) this.#byLane.set(row.lane, left);
    else this.#byLane.delete(row.lane);
  }

  /** The notifier has ended: all of them wait again. */
  returnTo(waiting: WaitingRows): void {
    for (const [key, { lane, tenant, isUrgent }] of this.#rows) {
      waiting.add(lane, key, isUrgent);
      this.#places().give(tenant);
    }
    this.#rows.clear();
    this.#byLane.clear();
  }
}
