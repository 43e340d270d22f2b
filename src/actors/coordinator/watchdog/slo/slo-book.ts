/**
 * Good ratios of SLOs, by (tenant, environment, service, metric): three days of minutes each, fed from the records as they are stored and read again at the start
 * from `slo_records`, which holds what windows need of each record. One that nobody sends any more is let go when its window is empty.
 */
import type { KeyValueStore, StoreOperation } from "../../../../adapters/storage/key-value-store.ts";
import { SLO_WINDOWS_MAX } from "../../../../core/config/limits.ts";
import type { RecordEnvelope } from "../../../../core/protocol/coordinator-frame.ts";
import { SloBurn } from "../../../../domain/detection/service/slo-burn.ts";
import type { SloRecord } from "../../../../domain/detection/service/slo-record.ts";
import { scan, scanTenants } from "../../tables/scan.ts";
import { decodeStored, encodeStored } from "../../tables/stored-json.ts";
import { ID_BYTES, idText, tenantTimeBound, tenantTimeKey } from "../../tables/tables.ts";

export interface SloWindow extends Pick<SloRecord, "tenant" | "environment" | "serviceId" | "metricName"> {
  readonly burn: SloBurn;
  objective: number | null;
  newestMs: number;
}

export const SLO_WINDOW_MS = 3 * 24 * 3600 * 1000;
const ROWS_PER_BREATH = 5_000;
const ROWS_DELETED_PER_STEP = 1_000;

/** The part of a record that windows need; undefined where it is no SLO record, or one whose value is no ratio. */
export function sloRecordOf({ tenant, environment, timeMs, record }: RecordEnvelope): SloRecord | undefined {
  const { type, service_id: serviceId, metric_name: metricName, value, attributes } = record;
  if (type !== "slo" || typeof value !== "number" || !(value >= 0 && value <= 1)) return undefined;
  if (typeof serviceId !== "string" || typeof metricName !== "string") return undefined;
  const given = Number((attributes as Record<string, unknown> | undefined)?.objective);
  const objective = given > 0 && given < 1 ? given : null;
  return { tenant, environment, serviceId, metricName, timeMs, ratio: value, objective };
}

/** The row of a record. */
export function sloOperation(record: SloRecord, id: string): StoreOperation {
  return { table: "slo_records", key: tenantTimeKey(record.tenant, record.timeMs, id), value: encodeStored(record) };
}

/** Bounded by SLO_WINDOWS_MAX, at 35 KiB each. */
export class SloBook {
  readonly #windows = new Map<string, SloWindow>();
  /** Ids of what was stored while rows are read; undefined at other times. */
  #meanwhile: Set<string> | undefined;
  refused = 0;

  get windows(): Iterable<SloWindow> {
    return this.#windows.values();
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
    const key = JSON.stringify([tenant, environment, serviceId, metricName]);
    let window = this.#windows.get(key);
    if (window === undefined) {
      if (this.#windows.size >= SLO_WINDOWS_MAX) {
        this.refused++;
        return;
      }
      window = { tenant, environment, serviceId, metricName, burn: new SloBurn(), objective: null, newestMs: 0 };
      this.#windows.set(key, window);
    }
    window.burn.observeRatio(record.timeMs, record.ratio);
    if (record.timeMs >= window.newestMs) Object.assign(window, { objective: record.objective, newestMs: record.timeMs });
  }

  /** Reads what was stored before this process began; what is stored meanwhile is counted once. */
  async restore(store: KeyValueStore, nowMs: number, breathe: () => Promise<void>): Promise<void> {
    this.#windows.clear();
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
        if (!this.#meanwhile.has(idText(key.subarray(key.length - ID_BYTES)))) this.#observe(decodeStored<SloRecord>(value));
        if (++rows % ROWS_PER_BREATH === 0) await breathe();
      }
    }
    this.#meanwhile = undefined;
  }

  /** Lets rows and windows go that are past three days. */
  async forget(store: KeyValueStore, nowMs: number): Promise<void> {
    for (const [key, { newestMs }] of this.#windows) if (newestMs < nowMs - SLO_WINDOW_MS) this.#windows.delete(key);
    for (const tenant of [...scanTenants(store, "slo_records")]) {
      const to = tenantTimeBound(tenant, nowMs - SLO_WINDOW_MS);
      await store.deleteRange("slo_records", tenantTimeBound(tenant, 0), to, ROWS_DELETED_PER_STEP);
    }
  }
}
