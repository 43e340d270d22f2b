// Deployments of the last day, by tenant: what somebody changed before an incident. Stored with the record that reports each, and read at the start.
import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { CHANGES_PER_TENANT_MAX } from "../../../core/config/analysis-limits.ts";
import type { Deployment } from "../../../core/protocol/engine-control.ts";
import type { ChangeEvidence } from "../../../domain/rca/evidence.ts";
import type { RetentionStep } from "../state/retention-step.ts";
import { scanTenants } from "../state/scan.ts";
import { number, StoredForm, text } from "../state/stored-json.ts";
import { tenantTimeBound, tenantTimeKey } from "../state/tables.ts";

const TABLE = "deployments";
const DEPLOYMENT = new StoredForm<Deployment>(TABLE, { tenant: text, serviceId: text, atMs: number });
/** As long as detectors bear one in mind (domain/detection/pair/deployments.ts). */
const KEPT_MS = 25 * 3600 * 1000;

/** The row of a deployment; `id` is that of its record. */
export function deploymentOperation(deployment: Deployment, id: string): StoreOperation {
  return { table: TABLE, key: tenantTimeKey(deployment.tenant, deployment.atMs, id), value: DEPLOYMENT.encode(deployment) };
}

export class ChangeBook {
  readonly #changes = new Map<string, ChangeEvidence[]>();

  /** Reads the newest of the last day of each tenant. */
  load(series: KeyValueStore, nowMs: number): void {
    for (const tenant of [...scanTenants(series, TABLE)]) {
      const range = { from: tenantTimeBound(tenant, nowMs - KEPT_MS), to: tenantTimeBound(tenant, Number.MAX_SAFE_INTEGER) };
      const rows = series.range(TABLE, { ...range, reverse: true, limit: CHANGES_PER_TENANT_MAX });
      this.take(rows.reverse().map(({ value }) => DEPLOYMENT.decode(value)));
    }
  }

  take(deployments: readonly Deployment[]): void {
    for (const { tenant, serviceId, atMs } of deployments) {
      const known = this.#changes.get(tenant) ?? [];
      known.push({ serviceId, atMs, text: "a deployment" });
      this.#changes.set(tenant, known.slice(-CHANGES_PER_TENANT_MAX));
    }
  }

  of(tenant: string): readonly ChangeEvidence[] {
    return this.#changes.get(tenant) ?? [];
  }
}

/** Deletes rows of deployments that nobody bears in mind any more. */
export function* expireDeployments(series: KeyValueStore, nowMs: number, rowsPerStep: number): Generator<RetentionStep> {
  for (const tenant of [...scanTenants(series, TABLE)]) {
    const range = { from: tenantTimeBound(tenant, 0), to: tenantTimeBound(tenant, nowMs - KEPT_MS), limit: rowsPerStep };
    for (;;) {
      const rows = series.range(TABLE, range);
      if (rows.length === 0) break;
      yield { store: series, operations: rows.map(({ key }) => ({ table: TABLE, key, value: undefined })), apply: () => undefined };
    }
  }
}
