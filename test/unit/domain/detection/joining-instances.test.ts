// A stream that joins or leaves brings a new level, no finding: instances that join a single one, through the whole pipeline.
import { expect, it } from "vitest";
import { FLAG_COUNTER } from "../../../../src/core/layout/stream-record.ts";
import { runOnce } from "../../../../src/domain/backtest/backtest.ts";
import { type BacktestSeries, NO_FACTS } from "../../../../src/domain/backtest/history.ts";
import { UTC_OFFSET } from "../../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { MINUTE_MS, START_MS, variant } from "../../../support/backtest-rig.ts";
import { generator } from "../../../support/generator.ts";

const JOINED = 600;
const MINUTES = JOINED + 400;

/** Minutes after others have joined the first in which people are told of something. */
async function told(instances: number, factorAt: (minute: number) => number): Promise<number[]> {
  const series = Array.from({ length: instances }, (_, i): BacktestSeries => {
    const { normal } = generator(instances + i);
    const first = i === 0 ? 0 : JOINED;
    const minutes = Array.from({ length: MINUTES - first }, (__, at) => first + at);
    return {
      name: { tenant: "t", environment: "", serviceId: "a", metricName: "requests_total", attributes: { instance: `pod-${i}` } },
      flags: FLAG_COUNTER,
      times: Float64Array.from(minutes, (minute) => START_MS + minute * MINUTE_MS),
      values: Float64Array.from(minutes, (minute) => Math.round(1000 * factorAt(minute - JOINED) * (1 + 0.05 * normal()))),
    };
  });
  const untilMs = START_MS + MINUTES * MINUTE_MS;
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, sinceMs: START_MS, untilMs };
  const decisions = await runOnce(series, { ...NO_FACTS, leftOut: { stale: "" } }, variant(), options, () => undefined);
  return decisions.filter(({ outcome }) => outcome === "paged").map(({ atMs }) => (atMs - START_MS) / MINUTE_MS - JOINED);
}

it.each([2, 3, 6])("counters that join a single one are no news: %i at last", async (instances) => {
  expect(await told(instances, () => 1)).toEqual([]);
});

it("what all of them count is told when it doubles later", async () => {
  const [first] = await told(2, (minute) => (minute >= 300 ? 2 : 1));
  expect(first).toBeGreaterThanOrEqual(300);
  expect(first).toBeLessThanOrEqual(304);
});
