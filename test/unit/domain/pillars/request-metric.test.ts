import { expect, it } from "vitest";
import { isRequestCount } from "../../../../src/domain/pillars/request-tally.ts";

it.each([
  ["http_requests_total", true],
  ["http_request_duration_seconds_count", true],
  ["grpc_server_handled_rpcs", false],
  ["rpc_calls_total", true],
  ["http_request_duration_seconds_sum", false],
  ["http_request_size_bytes_count", false],
  ["http_requests_failed_total", false],
  ["process_cpu_seconds_total", false],
])("of counters, %s counts requests: %s", (name, expected) => {
  expect(isRequestCount(name, true)).toBe(expected);
});

it("of gauges only this server's own does", () => {
  expect(["service.requests", "span.requests", "http_requests_total"].map((name) => isRequestCount(name, false))).toEqual([
    true,
    false,
    false,
  ]);
});
