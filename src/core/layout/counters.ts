// Counters that an engine or the coordinator writes and the front renders: f64 slots, one writer each. A slot is an aligned 8-byte store,
// which the processors we run on never tear; a reader that did see a torn one would show it for one scrape.
// Also the fixed bucket bounds of every histogram, so that a histogram is a run of slots: one per bound, then +Inf, sum, count.
import { COORDINATOR_METRICS } from "../telemetry/coordinator-metrics.ts";
import { ENGINE_METRICS } from "../telemetry/engine-metrics.ts";

export type EngineCounter = keyof typeof ENGINE_METRICS;
export type CoordinatorCounter = keyof typeof COORDINATOR_METRICS;

/** Names of engine slots, in order. */
export const ENGINE_COUNTERS = Object.keys(ENGINE_METRICS) as readonly EngineCounter[];
/** Names of coordinator slots, in order. */
export const COORDINATOR_COUNTERS = Object.keys(COORDINATOR_METRICS) as readonly CoordinatorCounter[];

/** Limits that all tenants share (core/config/shared-limits.ts), by the thread that counts their places: refusals of each are a counter. */
export const ENGINE_SHARED_LIMITS = [
  "span_services",
  "span_cells",
  "span_ids",
  "log_services",
  "log_cells",
  "log_ids",
  "call_services",
  "histograms",
  "histogram_bytes",
  "bucket_families",
  "metric_metadata",
  "metric_scopes",
  "call_edges",
  "timed_operations",
  "long_baselines",
  "monitored_services",
  "bounded_series",
  "arrival_services",
] as const;
export const COORDINATOR_SHARED_LIMITS = [
  "stored_metadata",
  "slo_windows",
  "pillar_values",
  "opinion_services",
  "silences",
  "retired_services",
  "inhibitions",
  "labels",
  "label_bytes",
  "saturation_limits",
  "watchdog_places",
  "mapped_services",
  "services_waiting",
  "queries_running",
  "backtests_waiting",
  "routing_rules",
  "messages_handed",
  "webhooks",
  "webhook_events_waiting",
  "webhook_events_handed",
  "page_budgets",
  "runbooks",
  "runbook_runs",
  "rules",
  "running_incidents",
  "training_jobs",
  "requested_models",
  "shadow_models",
  "training_row_bytes",
  "computations_waiting",
  "evidence_questions",
  "outbound_calls",
  "runbook_requests",
] as const;
export const FRONT_SHARED_LIMITS = ["event_streams", "queries_waiting", "promql_queries", "body_bytes"] as const;
export type EngineSharedLimit = (typeof ENGINE_SHARED_LIMITS)[number];
export type CoordinatorSharedLimit = (typeof COORDINATOR_SHARED_LIMITS)[number];
export type FrontSharedLimit = (typeof FRONT_SHARED_LIMITS)[number];

/** Upper bounds in seconds of the latency histograms. */
export const LATENCY_BOUNDS_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.15, 0.25, 0.5, 1, 2.5, 5, 10] as const;

/** Slots of such a histogram: one a bound, +Inf, sum and count. */
export const LATENCY_SLOTS = LATENCY_BOUNDS_SECONDS.length + 3;

/** Observes a duration in the latency histogram that begins at a slot. */
export function observeLatency(slots: Float64Array, histogram: number, seconds: number): void {
  const bounds = LATENCY_BOUNDS_SECONDS.length;
  const found = LATENCY_BOUNDS_SECONDS.findIndex((bound) => seconds <= bound);
  const bucket = histogram + (found < 0 ? bounds : found);
  const sum = histogram + bounds + 1;
  slots[bucket] = (slots[bucket] as number) + 1;
  slots[sum] = (slots[sum] as number) + seconds;
  slots[sum + 1] = (slots[sum + 1] as number) + 1;
}

/** Stages of a detection whose ends an engine sees; then the coordinator commits it, and the front streams it. */
export const ENGINE_STAGES = ["received", "decoded", "judged", "framed"] as const;
export type EngineStage = (typeof ENGINE_STAGES)[number];

/** Record types of the contract, in order; a counter per type and outcome follows the engine's plain counters. */
export const RECORD_TYPES = ["metric", "log", "trace", "event", "profile", "slo"] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

/** Reasons for which one record or sample is refused. */
export const VALIDATION_REASONS = [
  "invalid_value",
  "timestamp_too_old",
  "missing_service_id",
  "missing_metric_name",
  "missing_value",
  "missing_body",
  "missing_timestamp",
  "invalid_timestamp",
  "timestamp_in_future",
  "invalid_type",
  "invalid_attributes",
  "field_too_long",
  "series_limit_exceeded",
  "invalid_record",
  "invalid_json",
  "invalid_protobuf",
  "batch_too_large",
  "payload_too_large",
] as const;
export type ValidationReason = (typeof VALIDATION_REASONS)[number];

/** Upper bounds of svc_ingestion_batch_size, records. */
export const BATCH_BOUNDS = [1, 10, 100, 500, 1000, 2000, 5000, 10000] as const;

/** Slots of one engine: counters, accepted by type, rejected by type, rejected by reason, batch histogram, refusals by shared limit, histograms of stages. */
export const SLOT_ACCEPTED = ENGINE_COUNTERS.length;
export const SLOT_REJECTED = SLOT_ACCEPTED + RECORD_TYPES.length;
export const SLOT_REASONS = SLOT_REJECTED + RECORD_TYPES.length;
export const SLOT_BATCH = SLOT_REASONS + VALIDATION_REASONS.length;
export const SLOT_ENGINE_SHARES = SLOT_BATCH + BATCH_BOUNDS.length + 3;
export const SLOT_STAGES = SLOT_ENGINE_SHARES + ENGINE_SHARED_LIMITS.length;
export const ENGINE_SLOTS = SLOT_STAGES + ENGINE_STAGES.length * LATENCY_SLOTS;

/** Slots of the coordinator: counters, detection latency histogram, refusals by shared limit, histogram of what people are told, of turns, shared places in use. */
export const SLOT_LATENCY = COORDINATOR_COUNTERS.length;
export const SLOT_COORDINATOR_SHARES = SLOT_LATENCY + LATENCY_SLOTS;
export const SLOT_NOTIFY_LATENCY = SLOT_COORDINATOR_SHARES + COORDINATOR_SHARED_LIMITS.length;
export const SLOT_TURN = SLOT_NOTIFY_LATENCY + LATENCY_SLOTS;
export const SLOT_COORDINATOR_PLACES = SLOT_TURN + LATENCY_SLOTS;
export const COORDINATOR_SLOTS = SLOT_COORDINATOR_PLACES + COORDINATOR_SHARED_LIMITS.length;
