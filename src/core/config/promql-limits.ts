// Bounds of PromQL queries, each with its reason: a query is text of anybody who may read, and must end neither the stack nor the memory of its thread.

/** Characters of a regular expression: RE2 compiles such a one in 0.2 s at most. Grafana sends lists of texts, which are none and have no bound. */
export const PROMQL_PATTERN_CHARACTERS_MAX = 10_000;
/** Instructions of a regular expression times characters of a value: 0.7 us each where all are alive at once, so a match takes 0.2 s at most, and usual ones a thousandth. */
export const PROMQL_PATTERN_STEPS_MAX = 250_000;
/** Levels of parentheses, calls and signs: each takes some five frames of the parser and of the evaluator, and the stack has 10,000. Generated queries have 30. */
export const PROMQL_NESTING_MAX = 250;
/** Operators between expressions: the tree of a + b + c ... is as deep as they are many, three frames each. */
export const PROMQL_OPERATORS_MAX = 1_000;
/** Samples that a query may read and make: Prometheus' own default. 50,000,000 of 16 bytes are 800 MB in Prometheus; here one series is in memory at a time. */
export const PROMQL_SAMPLES_MAX = 50_000_000;
/** Bytes of values that a query may have in memory at once: results of its parts, 9 bytes a series and step. */
export const PROMQL_QUERY_BYTES_MAX = 512 * 1024 * 1024;
/** How long a query may take: Prometheus' own default. */
export const PROMQL_QUERY_MS_MAX = 120_000;
/** Steps of a range query: Prometheus' own bound, a point for each pixel of a wide screen several times over. */
export const PROMQL_STEPS_MAX = 11_000;
/** How far back an instant selector looks for a sample, where nothing else is asked: Prometheus' own default. */
export const PROMQL_LOOKBACK_MS = 300_000;
/** Step of a subquery that names none: Prometheus' default evaluation interval. */
export const PROMQL_SUBQUERY_STEP_MS = 60_000;
/** Samples that one line of a file of series may say, such as 0+1x100: a year of 15 s samples is 2,100,000. */
export const PROMQL_LINE_SAMPLES_MAX = 5_000_000;
/** Queries that are there at once, shared by tenants: twenty as in Prometheus, and a hundred that wait for their turn behind them, a dashboard or two of every tenant. */
export const PROMQL_QUERIES_MAX = 120;
/** Of these, what is sure for each tenant: so many panels are asked for at once. */
export const PROMQL_QUERIES_SHARE = 8;
/** Of these, queries that run at once in all workers, as in Prometheus, and what is sure for each tenant; the others wait. */
export const PROMQL_RUNNING_MAX = 20;
export const PROMQL_RUNNING_SHARE = 2;
/** A query has its worker for so long before another of the worker goes on: a short one beside nineteen long ones has its first slice within 0.4 s. */
export const PROMQL_SLICE_MS = 20;
/** Bytes of a form: Grafana's longest expressions have some 20 KB, and a list of series 1,000 selectors. */
export const PROMQL_FORM_BYTES_MAX = 1024 * 1024;
/** Parameters of a call, repeated ones each. */
export const PROMQL_PARAMETERS_MAX = 1_000;
/** A read transaction of a query worker holds the pages that it sees; the file grows by what is written meanwhile, 5 MB at 20 MB a second. */
export const READ_TRANSACTION_MS = 250;
/** Streams of a page, or whose times are asked for: 300 bytes each, 1.2 MB; an engine makes it in 64 slices. */
export const PROMQL_PAGE_STREAMS_MAX = 4_096;
/** Streams whose values are asked for at once, with what of them is in no block, 1 KB each: 1 MB. */
export const PROMQL_PAGE_CHUNKS_MAX = 1_024;
/** Streams that came or went since an index has looked: 2.4 MB of names at most in one answer. Where there are more all streams are read again, which takes hardly longer. */
export const STREAM_CHANGES_MAX = 8_192;
/** Series in the indexes of all tenants of a worker, 120 bytes each and their texts; the index of the tenant that has asked longest ago goes first, that of one alone stays. */
export const PROMQL_INDEXED_SERIES_MAX = 2_000_000;
/** How long a query worker waits for the coordinator: engines have 5 s each, and a page may be asked for behind others of the tenant. */
export const PROMQL_SOURCE_MS_MAX = 30_000;
/** Wait before the first restart of a query worker that ended, and the longest; a run of so long was sound. */
export const PROMQL_RESTART_MS = 100;
export const PROMQL_RESTART_MS_MAX = 10_000;
export const PROMQL_SOUND_MS = 60_000;
/** A query that has not ended so long after its time was over is stuck between two series: its worker is ended. */
export const PROMQL_OVERDUE_MS = 10_000;
/** A stop waits so long for a query that has been told to end; then its thread is ended. */
export const PROMQL_STOP_MS_MAX = 2_000;
/** Of a tenant's and of an engine's streams, the share within which histograms of OTLP get series for queries alone: what is judged always has the rest. */
export const QUERY_ONLY_SHARE = 0.5;
