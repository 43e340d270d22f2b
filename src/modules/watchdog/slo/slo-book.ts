/**
 * Good ratios of SLOs, by (tenant, environment, service, metric): three days of minutes each, fed from the records as they are stored and read again at the start
 * from `slo_records`, which holds what windows need of each record. One that nobody sends any more is let go when its window is empty.
 */
import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { TenantTable } from "../../../core/collections/tenant-table.ts";
import { SLOS_OUTSIDE_MAX } from "../../../core/config/limits.ts";
import { ShareLedger } from "../../../core/fairness/share-ledger.ts";
import type { RecordEnvelope } from "../../../core/protocol/coordinator-frame.ts";
import { SloBurn } from "../../../domain/detection/service/slo-burn.ts";
import { isRatio, type SloRecord } from "../../../domain/detection/service/slo-record.ts";
import { scan, scanTenants } from "../../state/scan.ts";
import { nullable, number, StoredForm, text } from "../../state/stored-json.ts";
import { ID_BYTES, idText, tenantTimeBound, tenantTimeKey } from "../../state/tables.ts";

export interface SloWindow extends Pick<SloRecord, "tenant" | "environment" | "serviceId" | "metricName"> {
  readonly burn: SloBurn;
  objective: number | null;
  newestMs: number;
}

export const SLO_WINDOW_MS = 3 * 24 * 3600 * 1000;
const ROWS_PER_SLICE = 5_000;
const ROWS_DELETED_PER_STEP = 1_000;

export const SLO_RECORD = new StoredForm<SloRecord>("slo_records", {
  tenant: text,
  environment: text,
  serviceId: text,
  metricName: text,
  timeMs: number,
  ratio: number,
  objective: nullable(number),
});

/** An SLO whose newest record gives a value that is no ratio. */
export interface OutsideSlo extends Pick<SloRecord, "tenant" | "environment" | "serviceId" | "metricName"> {
  readonly value: number;
  readonly atMs: number;
}

/** The part of a record that windows need; undefined where it is no SLO record. */
export function sloRecordOf({ tenant, environment, timeMs, record }: RecordEnvelope): SloRecord | undefined {
  const { type, service_id: serviceId, metric_name: metricName, value, attributes } = record;
  if (type !== "slo" || typeof value !== "number") return undefined;
  if (typeof serviceId !== "string" || typeof metricName !== "string") return undefined;
  const input = Number((attributes as Record<string, unknown> | undefined)?.objective);
  const objective = input > 0 && input < 1 ? input : null;
  return { tenant, environment, serviceId, metricName, timeMs, ratio: value, objective };
}

/** The row of a record. */
export function sloOperation(record: SloRecord, id: string): StoreOperation {
  return { table: "slo_records", key: tenantTimeKey(record.tenant, record.timeMs, id), value: SLO_RECORD.encode(record) };
}

/** Bounded by the ledger of its windows, at 35 KiB each. */
export class SloBook {
  readonly #shares: ShareLedger;
  readonly #windows = new Map<string, SloWindow>();
  /** By tenant, at most SLOS_OUTSIDE_MAX of each: what one sends wrong hides nothing of another. */
  readonly #outside = new TenantTable<OutsideSlo>(keyOf);
  /** Ids of what was stored while rows are read; undefined at other times. */
  #meanwhile: Set<string> | undefined;
  refused = 0;

  constructor(shares = ShareLedger.alone()) {
    this.#shares = shares;
  }

  get windows(): Iterable<SloWindow> {
    return this.#windows.values();
  }

  /** A tenant's SLOs whose newest record gives no ratio. */
  outside(tenant: string): Iterable<OutsideSlo> {
    return this.#outside.of(tenant);
  }

  get size(): number {
    return this.#windows.size;
  }

  /** Takes a record that was just stored under an id. */
  take(record: SloRecord, id: string): void {
    this.#meanwhile?.add(id);
    this.#observe(record);
  }

  #observe(record: SloRecord): void {
    const { tenant, environment, serviceId, metricName } = record;
    const key = keyOf(record);
    let window = this.#windows.get(key);
    if (this.#noteOutside(key, record, window)) return;
    if (window === undefined) {
      if (!this.#shares.take(tenant)) {
        this.refused++;
        return;
      }
      window = { tenant, environment, serviceId, metricName, burn: new SloBurn(), objective: null, newestMs: 0 };
      this.#windows.set(key, window);
    }
    window.burn.observeRatio(record.timeMs, record.ratio);
    if (record.timeMs >= window.newestMs) Object.assign(window, { objective: record.objective, newestMs: record.timeMs });
  }

  /** Whether the record's value is no ratio; the newest record of an SLO says what is said about it. */
  #noteOutside(
    key: string,
    { ratio: value, timeMs: atMs, tenant, environment, serviceId, metricName }: SloRecord,
    window?: SloWindow,
  ): boolean {
    const isOutside = !isRatio(value);
    if (!isOutside && !this.#outside.has(tenant)) return false;
    const isNewest = atMs >= Math.max(this.#outside.find(tenant, key)?.atMs ?? 0, window?.newestMs ?? 0);
    if (!isNewest) return isOutside;
    this.#outside.remove(tenant, key);
    if (isOutside && this.#outside.sizeOf(tenant) < SLOS_OUTSIDE_MAX)
      this.#outside.put({ tenant, environment, serviceId, metricName, value, atMs });
    return isOutside;
  }

  #forgetOutside(beforeMs: number): void {
    for (const slo of [...this.#outside.all()]) if (slo.atMs < beforeMs) this.#outside.remove(slo.tenant, keyOf(slo));
  }

  /** Reads what was stored before this process began; what is stored meanwhile is counted once. */
  async restore(store: KeyValueStore, nowMs: number, yieldToLoop: () => Promise<void>): Promise<void> {
    this.#windows.clear();
    this.#shares.clear();
    this.#forgetOutside(Number.POSITIVE_INFINITY);
    this.#meanwhile = new Set();
    let rows = 0;
    for (const tenant of [...scanTenants(store, "slo_records")]) {
      const entries = scan(
        store,
        "slo_records",
        tenantTimeBound(tenant, nowMs - SLO_WINDOW_MS),
        tenantTimeBound(tenant, Number.MAX_SAFE_INTEGER),
      );
      for (const { key, value } of entries) {
        if (!this.#meanwhile.has(idText(key.subarray(key.length - ID_BYTES)))) this.#observe(SLO_RECORD.decode(value));
        if (++rows % ROWS_PER_SLICE === 0) await yieldToLoop();
      }
    }
    this.#meanwhile = undefined;
  }

  /** Lets rows and windows go that are past three days. */
  async forget(store: KeyValueStore, nowMs: number): Promise<void> {
    for (const [key, { tenant, newestMs }] of this.#windows) {
      if (newestMs >= nowMs - SLO_WINDOW_MS) continue;
      this.#windows.delete(key);
      this.#shares.give(tenant);
    }
    this.#forgetOutside(nowMs - SLO_WINDOW_MS);
    for (const tenant of [...scanTenants(store, "slo_records")]) {
      const to = tenantTimeBound(tenant, nowMs - SLO_WINDOW_MS);
      await store.deleteRange("slo_records", tenantTimeBound(tenant, 0), to, ROWS_DELETED_PER_STEP);
    }
  }
}

/** What an SLO is known by. */
function keyOf({ tenant, environment, serviceId, metricName }: Omit<OutsideSlo, "value" | "atMs">): string {
  return JSON.stringify([tenant, environment, serviceId, metricName]);
}
