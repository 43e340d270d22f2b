import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectationAt } from "../../../../src/domain/detection/expected-values.ts";
import { rangeOfMetric, rangeOver, rangeShown } from "../../../../src/domain/series/metric-range.ts";

const range = (metricName: string, unit: string | null = null, isCounter = false) => {
  const { least, most } = rangeOfMetric({ metricName, unit, isCounter });
  return [least, most];
};
const [LOW, HIGH] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];

describe("the range of a metric", () => {
  it.each(
    "span.duration_ms.p95 http_server_latency_seconds requestDuration http.client.request.count errors queue_depth disk_free_bytes heap.used active_connections rps uptime".split(
      " ",
    ),
  )("%s is not below 0", (name) => expect(range(name)).toEqual([0, HIGH]));
  it.each(["cpu_percent", "disk.used_percent", "memory.pct"])("%s is within 0 to 100", (name) => expect(range(name)).toEqual([0, 100]));
  it.each(["error_ratio", "gc.time.fraction"])("%s is within 0 to 1", (name) => expect(range(name)).toEqual([0, 1]));
  it.each([
    "clock_offset_ms",
    "replication.drift.seconds",
    "latency_delta_ms",
    "temperature_celsius",
    "account_balance",
    "percent_change",
    "error_budget_ratio",
    "gauge",
    "position_x",
    "discount",
  ])("%s may be anything", (name) => expect(range(name)).toEqual([LOW, HIGH]));
  it("is told by unit and kind where the name says nothing", () => {
    expect(range("x", "ms")).toEqual([0, HIGH]);
    expect(range("x", "By/s")).toEqual([0, HIGH]);
    expect(range("x", "{request}")).toEqual([0, HIGH]);
    expect(range("x", "%")).toEqual([0, 100]);
    expect([range("x", "Cel"), range("x", "1"), range("x", "m")]).toEqual(Array(3).fill([LOW, HIGH]));
    expect(range("balance_delta", null, true)).toEqual([0, HIGH]);
  });
  it("gives way to values beyond it, at that end", () => {
    const of = { least: 0, most: 100 };
    expect(rangeOver(of, Float64Array.of(0, 100))).toEqual(of);
    expect(rangeOver(of, Float64Array.of(50, 240))).toEqual({ least: 0, most: HIGH });
    expect(rangeOver(of, Float64Array.of(-1, 100))).toEqual({ least: LOW, most: 100 });
  });
  it("is what the values have shown too", () => {
    const shown = (metricName: string, values: readonly number[], unit: string | null = null) => {
      const { least, most } = rangeShown({ metricName, unit, isCounter: false }, Float64Array.from(values));
      return [least, most];
    };
    expect(shown("revenue_eur", [3, 2.5, 0.1])).toEqual([0, HIGH]);
    expect(shown("widgets", [3, 2, 0])).toEqual([0, HIGH]);
    expect(shown("widgets", [3, -1, 0])).toEqual([LOW, HIGH]);
    expect(shown("outside_celsius", [3, 2, 1])).toEqual([LOW, HIGH]);
    expect(shown("outside", [3, 2, 1], "Cel")).toEqual([LOW, HIGH]);
    expect(shown("healthy", [1, 0.9, 1, 1])).toEqual([0, 1]);
    expect(shown("battery", [100, 80, 100, 100, 60])).toEqual([0, 100]);
    expect(shown("battery", [100, 80])).toEqual([0, HIGH]);
    // A rounded percentage, and a processor of four.
    expect(shown("cpu_percent", [100.2, 80])).toEqual([0, 100.2]);
    expect(shown("cpu_percent", [240, 80])).toEqual([0, HIGH]);
  });
  it("holds the bounds of any values and never parts them from what is expected", () => {
    const options = { zThreshold: 3, samplesMin: 3, window: 120 };
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 4, maxLength: 30 }), (given) => {
        const values = Float64Array.from(given);
        const { lower, expected, upper } = expectationAt(values, values.length - 1, { ...options, range: { least: 0, most: 100 } });
        expect(lower as number).toBeGreaterThanOrEqual(0);
        expect(upper as number).toBeLessThanOrEqual(100);
        expect(lower as number).toBeLessThanOrEqual((expected as number) + 1e-9);
        expect(upper as number).toBeGreaterThanOrEqual((expected as number) - 1e-9);
      }),
    );
  });
});
