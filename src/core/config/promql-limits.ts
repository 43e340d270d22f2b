// Bounds of PromQL queries, each with its reason: a query is text of anybody who may read, and must end neither the stack nor the memory of its thread.

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
