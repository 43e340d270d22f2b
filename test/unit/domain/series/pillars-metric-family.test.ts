import { describe, expect, it } from "vitest";
import { familyOfMetric, type MetricFamily } from "../../../../src/domain/series/metric-family.ts";

const NAMES: ReadonlyArray<readonly [MetricFamily, readonly string[]]> = [
  [
    "rate",
    [
      "http_requests_total",
      "service.requests",
      "span.requests",
      "rpc.server.calls",
      "requestCount",
      "throughput",
      "http_request_duration_seconds_count",
      "http.server.duration.count",
      "node_network_receive_bytes_total",
      "kafka_messages_in",
      "qps",
      "log.records",
    ],
  ],
  [
    "errors",
    [
      "http_errors_total",
      "service.errors",
      "error_rate",
      "ErrorRate",
      "http_5xx_total",
      "http_requests_failed",
      "grpc_timeouts",
      "packets_dropped_total",
      "request_success_rate",
      "error_count",
    ],
  ],
  [
    "latency",
    [
      "service.duration_ms.p95",
      "span.duration_ms.p50",
      "http_request_duration_seconds.p99",
      "request_latency",
      "response_time",
      "responseTimeMs",
      "gc_pause_seconds",
      "queue_wait_ms",
      "db_query_seconds",
    ],
  ],
  [
    "saturation",
    [
      "cpu_usage",
      "cpu.utilization",
      "process_cpu_seconds_total",
      "memory_used_bytes",
      "disk_percent",
      "node_load1",
      "queue_length",
      "http_requests_in_flight",
      "jvm_threads",
      "node_filesystem_free_bytes",
      "pool.connections",
    ],
  ],
  ["none", ["http_request_duration_seconds_bucket", "process_start_time_seconds", "go_info", "up", "http_request_duration_seconds_sum"]],
  ["other", ["temperature", "m1", "", "价格"]],
];

describe("family of a metric", () => {
  for (const [family, names] of NAMES) it.each(names)(`is ${family} for %s`, (name) => expect(familyOfMetric(name)).toBe(family));
});
