// Remote-write bodies of services that the Watchdog watches: twenty metrics each, a stream a metric, levels that follow one load with noise of their own.
import { remoteWriteBodies } from "./remote-write.mjs";
import { seededRandom } from "./series-labels.mjs";

const metrics = [
  ...["request_rate", "error_rate", "latency_p50_ms", "latency_p95_ms", "cpu_percent", "memory_percent", "disk_used_percent"],
  ...["queue_depth", "connections", "cache_hit_ratio", "gc_pause_ms", "heap_bytes", "threads", "retries", "db_latency_ms"],
  ...["db_pool_used", "consumer_lag", "bytes_in", "bytes_out", "saturation_index"],
];
const perRequest = 500;
const noiseWidth = 2;

/** Series of one service. */
export const seriesPerService = metrics.length;

/** The newest sample of a history stands at `endMs`, the others `stepMs` apart before it. */
export function watchedHistory(
  /** @type {{services: number, samplesPerSeries: number, stepMs: number, endMs: number}} */ { services, samplesPerSeries, stepMs, endMs },
) {
  const series = services * seriesPerService;
  const samples = series * samplesPerSeries;
  return remoteWriteBodies({ series, perRequest, samplesPerSeries, samples, stepMs, labels, values: makeValues(46), endMs });
}

/** One sample of each series a round, rounds `stepMs` apart, the first at `startMs`. */
export function* watchedRounds(
  /** @type {{services: number, rounds: number, stepMs: number, startMs: number}} */ { services, rounds, stepMs, startMs },
) {
  const series = services * seriesPerService;
  const endMs = startMs + (rounds - 1) * stepMs;
  yield* remoteWriteBodies({ series, perRequest, samples: series * rounds, stepMs, labels, values: makeValues(47), endMs });
}

/** Requests of one round. */
export function requestsPerRound(/** @type {number} */ services) {
  return Math.ceil((services * seriesPerService) / perRequest);
}

/** Uniform noise around levels between 20 and 60: no anomaly, and nothing that runs full. */
function makeValues(seed) {
  const random = seededRandom(seed);
  return (series) => Math.round((20 + (series % 41) + noiseWidth * random()) * 1000) / 1000;
}

function labels(/** @type {number} */ series) {
  const service = `watched-service-${String(Math.floor(series / seriesPerService)).padStart(6, "0")}`;
  return [
    ["__name__", metrics[series % seriesPerService]],
    ["env", "production"],
    ["service_id", service],
  ];
}
