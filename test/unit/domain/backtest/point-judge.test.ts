// Bounds of values are those that the pipeline's own detectors judged them by.
import { expect, it } from "vitest";
import { FLAG_OPERATION } from "../../../../src/core/layout/stream-record.ts";
import type { EpisodeFrame } from "../../../../src/core/protocol/coordinator-frame.ts";
import { judgePoints } from "../../../../src/domain/backtest/point-judge.ts";
import { ThresholdTables } from "../../../../src/domain/backtest/threshold-tables.ts";
import { PairTrack } from "../../../../src/domain/backtest/tracks/pair-track.ts";
import { WindowTrack } from "../../../../src/domain/backtest/tracks/window-track.ts";
import { WorkSlices } from "../../../../src/domain/backtest/work-slices.ts";
import { UTC_OFFSET } from "../../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { between, MINUTE_MS, START_MS, shaped } from "../../../support/backtest-rig.ts";

const OPTIONS = { window: 120, samplesMin: 12, zThreshold: 3, offsetMs: UTC_OFFSET, streams: 1 };
const slices = () => new WorkSlices(() => Promise.resolve());
/** A spike, whose values are masked, and a shift that layer 1 finds by a single value and the long baseline by its own tail. */
const series = shaped({ minutes: 600, departure: (minute) => between(200, 202, 40)(minute) + between(500, 530, -14)(minute) });

it("are the bounds of the verdicts that opened anomalies, at those values", async () => {
  const points = await judgePoints(series.times, series.values, { ...OPTIONS, flags: 0, slices: slices() });
  const window = new WindowTrack(series, {
    ...OPTIONS,
    threshold: 3,
    direction: "both",
    tables: ThresholdTables.shared({ samplesMin: 12 }).of(3),
  });
  const opened = Array.from(series.times, (_, at) => window.observe(at)).flatMap((frames, at) =>
    frames.filter(({ transition }) => transition === "open").map(({ verdict }) => ({ at, verdict: verdict as Record<string, number> })),
  );
  expect(opened.map(({ at }) => at)).toEqual(expect.arrayContaining([200, 500]));
  for (const { at, verdict } of opened) {
    const { statistical, judgedBy } = points[at] as NonNullable<(typeof points)[number]>;
    expect(judgedBy).toBe("statistical");
    for (const bound of ["expected", "lower", "upper"] as const) expect(statistical?.[bound]).toBeCloseTo(verdict[bound] as number, 6);
  }

  const track = new PairTrack(series, {
    direction: "both",
    evaluationDelaySeconds: 0,
    zThreshold: 3,
    intervalMs: MINUTE_MS,
    offsetMs: UTC_OFFSET,
    deployments: [],
  });
  const frames: EpisodeFrame[] = [];
  for (; Number.isFinite(track.dueMs); )
    frames.push(...track.visit(track.dueMs).filter((found): found is EpisodeFrame => "transition" in found));
  // Of those that a level opened, the mean of its values was judged.
  const departed = frames.filter(({ transition, verdict }) => transition === "open" && JSON.stringify(verdict).includes('"own_tail"'));
  expect(departed.length).toBeGreaterThan(0);
  for (const { observedAtMs, verdict } of departed) {
    const { adaptive } = points[(observedAtMs - START_MS) / MINUTE_MS] as NonNullable<(typeof points)[number]>;
    expect(adaptive?.expected).toBeCloseTo((verdict as { expected: number }).expected, 6);
    expect((verdict as { observed: number }).observed).toBeLessThan(adaptive?.lower as number);
  }
});

it("are masked: a spike does not widen what comes after it, and wider for operation-class series", async () => {
  const points = await judgePoints(series.times, series.values, { ...OPTIONS, flags: 0, slices: slices() });
  const wide = (at: number) => (points[at]?.statistical?.upper ?? 0) - (points[at]?.statistical?.lower ?? 0);
  expect(wide(210)).toBeLessThan(2 * wide(199));
  const operation = await judgePoints(series.times, series.values, { ...OPTIONS, flags: FLAG_OPERATION, slices: slices() });
  expect(operation[199]?.statistical?.upper as number).toBeGreaterThan(points[199]?.statistical?.upper as number);
});

it("are unknown before there are enough values, and by the long baseline of values that it takes together", async () => {
  const { times, values } = shaped({ minutes: 60 });
  const points = await judgePoints(times, values, { ...OPTIONS, flags: 0, slices: slices() });
  expect(points.slice(0, 12).map(({ judgedBy }) => judgedBy)).toEqual(Array(12).fill(null));
  expect(points[12]).toMatchObject({ judgedBy: "statistical", adaptive: null });
  expect(points[20]?.adaptive).not.toBeNull();
  const seconds = times.map((_, i) => START_MS + i * 1000);
  expect((await judgePoints(seconds, values, { ...OPTIONS, flags: 0, slices: slices() })).every(({ adaptive }) => adaptive === null)).toBe(
    true,
  );
});

it("are made in slices by what they take: more where the long baseline takes each value than where it takes one of a minute", async () => {
  const values = Float64Array.from({ length: 4_000 }, (_, at) => at % 7);
  const slicesOf = async (intervalMs: number) => {
    let count = 0;
    const counted = new WorkSlices(async () => {
      count++;
    });
    const times = Float64Array.from(values, (_, at) => START_MS + at * intervalMs);
    await judgePoints(times, values, { ...OPTIONS, flags: 0, slices: counted });
    return count;
  };
  expect(await slicesOf(MINUTE_MS)).toBeGreaterThan(2 * (await slicesOf(1_000)));
});
