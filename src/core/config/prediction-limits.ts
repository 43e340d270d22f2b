// Bounds of forecasts, causality and trends.

/** Hours that a forecast reaches ahead. */
export const FORECAST_HOURS_MAX = 168;
export const FORECAST_HOURS_INITIAL = 24;
/** Minutes that predicted anomalies reach ahead. */
export const PREDICT_MINUTES_MAX = 1_440;
export const PREDICT_MINUTES_INITIAL = 30;
/** Hours that trends look back. */
export const DEGRADATION_HOURS_MAX = 720;
export const DEGRADATION_HOURS_INITIAL = 24;
/** Trends of an answer: the worst. */
export const DEGRADATION_TRENDS_MAX = 200;
/** Series that one question for trends reads, at 1 to 5 ms of store each; beyond, the answer says that it is not complete. */
export const DEGRADATION_SERIES_PER_QUERY_MAX = 1_000;
/** Hours that the validation of a cause looks back. */
export const VALIDATION_HOURS_MAX = 168;
/** Metrics of a service that causes are looked for among: 30 x 720 minutes take 30 ms. */
export const CAUSAL_METRICS_PER_SERVICE_MAX = 30;
/** Minutes of history that they are looked for in. */
export const CAUSAL_MINUTES = 720;
/** Fewest steps of history to find a cause in. */
export const CAUSAL_STEPS_MIN = 120;
/** Longest lag of a cause, in steps. */
export const CAUSAL_LAG_MAX = 12;
/** Streams of one metric that are joined to one history. */
export const JOINED_STREAMS_PER_METRIC_MAX = 8;
/** Forecasts of a tenant that are remembered until their time has come, and their score after it: 24 points of 32 bytes and a name, 1 KiB each. */
export const FORECASTS_PER_TENANT_MAX = 1_000;
/** Points of a remembered forecast that are scored. */
export const FORECAST_POINTS_SCORED_MAX = 24;
/** Computations that wait for the thread or run there, of all tenants, those sure for each, and how long one waits; each takes 5 to 300 ms. */
export const COMPUTATIONS_WAITING_MAX = 16;
export const COMPUTATIONS_SHARE = 2;
export const COMPUTATION_WAIT_MS_MAX = 10_000;
/** A computation that takes longer is given up, with its thread. */
export const COMPUTATION_MS_MAX = 10_000;
/** Megabytes of heap of that thread: 30 series of 720 values and the products of their lags take 2. */
export const COMPUTATION_HEAP_MB_MAX = 128;
