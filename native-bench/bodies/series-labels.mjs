// Names and labels of made-up series: 8 labels, about 190 bytes of text, as a Kubernetes scrape looks. Series i is the same in every run.

const metricsPerService = 100;
const teams = ["checkout", "payments", "inventory", "frontend", "search", "catalog", "shipping", "auth", "recommend", "ledger"];
const metrics = [
  "http_request_duration_seconds_sum",
  "http_requests_total",
  "process_cpu_seconds_total",
  "go_memstats_alloc_bytes",
  "queue_depth",
  "cache_hit_ratio",
  "db_query_latency_ms",
  "grpc_server_handled_total",
  "kafka_consumer_lag",
  "heap_used_bytes",
];
const regions = ["us-east-1", "eu-west-1", "ap-southeast-2", "eu-central-1"];
const methods = ["GET", "POST", "PUT", "DELETE"];
const podLetters = "bcdfghjklmnpqrstvwxz2456789";

/** A generator of uniform numbers in [0, 1): the linear congruence of Numerical Recipes, the same in every run. */
export function seededRandom(/** @type {number} */ seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function letters(random, count) {
  return Array.from({ length: count }, () => podLetters[Math.floor(random() * podLetters.length)]).join("");
}

/** What all series of a service share, by service: bodies of many series come back to each of their services for every shard. */
const services = new Map();

function serviceParts(service) {
  const known = services.get(service);
  if (known !== undefined) return known;
  const team = teams[service % teams.length];
  const serviceId = `${team}-service-${String(service).padStart(4, "0")}`;
  const random = seededRandom(service + 1);
  const parts = {
    serviceId,
    instance: `10.${42 + (service >> 16)}.${(service >> 8) & 255}.${service & 255}:9100`,
    job: `kubernetes-pods-${team}`,
    pod: `${serviceId}-${letters(random, 10)}-${letters(random, 5)}`,
  };
  services.set(service, parts);
  return parts;
}

/**
 * Labels of series `i`, sorted by name as Prometheus sends them; 100 metrics a service, 4 methods.
 * @returns {Array<[name: string, value: string]>}
 */
export function seriesLabels(/** @type {number} */ i) {
  const service = Math.floor(i / metricsPerService);
  const metric = i % metricsPerService;
  const { serviceId, instance, job, pod } = serviceParts(service);
  return [
    ["__name__", `${metrics[metric % metrics.length]}_${String(metric).padStart(2, "0")}`],
    ["env", "production"],
    ["instance", instance],
    ["job", job],
    ["method", methods[metric % methods.length]],
    ["pod", pod],
    ["region", regions[service % regions.length]],
    ["service_id", serviceId],
  ];
}
