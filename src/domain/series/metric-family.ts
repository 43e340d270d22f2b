// Which family a metric belongs to, by the words of its name: rate, errors, latency, saturation (the four golden signals of the SRE book, the four
// coordinates of a service's embedding). Names come from Prometheus, OpenTelemetry, StatsD and this server's own derived series.

import { BoundedMap } from "../../core/collections/bounded-map.ts";

/** In the order of the coordinates of an embedding. */
export const FAMILIES = ["rate", "errors", "latency", "saturation"] as const;

/** `other`: the name says nothing; its increases are a rate where it counts. `none`: no behaviour, such as a start time or a bucket. */
export type MetricFamily = (typeof FAMILIES)[number] | "other" | "none";

/** The first rule with a word of the name decides; words of several parts stand as they do in a name, with one "_". */
const RULES: ReadonlyArray<readonly [MetricFamily, string]> = [
  ["none", "bucket info created build version up uptime start_time boot_time birth timestamp last_seen time_since sum"],
  [
    "errors",
    "error errors err errs fail fails failed failure failures exception exceptions fault faults panic panics crash crashes oom 5xx 4xx dropped drops drop " +
      "rejected rejections timeout timeouts timed_out aborted aborts retries retry refused unavailable restarts success_rate success_ratio availability dead_letters",
  ],
  ["latency", "latency latencies duration durations elapsed wait waits pause pauses delay rtt ttfb response_time round_trip iowait_time"],
  [
    "saturation",
    "cpu memory mem ram swap heap rss disk filesystem inode inodes util utilization utilisation usage used percent pct saturation load load1 load5 load15 " +
      "queue queued queue_length backlog pending inflight in_flight active pool connections conns sessions threads goroutines fds open_fds free available " +
      "remaining headroom quota idle throttled lag depth occupancy capacity fill full",
  ],
  ["rate", "count hits misses rate rps qps tps ops throughput"],
  ["latency", "seconds second secs milliseconds millis ms microseconds micros us nanoseconds nanos ns time p50 p90 p95 p99 p999 quantile"],
  [
    "rate",
    "request requests req reqs call calls queries query transactions txn messages records events packets bytes reads writes commits operations operation orders " +
      "logins clicks visits spans logs samples total",
  ],
];

const PATTERNS = RULES.map(([family, text]): readonly [MetricFamily, RegExp] => [family, new RegExp(`_(?:${text.split(" ").join("|")})_`)]);

/** Families by name: many streams have the same few names. */
const FAMILIES_KNOWN_MAX = 4_096;
const families = new BoundedMap<string, MetricFamily>(FAMILIES_KNOWN_MAX);

/** The family of a metric by its name alone. */
export function familyOfMetric(metricName: string): MetricFamily {
  const known = families.get(metricName);
  if (known !== undefined) return known;
  const family = judgedFamily(metricName);
  families.set(metricName, family);
  return family;
}

function judgedFamily(metricName: string): MetricFamily {
  const text = `_${metricName
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .toLowerCase()}_`;
  // A histogram's count tells how much went through, whatever is measured.
  if (/_count_$/.test(text) && !/_(?:error|errors|failed|failures)_/.test(text)) return "rate";
  for (const [family, rule] of PATTERNS) if (rule.test(text)) return family;
  return "other";
}

/** Words of a metric name in lower case: at separators, and where lower case turns to upper. */
export function nameTerms(metricName: string): string[] {
  return metricName
    .replace(/([\p{Ll}\d])(\p{Lu})/gu, "$1 $2")
    .split(/[^\p{L}\d%]+/u)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}
