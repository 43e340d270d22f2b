// A new stream inherits what is usual from another instance only where its own first values are as those of that: through the whole pipeline.
import { expect, it } from "vitest";
import { runOnce } from "../../../src/domain/backtest/backtest.ts";
import { type BacktestSeries, NO_FACTS } from "../../../src/domain/backtest/history.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { MINUTE_MS, START_MS, variant } from "../../support/backtest-rig.ts";
import { generator } from "../../support/generator.ts";

const JOINED = 900;
const MINUTES = JOINED + 300;

interface Joining {
  readonly metricName: string;
  readonly stepS: number;
  /** Level of the first instance, noise relative to it, and the levels of the second by the minute after it has joined. */
  readonly level: number;
  readonly variation: number;
  readonly levelAt: (minute: number) => number;
  readonly seed?: number;
}

/** Minutes after the second instance has joined in which people are told of something. */
async function told({ metricName, stepS, level, variation, levelAt, seed = 1 }: Joining): Promise<number[]> {
  const perMinute = 60 / stepS;
  const series = Array.from({ length: 2 }, (_, i): BacktestSeries => {
    const { normal } = generator(seed + i);
    const first = i === 0 ? 0 : JOINED * perMinute;
    const places = Array.from({ length: MINUTES * perMinute - first }, (__, at) => first + at);
    const levelOf = (place: number) => (i === 0 ? level : levelAt(place / perMinute - JOINED));
    return {
      name: { tenant: "t", environment: "", serviceId: "a", metricName, attributes: { instance: `host-${i}` } },
      flags: 0,
      times: Float64Array.from(places, (place) => START_MS + 1_000 * stepS * place),
      values: Float64Array.from(places, (place) => levelOf(place) * (1 + variation * normal())),
    };
  });
  const untilMs = START_MS + MINUTES * MINUTE_MS;
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, sinceMs: START_MS, untilMs };
  const decisions = await runOnce(series, { ...NO_FACTS, leftOut: { stale: "" } }, variant(), options, () => undefined);
  return decisions.filter(({ outcome }) => outcome === "paged").map(({ atMs }) => (atMs - START_MS) / MINUTE_MS - JOINED);
}

const GAUGE = { metricName: "pool_connections", level: 100, variation: 0.05 };
const DISK = { metricName: "disk_used_percent", level: 95, variation: 0.002 };

it.each([10, 60])("each %i s, a second gauge at ten times the level, or at a tenth of it, is no news", async (stepS) => {
  expect(await told({ ...GAUGE, stepS, levelAt: () => 1000 })).toEqual([]);
  expect(await told({ ...GAUGE, stepS, levelAt: () => 10 })).toEqual([]);
});

it.each([10, 60])("each %i s, a second disk beside a full one is told when it fills", async (stepS) => {
  const [first] = await told({ ...DISK, stepS, levelAt: (minute) => (minute < 60 ? 20 : 95) });
  expect(first).toBeGreaterThanOrEqual(60);
  expect(first).toBeLessThanOrEqual(64);
});

it.each([
  [10, 0],
  [60, 0],
  [60, 2],
])("each %i s, a second gauge of the same level is known at once, also behind %i odd first values", async (stepS, odd) => {
  const [first] = await told({ ...GAUGE, stepS, levelAt: (minute) => (minute < odd ? 60 : minute < 13 ? 100 : 300) });
  expect(first).toBeGreaterThanOrEqual(13);
  expect(first).toBeLessThanOrEqual(15);
});
