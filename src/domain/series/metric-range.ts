// What values a metric can have at all, as its name, its unit and its kind say: no duration, count or size is below 0, no percentage above 100. Names are read by
// whole words; a name of a quantity that has a sign (offset, delta, temperature) says nothing.
import { nameTerms } from "./metric-family.ts";

/** Both inclusive; infinite where nothing is said. */
export interface MetricRange {
  readonly least: number;
  readonly most: number;
}

/** Description of a series: its names. `unit` is the unit that its sender reports, null where it does not. */
export interface MetricDescription {
  readonly metricName: string;
  readonly unit: string | null;
  readonly isCounter: boolean;
}

const ANY: MetricRange = { least: Number.NEGATIVE_INFINITY, most: Number.POSITIVE_INFINITY };

const SIGNED = terms(
  "offset drift skew delta diff difference change derivative deviation budget balance net temperature temp celsius fahrenheit degrees " +
    "gain margin profit pnl return returns growth trend slope correlation latitude longitude altitude position angle voltage acceleration residual bias score " +
    "zscore db dbm",
);
const DURATIONS = terms(
  "duration durations latency latencies elapsed time times seconds second secs sec milliseconds millis ms microseconds micros us nanoseconds nanos ns " +
    "minutes hours age uptime wait lag delay p50 p75 p90 p95 p99 p999",
);
const SIZES = terms("bytes byte kilobytes megabytes gigabytes kb mb gb tb kib mib gib tib bits size length");
const COUNTS = terms(
  "count counts total requests request calls queries jobs messages events packets errors failures failed hits misses retries restarts connections sessions " +
    "threads users visitors orders sales sold items stock inventory revenue price cost turnover queue depth open active pending rps qps throughput",
);
const SHARES = terms(
  "percent pct percentage ratio fraction share utilization utilisation usage used free available availability humidity progress",
);
const PERCENT = terms("percent pct percentage humidity");
const RATIO = terms("ratio fraction");
/** Units that report a quantity without a sign: time, information, shares. UCUM's braces annotate what is counted. */
const UNSIGNED_UNIT = /^(?:n?s|us|ms|min|h|d|seconds?|milliseconds?|bytes?|by|[kmgt]i?by|bits?|%|percent|\{.*\})(?:\/.*)?$/i;
/** Units of quantities with a sign: temperatures, levels. */
const SIGNED_UNIT = /^(?:cel|°?c|°?f|deg[cf]?|celsius|fahrenheit|dbm?|v|a|m\/s2?)$/i;
const PERCENT_UNIT = /^(?:%|percent)$/i;

/** Range of such a metric's values. */
export function rangeOfMetric({ metricName, unit, isCounter }: MetricDescription): MetricRange {
  const of = nameTerms(metricName);
  const isUnsigned = [DURATIONS, SIZES, COUNTS, SHARES].some((family) => has(of, family)) || (unit !== null && UNSIGNED_UNIT.test(unit));
  // A counter's values are what was added.
  if (isCounter) return { least: 0, most: Number.POSITIVE_INFINITY };
  if (!isUnsigned || has(of, SIGNED)) return ANY;
  if (has(of, PERCENT) || (unit !== null && PERCENT_UNIT.test(unit))) return { least: 0, most: 100 };
  return { least: 0, most: has(of, RATIO) ? 1 : Number.POSITIVE_INFINITY };
}

/** Ends that quantities have by nature. */
const NATURAL_ENDS = [1, 100] as const;
/** So many values exactly at such an end, and none beyond, show that it is one. */
const AT_END_MIN = 3;
/** What lies beyond the end of a percentage by this share of it is rounded. */
const ROUNDING = 0.01;

/**
 * The range of such a metric as its values show it too: what was never negative, and has no sign by its name or unit, is not so in the future; what stops at 1 or at
 * 100 again and again goes no further.
 */
export function rangeShown(metric: MetricDescription, values: Float64Array): MetricRange {
  const named = rangeOfMetric(metric);
  const { least, most } = rangeOver({ least: named.least, most: named.most * (1 + ROUNDING) }, values);
  const hasSign = has(nameTerms(metric.metricName), SIGNED) || (metric.unit !== null && SIGNED_UNIT.test(metric.unit));
  if (values.length === 0 || hasSign || values.some((value) => value < 0)) return rangeOver(named, values);
  const end = NATURAL_ENDS.find(
    (one) => values.every((value) => value <= one) && values.filter((value) => value === one).length >= AT_END_MIN,
  );
  const largest = values.reduce((most, value) => Math.max(most, value), 0);
  const bounded = Number.isFinite(most) ? Math.max(named.most, largest) : most;
  return { least: Math.max(0, least), most: Math.min(bounded, end ?? Number.POSITIVE_INFINITY) };
}

/** The range without the ends that the values themselves pass: a processor of four at 240 %, a ratio of compression. */
export function rangeOver({ least, most }: MetricRange, values: Float64Array): MetricRange {
  let [low, high] = [least, most];
  for (const value of values) {
    if (value < low) low = Number.NEGATIVE_INFINITY;
    if (value > high) high = Number.POSITIVE_INFINITY;
  }
  return { least: low, most: high };
}

function has(of: readonly string[], family: ReadonlySet<string>): boolean {
  return of.some((word) => family.has(word));
}

function terms(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
