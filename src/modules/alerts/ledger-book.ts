// The ledger: why each finding did or did not page. Rows are decided on with the verdicts, in `control`, and stored with what follows in `series`; those that a
// failed commit has left behind go with the next one. Under load they wait for some more (ADR 49). A crash before they are stored loses those that wait, a
// hundred at most, never the alert.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { LEDGER_GATHER_MS_MAX, LEDGER_ROWS_GATHERED_MAX } from "../../core/config/limits.ts";
import type { PageDecision } from "../../domain/alerting/paging/page-decision.ts";
import { RowCounts } from "../state/row-counts.ts";
import { byKey, tenantTimeKey } from "../state/tables.ts";
import { decodeDecision, encodeDecision } from "./rows/decision-row.ts";

/** A decision and the id of its row. */
export interface LedgerRow {
  readonly id: string;
  readonly decision: PageDecision;
}

const SERIAL_DIGITS = 2;

/** Id of the row of the decision on an anomaly, or an alert, that has had `serial` before. Rows of one id differ in their time. */
export function ledgerRowId(id: string, serial: number): string {
  return id.slice(0, -SERIAL_DIGITS) + (serial % 256).toString(16).padStart(SERIAL_DIGITS, "0");
}

/** The committed rows, counted, and those that wait to be stored. */
export class LedgerBook {
  readonly counts = new RowCounts("ledger_counts");
  readonly #store: KeyValueStore;
  #waiting: LedgerRow[] = [];
  /** Number of waiting rows, from the first on, that are in the commit under way. */
  #storing = 0;

  constructor(series: KeyValueStore) {
    this.#store = series;
  }

  load(): void {
    this.counts.load(this.#store);
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  /** Whether rows that wait are worth a commit of their own. */
  isDue(nowMs: number): boolean {
    const [oldest] = this.#waiting;
    if (oldest === undefined) return false;
    return this.#waiting.length >= LEDGER_ROWS_GATHERED_MAX || nowMs - oldest.decision.atMs >= LEDGER_GATHER_MS_MAX;
  }

  /** Stores the rows that wait; nothing else may be writing. Rejects with StoreError, and they wait on. */
  async store(): Promise<void> {
    if (!this.isWaiting) return;
    await this.#store.commit(this.operations());
    this.stored();
  }

  /** Takes rows to be stored with the next commit. */
  add(rows: readonly LedgerRow[]): void {
    this.#waiting.push(...rows);
  }

  /** Operations that store the rows that wait; `stored` is to be called after the commit. */
  operations(): StoreOperation[] {
    this.#storing = this.#waiting.length;
    if (this.#storing === 0) return [];
    const added = new Map<string, number>();
    const rows = this.#waiting.map(({ id, decision }): StoreOperation => {
      added.set(decision.tenant, (added.get(decision.tenant) ?? 0) + 1);
      return { table: "ledger", key: tenantTimeKey(decision.tenant, decision.atMs, id), value: encodeDecision(decision, id) };
    });
    return [...rows.sort(byKey), ...[...added].map(([tenant, count]) => this.counts.operation(tenant, count))];
  }

  /** The operations that were asked for last are stored. */
  stored(): void {
    for (const { decision } of this.#waiting.splice(0, this.#storing)) this.counts.add(decision.tenant, 1);
    this.#storing = 0;
  }

  /** One row, also where it waits to be stored. */
  find(tenant: string, atMs: number, id: string): PageDecision | undefined {
    const waiting = this.#waiting.find((row) => row.id === id && row.decision.atMs === atMs);
    if (waiting !== undefined) return waiting.decision;
    const value = this.#store.get("ledger", tenantTimeKey(tenant, atMs, id));
    return value === undefined ? undefined : decodeDecision(value, { tenant, timeMs: atMs, id });
  }
}
