// What a metric says of a service when it departs: a resource of its own, a symptom that callers feel, or how much it is asked. By the words of its name,
// as Prometheus, OpenTelemetry, container runtimes and clouds name them.
import { BoundedMap } from "../../core/collections/bounded-map.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { familyOfMetric, nameTerms } from "../series/metric-family.ts";
import { ownAttribute } from "../series/stream-identity.ts";

/** Resources of the service itself. */
export const RESOURCE_KINDS = ["cpu", "memory", "disk", "network", "pool"] as const;
/** Kinds of what is felt: by its callers, by itself of those it calls (`dependency`). */
export const SYMPTOM_KINDS = ["latency", "errors", "dependency"] as const;
/** Novelty from which on a symptom is one. */
export const SYMPTOM_MIN = 3;
export type ResourceKind = (typeof RESOURCE_KINDS)[number];
export type MetricKind = ResourceKind | (typeof SYMPTOM_KINDS)[number] | "rate" | "other";

/** Meaning of a metric's name. */
export interface MetricMeaning {
  readonly kind: MetricKind;
  /** Metric of the machine, which services share. */
  readonly ofHost: boolean;
  /** Which way is bad: 1 up, -1 down, 0 either. */
  readonly harm: 1 | -1 | 0;
}

const terms = (text: string) => new Set(text.split(" "));
const HOST = terms("node host machine vm hypervisor");
const DEPENDENCY = terms("client outbound upstream egress dependency downstream remote");
const RESOURCES: ReadonlyArray<readonly [ResourceKind, ReadonlySet<string>]> = [
  ["cpu", terms("cpu cores throttled throttling steal runqueue load1 load5 load15")],
  ["memory", terms("memory mem ram heap rss swap oom pagefaults gc")],
  ["network", terms("network net tcp udp packets retransmits retransmissions dns bandwidth socket sockets nic")],
  ["disk", terms("disk filesystem fs inode inodes volume iops io iowait syscall syscalls fsync wal")],
  [
    "pool",
    terms(
      "pool thread threads goroutines connection connections conn conns fds workers queue backlog pending lag permits semaphore lock locks waiters",
    ),
  ],
];
const GOOD_WHEN_HIGH = terms("availability success successes available avail uptime healthy ready hit hits apdex free remaining");
/** Timers as statsd names them. */
const TIMER = terms("timer timers upper");
/** Series that the server counts of lines. */
const LOG_SERIES = "log.";
const MEANINGS_CACHED_MAX = 20_000;
const meanings = new BoundedMap<string, MetricMeaning>(MEANINGS_CACHED_MAX);

/** Meaning that the name tells. */
export function meaningOf(metricName: string): MetricMeaning {
  return meanings.obtain(metricName, () => readMeaning(metricName));
}

function readMeaning(metricName: string): MetricMeaning {
  const of = nameTerms(metricName);
  const kind = kindOf(metricName, of);
  const isGood = of.some((word) => GOOD_WHEN_HIGH.has(word));
  const isHarmful = kind === "latency" || kind === "errors" || kind === "dependency";
  return { kind, ofHost: of.some((word) => HOST.has(word)), harm: isGood && kind !== "rate" ? -1 : isHarmful ? 1 : 0 };
}

function kindOf(metricName: string, of: readonly string[]): MetricKind {
  // How much is logged is no load: failures are logged.
  if (metricName.startsWith(LOG_SERIES)) return "other";
  const family = familyOfMetric(metricName);
  if ((family === "latency" || family === "errors") && of.some((word) => DEPENDENCY.has(word))) return "dependency";
  if (family === "errors") return "errors";
  // CPUUtilization is one word.
  if (of.some((word) => word.startsWith("cpu"))) return "cpu";
  const resource = RESOURCES.find(([, ofKind]) => of.some((word) => ofKind.has(word)));
  if (resource !== undefined) return resource[0];
  if (of.includes("cache")) return "other";
  if (of.some((word) => TIMER.has(word))) return "latency";
  if (family === "latency" || family === "rate") return family;
  return "other";
}

/** Attributes by which a series of calls says whom it calls, as OpenTelemetry names them, in order of precedence. */
const PEER_NAMES = ["peer.service", "server.address", "net.peer.name", "peer"] as const;

/** Whom a series of calls is about; null where it is none or does not say. */
export function peerOf(metricName: string, attributes: Attributes): string | null {
  if (meaningOf(metricName).kind !== "dependency") return null;
  for (const name of PEER_NAMES) {
    const value = ownAttribute(attributes, name);
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}
