// The ledger: why each finding did or did not page. Rows are decided on with the verdicts, in `control`, and stored with what follows in `series`; those that a
// failed commit has left behind go with the next one. Under load they wait for some more (ADR 49). A crash before they are stored loses those that wait, a
// hundred at most, never the alert.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { LEDGER_GATHER_MS_MAX, LEDGER_ROWS_GATHERED_MAX } from "../../core/config/limits.ts";
import type { PageDecision } from "../../domain/alerting/paging/page-decision.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { number, StoredForm, text } from "../state/stored-json.ts";
import { byKey, tenantTimeKey } from "../state/tables.ts";
import { decodeDecision, encodeDecision } from "./rows/decision-row.ts";

interface LedgerCount {
  readonly tenant: string;
  readonly rows: number;
}

const LEDGER_COUNT = new StoredForm<LedgerCount>("ledger_counts", {
  tenant: text,
  rows: number,
});

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
  readonly #rows = new Map<string, number>();
  readonly #store: KeyValueStore;
  #size = 0;
  #waiting: LedgerRow[] = [];
  /** Number of waiting rows, from the first on, that are in the commit under way. */
  #storing = 0;

  constructor(series: KeyValueStore) {
    this.#store = series;
  }

  load(): void {
    for (const { value } of scan(this.#store, "ledger_counts")) {
      const { tenant, rows } = LEDGER_COUNT.decode(value);
      this.count(tenant, rows);
    }
  }

  /** Over all tenants. */
  get size(): number {
    return this.#size;
  }

  get tenants(): Iterable<string> {
    return this.#rows.keys();
  }

  sizeOf(tenant: string): number {
    return this.#rows.get(tenant) ?? 0;
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
    return [...rows.sort(byKey), ...[...added].map(([tenant, count]) => this.countOperation(tenant, count))];
  }

  /** The operations that were asked for last are stored. */
  stored(): void {
    for (const { decision } of this.#waiting.splice(0, this.#storing)) this.count(decision.tenant, 1);
    this.#storing = 0;
  }

  /** Stores that a tenant has so many rows more, or fewer. */
  countOperation(tenant: string, by: number): StoreOperation {
    const rows = this.sizeOf(tenant) + by;
    return {
      table: "ledger_counts",
      key: new KeyBuilder().text(tenant).finish(),
      value: rows > 0 ? LEDGER_COUNT.encode({ tenant, rows }) : undefined,
    };
  }

  /** Takes over what is stored. */
  count(tenant: string, by: number): void {
    const rows = this.sizeOf(tenant) + by;
    this.#size += by;
    if (rows > 0) this.#rows.set(tenant, rows);
    else this.#rows.delete(tenant);
  }

  /** One row, also where it waits to be stored. */
  find(tenant: string, atMs: number, id: string): PageDecision | undefined {
    const waiting = this.#waiting.find((row) => row.id === id && row.decision.atMs === atMs);
    if (waiting !== undefined) return waiting.decision;
    const value = this.#store.get("ledger", tenantTimeKey(tenant, atMs, id));
    return value === undefined ? undefined : decodeDecision(value, { tenant, timeMs: atMs, id });
  }
}
