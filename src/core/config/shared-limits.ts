// Limits whose places all tenants share, by the thread that counts them. Each is kept by a ledger (core/fairness/share-ledger.ts), so that no tenant keeps others out;
// a limit of one request or of one tenant is none of these, nor is a memory that forgets the oldest. scripts/check-limits.mjs finds a maximum that is neither
// here nor declared as of another kind.

import type { SharedLimit } from "../fairness/share-ledger.ts";
import type { CoordinatorSharedLimit, EngineSharedLimit, FrontSharedLimit } from "../layout/counters.ts";
import { RETIRED_SERVICES_MAX } from "./alert-limits.ts";
import { EVIDENCE_QUESTIONS_MAX, EVIDENCE_QUESTIONS_SHARE, RUNNING_INCIDENTS_MAX, TIMED_OPERATIONS_MAX } from "./analysis-limits.ts";
import { BACKTESTS_WAITING_MAX } from "./backtest-limits.ts";
import { BODY_BYTES_ARRIVING_MAX, BODY_BYTES_ARRIVING_SHARE } from "./body-limits.ts";
import { LABEL_BYTES_MAX, LABELS_MAX, SATURATION_LIMITS_MAX, SERVICE_MAP_ENTRIES_TOTAL_MAX } from "./declaration-limits.ts";
import {
  AGGREGATE_CELLS_MAX,
  AGGREGATED_SERVICES_MAX,
  ARRIVAL_SERVICES_MAX,
  BUCKET_FAMILIES_MAX,
  DISTRIBUTION_BYTES_MAX,
  DISTRIBUTIONS_MAX,
  EVENT_STREAMS_MAX,
  INHIBITIONS_MAX,
  JOIN_SERVICES_MAX,
  OPINION_SERVICES_MAX,
  PARTITION_CALLS_MAX,
  PILLAR_VALUES_MAX,
  QUERIES_WAITING_MAX,
  SATURATION_SERIES_MAX,
  SERVICES_WAITING_MAX,
  SILENCES_MAX,
  SLO_WINDOWS_MAX,
  WATCHDOG_PLACES_MAX,
  WINDOW_IDS_MAX,
} from "./limits.ts";
import { METRIC_METADATA_MAX, METRIC_SCOPES_MAX } from "./metric-limits.ts";
import { MODELS_RETAINED_MAX, SHADOW_MODELS_MAX, TRAINING_ROW_BYTES_MAX, TRAININGS_WAITING_MAX } from "./model-limits.ts";
import {
  MESSAGES_HANDED_MAX,
  OUTBOUND_CALLS_MAX,
  OUTBOUND_CALLS_SHARE,
  PAGE_BUDGETS_TOTAL_MAX,
  ROUTING_RULES_TOTAL_MAX,
} from "./notification-limits.ts";
import { COMPUTATIONS_SHARE, COMPUTATIONS_WAITING_MAX } from "./prediction-limits.ts";
import { PROMQL_QUERIES_MAX, PROMQL_QUERIES_SHARE } from "./promql-limits.ts";
import { RULES_MAX } from "./rule-limits.ts";
import { RUNBOOK_REQUESTS_MAX, RUNBOOK_REQUESTS_PER_TENANT_MAX, RUNBOOK_RUNS_OPEN_MAX, RUNBOOKS_TOTAL_MAX } from "./runbook-limits.ts";
import { WEBHOOK_EVENTS_HANDED_MAX, WEBHOOK_EVENTS_WAITING_MAX, WEBHOOKS_TOTAL_MAX } from "./webhook-limits.ts";

/** WATCHDOG_PAIRS_MAX where it is not given. */
export const PAIRS_MAX_INITIAL = 200_000;

/** Rows on tenants that were refused, in the answer of one thread and in one status. */
export const SHARE_REFUSALS_REPORTED_MAX = 100;

/** Limits of each engine; those that are of the whole server are divided by its engines, scopes of metrics are of the whole process, as long baselines are, WATCHDOG_PAIRS_MAX of them, edges of calls those of each partition of traces. */
export function engineSharedLimits(engines: number, pairsMax: number, servicesMax: number): Readonly<Record<EngineSharedLimit, number>> {
  return {
    span_services: AGGREGATED_SERVICES_MAX,
    span_cells: AGGREGATE_CELLS_MAX,
    span_ids: WINDOW_IDS_MAX,
    log_services: AGGREGATED_SERVICES_MAX,
    log_cells: AGGREGATE_CELLS_MAX,
    log_ids: WINDOW_IDS_MAX,
    call_services: JOIN_SERVICES_MAX,
    histograms: DISTRIBUTIONS_MAX,
    histogram_bytes: DISTRIBUTION_BYTES_MAX,
    bucket_families: BUCKET_FAMILIES_MAX,
    metric_metadata: METRIC_METADATA_MAX,
    metric_scopes: METRIC_SCOPES_MAX,
    call_edges: PARTITION_CALLS_MAX,
    timed_operations: TIMED_OPERATIONS_MAX,
    long_baselines: pairsMax,
    monitored_services: Math.ceil(servicesMax / engines),
    bounded_series: Math.ceil(SATURATION_SERIES_MAX / engines),
    arrival_services: Math.ceil(ARRIVAL_SERVICES_MAX / engines),
  };
}

/** Limits of the coordinator. */
export const COORDINATOR_LIMITS: Readonly<Record<CoordinatorSharedLimit, number | SharedLimit>> = {
  stored_metadata: METRIC_METADATA_MAX,
  slo_windows: SLO_WINDOWS_MAX,
  pillar_values: PILLAR_VALUES_MAX,
  opinion_services: OPINION_SERVICES_MAX,
  silences: SILENCES_MAX,
  retired_services: RETIRED_SERVICES_MAX,
  inhibitions: INHIBITIONS_MAX,
  labels: LABELS_MAX,
  label_bytes: LABEL_BYTES_MAX,
  saturation_limits: SATURATION_LIMITS_MAX,
  watchdog_places: WATCHDOG_PLACES_MAX,
  mapped_services: SERVICE_MAP_ENTRIES_TOTAL_MAX,
  services_waiting: SERVICES_WAITING_MAX,
  queries_running: QUERIES_WAITING_MAX,
  backtests_waiting: BACKTESTS_WAITING_MAX,
  routing_rules: ROUTING_RULES_TOTAL_MAX,
  messages_handed: MESSAGES_HANDED_MAX,
  webhooks: WEBHOOKS_TOTAL_MAX,
  webhook_events_waiting: WEBHOOK_EVENTS_WAITING_MAX,
  webhook_events_handed: WEBHOOK_EVENTS_HANDED_MAX,
  page_budgets: PAGE_BUDGETS_TOTAL_MAX,
  runbooks: RUNBOOKS_TOTAL_MAX,
  runbook_runs: RUNBOOK_RUNS_OPEN_MAX,
  rules: RULES_MAX,
  running_incidents: RUNNING_INCIDENTS_MAX,
  training_jobs: TRAININGS_WAITING_MAX + 1,
  requested_models: MODELS_RETAINED_MAX,
  shadow_models: SHADOW_MODELS_MAX,
  training_row_bytes: TRAINING_ROW_BYTES_MAX,
  computations_waiting: { most: COMPUTATIONS_WAITING_MAX, share: COMPUTATIONS_SHARE },
  evidence_questions: { most: EVIDENCE_QUESTIONS_MAX, share: EVIDENCE_QUESTIONS_SHARE },
  outbound_calls: { most: OUTBOUND_CALLS_MAX, share: OUTBOUND_CALLS_SHARE },
  runbook_requests: { most: RUNBOOK_REQUESTS_MAX, share: RUNBOOK_REQUESTS_PER_TENANT_MAX },
};

/** Limits of the front. */
export const FRONT_LIMITS: Readonly<Record<FrontSharedLimit, number | SharedLimit>> = {
  event_streams: EVENT_STREAMS_MAX,
  queries_waiting: QUERIES_WAITING_MAX,
  promql_queries: { most: PROMQL_QUERIES_MAX, share: PROMQL_QUERIES_SHARE },
  body_bytes: { most: BODY_BYTES_ARRIVING_MAX, share: BODY_BYTES_ARRIVING_SHARE },
};
