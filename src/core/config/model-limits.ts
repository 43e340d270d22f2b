// Bounds of models that are trained on request, each with its reason.

/** Days that a training may look back; what is not kept any more is not there. */
export const TRAINING_WINDOW_DAYS_MAX = 90;
/** Vectors of a requested training, three days of minutes; more are thinned evenly. 64 metrics train in 0.6 s. */
export const REQUESTED_VECTORS_MAX = 4_320;
/** Trainings of all tenants that wait beside the one that runs: at 1 to 10 s each the last one begins within a quarter of an hour. */
export const TRAININGS_WAITING_MAX = 100;
/** Trainings of one tenant, the one that runs included. */
export const TRAININGS_PER_TENANT_MAX = 10;
/** Jobs of a tenant that are kept after their end, the newest; 1 KB each. */
export const TRAINING_JOBS_RETAINED_PER_TENANT_MAX = 100;
/** Shadows of all tenants that are scored: each costs what the model in production does, some 20 us a minute and 60 KB. */
export const SHADOW_MODELS_MAX = 100;
/** Requested models of all tenants that are kept: 60 KB each, and 3 KB a metric of what they saw, 250 MB at most. */
export const MODELS_RETAINED_MAX = 1_000;
/** Models of one service in one environment: production, the one before it, and shadows; the oldest that is neither is deleted. */
export const MODELS_PER_SERVICE_MAX = 5;
/** Vectors of today that drift is looked for in: a day of minutes. */
export const DRIFT_VECTORS_MAX = 1_440;
/** Fewer say nothing. */
export const DRIFT_VECTORS_MIN = 60;
/** Metrics that an answer on drift names, those that moved most first. */
export const DRIFT_METRICS_PER_ANSWER_MAX = 10;
/** Labelled times of a service that a training leaves out and a comparison holds models against. */
export const LABELLED_TIMES_PER_SERVICE_MAX = 200;
/** Counts of shadows are stored this often. */
export const SHADOW_COUNTS_STORED_MS = 10 * 60_000;
/** Share of the coordinator's thread that gathering the samples of a question takes, and its piece in ms. */
export const MODEL_READ_SHARE = 0.5;
export const MODEL_READ_MS = 2;
/** Timeout of a promotion: it compares both models over a week, which takes 1 to 5 s, behind what the thread has to compute already. */
export const PROMOTION_ANSWER_MS_MAX = 60_000;
/**
 * Bytes of the vectors that trainings have kept, of all services: 10,080 vectors of 38 metrics in single precision take 1.6 MB, of 64 2.7, so that 400 to 650 large
 * services, or 3,000 of ten metrics, find room. Those that find none learn from what raw samples give.
 */
export const TRAINING_ROW_BYTES_MAX = 1024 * 1024 * 1024;
/** Bytes of a part of a service's vectors: written and read at once, in less than 1 ms. */
export const TRAINING_ROWS_PART_BYTES = 128 * 1024;
/** Parts of one service: 10,080 vectors of SERVICE_METRICS_MAX have 21. */
export const TRAINING_ROWS_PARTS_MAX = 32;
/** Parts of a commit, 256 KiB: others have their turn between. */
export const TRAINING_ROWS_PARTS_PER_COMMIT = 2;
/** Anomalies of a service's metrics together whose time a training leaves out, the newest. */
export const EXCLUDED_ANOMALIES_PER_TRAINING_MAX = 200;
