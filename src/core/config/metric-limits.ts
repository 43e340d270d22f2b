// Limits of what is known of metrics, besides their values: metadata, and the scopes of OpenTelemetry that send them.
// Limits of what is kept of samples besides what detection needs.

/** Streams of a partition of which values as sent are gathered before they wait in a chunk: 64 x 32 x 16 B x 256 partitions are 8 MB in an engine that owns all. */
export const SENT_RUNS_PER_PARTITION_MAX = 64;

/** Values of one of them: a chunk of 32 costs 2 bytes a value less than one of one. */
export const SENT_RUN_SAMPLES_MAX = 32;

/** Metrics whose type, unit and help are kept, over all tenants: 300 B each in every engine and the coordinator. A large Prometheus has some thousands. */
export const METRIC_METADATA_MAX = 50_000;
/** Metrics of services whose first scope of OpenTelemetry is kept, over all tenants: 16 B in the process and 100 B in the store. 1,000 services of 100 metrics each. */
export const METRIC_SCOPES_MAX = 100_000;
/** Scopes of metrics that an ingest remembers, 200 B each; another is looked up, 2 us. */
export const SCOPES_REMEMBERED_MAX = 8_192;
/** Characters of a metric's help and unit; what is longer is cut. */
export const METADATA_HELP_CHARACTERS_MAX = 1024;
export const METADATA_UNIT_CHARACTERS_MAX = 64;
/** Metadata messages of one body that are looked at, at 1 us; Prometheus sends 500 at a time. */
export const METADATA_PER_BODY_MAX = 10_000;
/** Senders of one metric whose type is kept because it is another than others give it, 100 B each; a tenant has some Prometheus servers. Others count as the first did. */
export const METADATA_SENDERS_MAX = 16;
/** A metric's type is not changed more often: senders that contradict each other would restart its series for ever. */
export const METADATA_TYPE_HOLD_MS = 3600 * 1000;
