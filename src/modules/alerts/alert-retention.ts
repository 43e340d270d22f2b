// Retention of alerts, of the ledger and of opinions. An alert goes when nothing has happened to it for as long as anomalies are kept: then its anomalies are gone.
import { LEDGER_ROWS_MAX } from "../../core/config/limits.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { RetentionStep } from "../state/retention-step.ts";
import type { StateWith } from "../state/stored-state.ts";
import { tenantTimeBound, tenantTimeKey } from "../state/tables.ts";
import type { AlertBooks } from "./alerts-context.ts";

export interface AlertExpiry {
  readonly state: StateWith<AlertBooks>;
  readonly counters: CoordinatorCounters;
}

export function* expireAlerts({ state, counters }: AlertExpiry, beforeMs: number, rowsPerStep: number): Generator<RetentionStep> {
  const { alerts, control } = state;
  for (const tenant of [...alerts.tenants]) {
    for (;;) {
      const entries = alerts.index(tenant).untouchedSince(beforeMs, rowsPerStep);
      if (entries.length === 0) break;
      const operations = entries.flatMap(({ createdAtMs, id }) => [
        { table: "alerts", key: tenantTimeKey(tenant, createdAtMs, id), value: undefined },
        ...alerts.timeline.removal(tenant, id),
        ...(alerts.follower?.removal(tenant, id) ?? []),
      ]);
      const apply = () => {
        for (const { id } of entries) alerts.remove(tenant, id);
        counters.add("alertsExpired", entries.length);
        counters.set("alertsFiring", alerts.firingCount);
      };
      yield { store: control, operations, apply };
    }
  }
}

/** By age, and the oldest of a tenant beyond LEDGER_ROWS_MAX whatever their age. */
export function* expireLedger({ state, counters }: AlertExpiry, beforeMs: number, rowsPerStep: number): Generator<RetentionStep> {
  const { series } = state;
  const { counts } = state.alerts.ledger;
  for (const tenant of [...counts.tenants]) {
    for (;;) {
      const excess = counts.sizeOf(tenant) - LEDGER_ROWS_MAX;
      const to = tenantTimeBound(tenant, excess > 0 ? Number.POSITIVE_INFINITY : beforeMs);
      const limit = excess > 0 ? Math.min(excess, rowsPerStep) : rowsPerStep;
      const entries = series.range("ledger", { from: tenantTimeBound(tenant, Number.NEGATIVE_INFINITY), to, limit });
      if (entries.length === 0) break;
      const rows = entries.map(({ key }) => ({ table: "ledger", key, value: undefined }));
      const apply = () => {
        counts.add(tenant, -entries.length);
        counters.add("ledgerRowsDropped", entries.length);
        counters.set("ledgerRows", counts.size);
      };
      yield { store: series, operations: [...rows, counts.operation(tenant, -entries.length)], apply };
    }
  }
}

/** Opinions that have all worn off. */
export function* expireOpinions({ state }: AlertExpiry, nowMs: number, rowsPerStep: number): Generator<RetentionStep> {
  const { feedback } = state.alerts;
  for (;;) {
    const worn = feedback.wornOff(nowMs, rowsPerStep);
    if (worn.length === 0) return;
    const apply = () => {
      for (const { tenant, serviceId } of worn) feedback.remove(tenant, serviceId);
    };
    yield { store: state.control, operations: worn.map((service) => feedback.removal(service)), apply };
  }
}
