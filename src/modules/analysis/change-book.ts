// Changes of the last day, by tenant: deployments, configurations, flags, which somebody changed before an incident. Stored with the record that reports each, and read
// at the start.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { CHANGES_PER_TENANT_MAX } from "../../core/config/analysis-limits.ts";
import type { ServiceChange } from "../../domain/anomaly/change-event.ts";
import type { ChangeEvidence } from "../../domain/rca/evidence.ts";
import type { RetentionStep } from "../state/retention-step.ts";
import { scanTenants } from "../state/scan.ts";
import { number, optional, StoredForm, text } from "../state/stored-json.ts";
import { tenantTimeBound, tenantTimeKey } from "../state/tables.ts";

const TABLE = "deployments";
const CHANGE = new StoredForm<ServiceChange>(TABLE, {
  tenant: text,
  serviceId: text,
  atMs: number,
  environment: optional(text),
  what: optional(text),
});
/** As long as detectors bear one in mind (domain/detection/pair/deployments.ts). */
const RETAINED_MS = 25 * 3600 * 1000;

/** The row of a change; `id` is that of its record. */
export function changeOperation(change: ServiceChange, id: string): StoreOperation {
  return { table: TABLE, key: tenantTimeKey(change.tenant, change.atMs, id), value: CHANGE.encode(change) };
}

export class ChangeBook {
  readonly #changes = new Map<string, ServiceChange[]>();

  /** Reads the newest of the last day of each tenant. */
  load(series: KeyValueStore, nowMs: number): void {
    for (const tenant of [...scanTenants(series, TABLE)]) {
      const range = { from: tenantTimeBound(tenant, nowMs - RETAINED_MS), to: tenantTimeBound(tenant, Number.MAX_SAFE_INTEGER) };
      const rows = series.range(TABLE, { ...range, reverse: true, limit: CHANGES_PER_TENANT_MAX });
      this.take(rows.reverse().map(({ value }) => CHANGE.decode(value)));
    }
  }

  take(changes: readonly ServiceChange[]): void {
    for (const change of changes) {
      const known = this.#changes.get(change.tenant) ?? [];
      known.push(change);
      this.#changes.set(change.tenant, known.slice(-CHANGES_PER_TENANT_MAX));
    }
  }

  /** Changes in an environment, and those of which none was told. */
  of(tenant: string, environment: string): ChangeEvidence[] {
    const known = (this.#changes.get(tenant) ?? []).filter(
      (change) => change.environment === undefined || change.environment === environment,
    );
    return known.map(({ serviceId, atMs, what }) => ({ serviceId, atMs, text: what ?? "a deployment" }));
  }
}

/** Deletes rows of changes that nobody bears in mind any more. */
export function* expireChanges(series: KeyValueStore, nowMs: number, rowsPerStep: number): Generator<RetentionStep> {
  for (const tenant of [...scanTenants(series, TABLE)]) {
    const range = { from: tenantTimeBound(tenant, 0), to: tenantTimeBound(tenant, nowMs - RETAINED_MS), limit: rowsPerStep };
    for (;;) {
      const rows = series.range(TABLE, range);
      if (rows.length === 0) break;
      yield { store: series, operations: rows.map(({ key }) => ({ table: TABLE, key, value: undefined })), apply: () => undefined };
    }
  }
}
