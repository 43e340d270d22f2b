// Of the interval in which a counter began anew only a part was counted, and what was counted over a missed scrape is no double rate: neither is news.
import { describe, expect, it } from "vitest";
import { FLAG_COUNTER } from "../../../src/core/layout/stream-record.ts";
import { runOnce } from "../../../src/domain/backtest/backtest.ts";
import { type BacktestSeries, NO_FACTS } from "../../../src/domain/backtest/history.ts";
import { perUsualInterval, restartedValue } from "../../../src/domain/detection/rolling/usual-deltas.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { MINUTE_MS, START_MS, variant } from "../../support/backtest-rig.ts";
import { generator } from "../../support/generator.ts";

const DAY = 1440;

/** Minutes in which people are told of a counter's deltas; undefined is a scrape that was missed, whose delta comes with the next. */
async function told(deltas: ReadonlyArray<number | undefined>, restarts: readonly number[] = []): Promise<number[]> {
  const times: number[] = [];
  const values: number[] = [];
  let missed = 0;
  for (const [minute, delta] of deltas.entries()) {
    if (delta === undefined) missed++;
    else {
      times.push(START_MS + minute * MINUTE_MS);
      values.push(delta * (1 + missed));
      missed = 0;
    }
  }
  const series: BacktestSeries = {
    name: { tenant: "t", environment: "", serviceId: "a", metricName: "requests_total", attributes: {} },
    flags: FLAG_COUNTER,
    times: Float64Array.from(times),
    values: Float64Array.from(values),
    restarts: new Set(restarts.map((minute) => START_MS + minute * MINUTE_MS)),
  };
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, sinceMs: START_MS };
  const untilMs = START_MS + deltas.length * MINUTE_MS;
  const decisions = await runOnce([series], { ...NO_FACTS, leftOut: { stale: "" } }, variant(), { ...options, untilMs }, () => undefined);
  return decisions.filter(({ outcome }) => outcome === "paged").map(({ atMs }) => (atMs - START_MS) / MINUTE_MS);
}

const noise = (minutes: number, seed: number) => {
  const { normal } = generator(seed);
  return Array.from({ length: minutes }, () => Math.round(1e4 * (1 + 0.05 * normal())));
};

describe("a counter", () => {
  it.each([0, 0.05, 0.3, 0.6])("that restarts is no news: %f of the interval was counted", async (share) => {
    const deltas: number[] = noise(3 * DAY, 10 * share + 1);
    for (let minute = 1500; minute < deltas.length; minute += 433) deltas[minute] = Math.round((deltas[minute] as number) * share);
    expect(await told(deltas)).toEqual([]);
  });

  it.each([3, 30, 1000])(
    "that restarts with %i times what an interval brings is no news, and what comes for two minutes is",
    async (factor) => {
      const deltas: number[] = noise(2 * DAY, factor);
      const restarts = [1500, 1933, 2366];
      for (const minute of [...restarts, 2600, 2601]) deltas[minute] = (deltas[minute] as number) * factor;
      const [first, ...others] = await told(deltas, restarts);
      expect([2600, 2601]).toContain(first);
      expect(others).toEqual([]);
    },
  );

  it("that reads 0 once, and then all that it ever counted, is no news", async () => {
    const deltas: number[] = noise(2 * DAY, 5);
    deltas[2000] = 0;
    deltas[2001] = 2001 * 1e4;
    expect(await told(deltas)).toEqual([]);
  });

  it("that counts a tenth for ten minutes is told by the second of them", async () => {
    const deltas: number[] = noise(2 * DAY, 6);
    for (let minute = 2000; minute < 2010; minute++) deltas[minute] = Math.round((deltas[minute] as number) / 10);
    expect(await told(deltas)).toEqual([2001]);
  });

  it("of which one scrape in fifty is missed counts no more for that", async () => {
    const { uniform } = generator(7);
    const deltas: Array<number | undefined> = noise(2 * DAY, 8);
    for (let minute = 30; minute < deltas.length; minute++) if (uniform() < 0.02) deltas[minute] = undefined;
    expect(await told(deltas)).toEqual([]);
  });
});

describe("deltas per usual interval", () => {
  it("are those that a missed scrape, or a shorter interval, would have had; others stay as they are", () => {
    const times = Float64Array.of(120_000, 180_000, 300_000, 330_000, 400_000);
    const values = Float64Array.of(100, 100, 200, 50, 110);
    perUsualInterval(times, values, 5, 60_000, MINUTE_MS);
    expect([...values]).toEqual([100, 100, 100, 100, 110]);
    const unknown = Float64Array.of(200);
    perUsualInterval(Float64Array.of(300_000), unknown, 1, 60_000, 0);
    perUsualInterval(Float64Array.of(300_000), unknown, 1, 0, MINUTE_MS);
    expect([...unknown]).toEqual([200]);
  });
});

it("a value of which counting began anew says no more than usual of a counter, and nothing of a quantile", () => {
  const had = Float64Array.of(9, 11, 10, 900, 10);
  expect([900, 3].map((value) => restartedValue(value, true, had))).toEqual([10, 3]);
  expect([900, 3].map((value) => restartedValue(value, false, had))).toEqual([10, 10]);
});
