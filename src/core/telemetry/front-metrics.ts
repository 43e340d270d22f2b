// Metrics that the front counts itself or makes of what others count, and those of the whole process besides the library's own.
import { counter, gauge, histogram, type Metric } from "./metric.ts";

/** Metrics with one value, which the front reads where it is kept. */
export const FRONT_METRICS = {
  residentBytes: gauge("vedette_resident_bytes", "Resident memory of the process"),
  uptimeSeconds: gauge("vedette_uptime_seconds", "Seconds since the start"),
  openConnections: gauge("vedette_open_connections", "Open HTTP connections"),
  certificateExpiry: gauge(
    "vedette_tls_certificate_expiry_timestamp_seconds",
    "Seconds since 1970 at which the certificate of TLS_CERT_FILE ends",
  ),
  eventStreams: gauge("vedette_event_streams", "Open event streams"),
  queriesWaiting: gauge("vedette_queries_waiting", "Queries waiting for the coordinator"),
  promqlRunning: gauge("vedette_promql_running", "Calls of Prometheus' API that query workers answer now"),
  promqlQueued: gauge("vedette_promql_queued", "Calls of Prometheus' API that wait until fewer run"),
  promqlAnswered: counter("vedette_promql_answered_total", "Calls of Prometheus' API that were answered, however they ended"),
  promqlRefused: counter("vedette_promql_refused_total", "Calls of Prometheus' API answered 503 because too many were there"),
  promqlSeconds: counter("vedette_promql_seconds_total", "Seconds that query workers have worked on calls of Prometheus' API"),
  promqlSamples: counter("vedette_promql_samples_total", "Samples that queries of PromQL have read, and that their subqueries have made"),
  credentialsCached: gauge("vedette_credentials_cached", "Credentials remembered as genuine"),
  authenticationsWaiting: gauge("vedette_authentications_waiting", "Requests that wait for the check of a token"),
  jwksKeys: gauge("vedette_jwks_keys", "Keys of the identity provider in force"),
  jwksFailing: gauge("vedette_jwks_failing", "1 while the identity provider's keys could not be read the last time"),
  tenants: gauge("vedette_tenants", "Tenants"),
  heartbeatLastSuccess: gauge("vedette_heartbeat_last_success_timestamp_seconds", "Last heartbeat that was answered, 0 for none"),
  refusalsWaiting: gauge("vedette_refusals_waiting", "Requests beyond a rate that are still to be answered so"),
  refusalsPaced: gauge("vedette_refusals_paced", "Of these, requests of tenants that are refused more than they are allowed"),
  bodiesInflating: gauge("vedette_bodies_inflating", "Bodies being inflated"),
  credentialsRefused: counter("vedette_credentials_refused_total", "Requests whose credential was wrong"),
  heartbeats: counter("vedette_heartbeats_total", "Pings of the dead-man's switch"),
  heartbeatFailures: counter("vedette_heartbeat_failures_total", "Pings of the dead-man's switch that were not answered with success"),
  overloaded: counter("vedette_overloaded_total", "Write requests answered 503 because queues were full"),
  eventStreamMissed: counter("vedette_event_stream_missed_total", "Events that slow readers of the stream missed"),
} satisfies Readonly<Record<string, Metric>>;

export type FrontMetric = keyof typeof FRONT_METRICS;

/** The contract's metrics that no single slot holds; svc_dlq_depth is the coordinator's. */
export const CONTRACT_METRICS = {
  events: counter("svc_ingestion_events_total", "Telemetry records by type and outcome", ["type", "status"]),
  batchSize: histogram("svc_ingestion_batch_size", "Records per request"),
  validationFailures: counter("svc_validation_failures_total", "Records refused, and bodies refused as a whole, by reason", ["reason"]),
  requestSeconds: histogram("svc_http_request_duration_seconds", "Requests from headers read to answer given, by path", ["endpoint"]),
  detectionLatency: histogram("svc_detection_latency_seconds", "From the arrival of the bytes to the stored anomaly"),
} satisfies Readonly<Record<string, Metric>>;

/** Further histograms. */
export const HISTOGRAMS = {
  notifyLatency: histogram(
    "vedette_notify_latency_seconds",
    "From the decision on a message to the first byte of the attempt that arrived",
  ),
  detectionStage: histogram(
    "vedette_detection_stage_seconds",
    "From the arrival of the bytes of an anomaly until each stage of its detection was over",
    ["stage"],
  ),
  coordinatorTurn: histogram(
    "vedette_coordinator_turn_seconds",
    "Turns of the coordinator's thread in which queries or changes worked: others wait for so long",
  ),
} satisfies Readonly<Record<string, Metric>>;

/** Further metrics with labels. */
export const LABELLED_METRICS = {
  buildInfo: gauge("vedette_build_info", "1; the version of the server and of what it runs on are the labels", ["version", "node_version"]),
  ringFill: gauge("vedette_body_ring_fill_ratio", "Fill of an engine's body ring", ["engine"]),
  bodiesWaiting: gauge("vedette_bodies_waiting", "Bodies waiting for their answer", ["engine"]),
  storeFill: gauge("vedette_store_map_fill_ratio", "Used share of a store's map", ["store"]),
  rateLimited: counter(
    "vedette_rate_limited_total",
    "Requests answered 429, by the plan that allows no more, or key: the rate of their API key",
    ["by"],
  ),
  sharesRefused: counter(
    "vedette_shared_places_refused_total",
    "Places of a limit that all tenants share that a tenant was refused, each as often as it was asked for",
    ["limit"],
  ),
  sharedPlaces: gauge("vedette_shared_places", "Places in use of a limit that all tenants share in the coordinator or the front", [
    "limit",
  ]),
  sharedPlacesMax: gauge("vedette_shared_places_max", "Places of a limit that all tenants share in the coordinator or the front", [
    "limit",
  ]),
  faults: counter(
    "vedette_faults_total",
    "Throws that a guard has answered, by what they cost: the request, the connection, a turn of a task, a child process and its job, a thread that is started again",
    ["where"],
  ),
  logLines: counter("vedette_process_log_lines_total", "Lines that the server wrote to its own log", ["level"]),
  logLinesDropped: counter(
    "vedette_process_log_lines_dropped_total",
    "Lines of the server's own log that were left out: too many in a second, or the output took none",
    ["reason"],
  ),
} satisfies Readonly<Record<string, Metric>>;
