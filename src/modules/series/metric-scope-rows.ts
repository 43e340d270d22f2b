// First scopes of metrics as they are stored. Engines bound them (METRIC_SCOPES_MAX); here they are only kept for the next start.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { MetricScopeEnvelope } from "../../core/protocol/coordinator-frame.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { number, StoredForm, text } from "../state/stored-json.ts";

const METRIC_SCOPE = new StoredForm<MetricScopeEnvelope>("metric_scopes", { tenant: text, metric: text, scope: number });

export function storedMetricScopes(store: KeyValueStore): readonly MetricScopeEnvelope[] {
  return [...scan(store, "metric_scopes")].map(({ value }) => METRIC_SCOPE.decode(value));
}

export function metricScopeOperation(scope: MetricScopeEnvelope): StoreOperation {
  const key = new KeyBuilder().text(scope.tenant).text(scope.metric).finish();
  return { table: "metric_scopes", key, value: METRIC_SCOPE.encode(scope) };
}
