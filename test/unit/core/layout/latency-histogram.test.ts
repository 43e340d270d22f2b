// A latency histogram in slots: buckets that are not cumulative, +Inf, sum, count.
import { expect, it } from "vitest";
import { LATENCY_BOUNDS_SECONDS, LATENCY_SLOTS, observeLatency } from "../../../../src/core/layout/counters.ts";

it("a duration is counted in the bucket of its bound, and nothing beside the histogram", () => {
  const slots = new Float64Array(2 + LATENCY_SLOTS + 1);
  for (const seconds of [0.001, 0.0011, 11]) observeLatency(slots, 2, seconds);
  const bounds = LATENCY_BOUNDS_SECONDS.length;
  const histogram = [...slots.subarray(2, 2 + LATENCY_SLOTS)];
  expect([histogram[0], histogram[1], histogram[bounds], histogram.at(-1)]).toEqual([1, 1, 1, 3]);
  expect(histogram[bounds + 1]).toBeCloseTo(11.0021);
  expect([slots[0], slots[1], slots.at(-1)]).toEqual([0, 0, 0]);
});
