// Pieces that texts of anomalies often have: sentences of detectors, labels as JSON and the words of usual names. Part of the format of phrase-text.ts, as is
// the order, so new ones come at the end. Each is of printable ASCII and begins with no digit.

/** A label behind another: `","pod":"`. */
const label = (key: string) => `","${key}":"`;

/** Take a byte each: 56. */
export const NEAR_PHRASES: readonly string[] = [
  ...[" was ", " standard deviations above its usual ", " standard deviations below its usual ", " standard deviations ", " (expected "],
  ...[" to ", " over the last ", " samples)", " the ", '":"', '","', '"}', '":', ',"'],
  ...["instance", "job", "pod", "namespace", "container", "node", "region", "zone", "env", "environment", "host", "method"].map(label),
  ...["status", "code", "path", "route", "service", "version", "cluster", "device", "le", "quantile", "endpoint", "handler"].map(label),
  ...["-service-", "_total", "_seconds", "_bytes", "_count", "_requests", "_duration", "_latency_ms", "production", "http", "service"],
  ...["kubernetes", "default", "server", "error", "_usage", "_memory", "_sum"],
];

/** Take two bytes each: up to 256. */
export const FAR_PHRASES: readonly string[] = [
  ...["more than 99", "above the ", "below the ", " that all of the last ", " samples had", " values had"],
  ...[" on average over its last ", " values, ", " that is usual on a working day at ", " that is usual on a weekend day at "],
  ...[
    " metrics were not as they usually are together, ",
    " standard deviations beyond the usual: ",
    " would fit the others, ",
    " % of it)",
  ],
  ...[" burns the error budget of its objective ", " times over the last ", " as fast as it may; ", " times is told", "no sample of "],
  ...[
    "; it usually sends every ",
    " of its capacity, usually ",
    ", projected full at ",
    " (silenced by ",
    " (inhibited by ",
    " usual ",
    " last ",
  ],
  ...["type", "name", "state", "mode", "app", "team", "topic", "partition", "consumer_group", "group", "operation", "cpu", "interface"].map(
    label,
  ),
  ...["mountpoint", "fstype", "image", "replica", "client", "target", "result", "reason", "error", "level", "outcome", "queue"].map(label),
  ...["db", "table", "shard", "user", "url", "uri", "id", "datacenter", "availability_zone", "workload", "deployment", "action"].map(label),
  ...["http.request.method", "http.response.status_code", "http.route", "service.name", "service.version", "server.address"].map(label),
  ...["server.port", "db.system", "db.operation", "error.type", "rpc.method", "rpc.service", "rpc.system", "host.name"].map(label),
  ...["k8s.pod.name", "k8s.namespace.name", "k8s.node.name", "k8s.container.name", "k8s.deployment.name", "k8s.cluster.name"].map(label),
  ...["deployment.environment", "deployment.environment.name", "messaging.system", "messaging.destination.name"].map(label),
  ...["container_", "process_", "kubelet_", "kube_", "node_", "jvm_", "go_memstats_", "grpc_", "kafka_", "redis_", "nginx_", "postgres"],
  ...["mysql_", "rabbitmq_", "prometheus", "istio_", "envoy_", "system.", "disk", "network", "memory", "filesystem", "cpu_", "_cpu"],
  ...["request", "response", "_errors", "_error", "_rate", "_ratio", "_percent", "_latency", "_depth", "_size", "_used", "_free", "_limit"],
  ...["_available", "_active", "_connections", "_in_flight", "_handled", "_receive", "_transmit", "_packets", "_alloc", "_heap", "_hit"],
  ...["_miss", "_lag", "_consumer", "_producer", "_messages", "_bucket", "_max", "_info", "queue", "cache", "client", "database", "query"],
  ...["session", "pool", "thread", "worker", "-service", "-api", "-worker", "-gateway", "-server", "frontend", "backend", "checkout"],
  ...["payment", "inventory", "catalog", "search", "shipping", "recommend", "order", "account", "auth", "gateway", "notification", "user"],
  ...[
    "staging",
    "development",
    "-pods-",
    "-nodes",
    "-cluster",
    "eu-central-",
    "eu-west-",
    "eu-north-",
    "us-east-",
    "us-west-",
    "us-central",
  ],
  ...["ap-southeast-", "ap-northeast-", "ap-south-", "europe-west", ".svc.cluster.local", "localhost", "https://", "http://", "/api/"],
  ...["DELETE", "POST", "PATCH", "true", "false", "/metrics", "unknown"],
  ...[
    " (equivalent z ",
    "), above its usual ",
    "), below its usual ",
    "), above the ",
    "), below the ",
    " metrics were not as they usually are together (equivalent z ",
  ],
];
