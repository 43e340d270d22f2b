// Series that are no plain noise: each is quiet while it lives, and found when it changes. Floors and steps of series that hardly move, and shifts of young ones.
import { describe, expect, it } from "vitest";
import { runOnce } from "../../../src/domain/backtest/backtest.ts";
import { type BacktestSeries, NO_FACTS } from "../../../src/domain/backtest/history.ts";
import { PairDetector } from "../../../src/domain/detection/pair/pair-detector.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { FAULT_AT, SHAPE_DAYS, SHAPES, valuesOf } from "../../eval/shapes/shapes.ts";
import { MINUTE_MS, START_MS, variant } from "../../support/backtest-rig.ts";
import { generator } from "../../support/generator.ts";

const DAY_MINUTES = 1_440;
/** None that the report of shapes is made with. */
const SEED = 17;
/** In which a series may be news to the server, so many times; afterwards once at most. */
const LEARNING_DAYS = 3;
const FIRST_MAX = 5;
const AFTERWARDS_MAX = 1;
/** What comes within an hour is one incident. */
const SAME_MINUTES = 60;

/** Minutes at which people would be told of the values. */
function told(values: Float64Array): number[] {
  const detector = new PairDetector();
  const minutes: number[] = [];
  for (const [minute, value] of values.entries()) {
    const { reports } = detector.observe(START_MS + minute * MINUTE_MS, value);
    if (reports && minute - (minutes.at(-1) ?? Number.NEGATIVE_INFINITY) > SAME_MINUTES) minutes.push(minute);
  }
  return minutes;
}

describe("a shape that is no incident", () => {
  it.each(SHAPES.map((shape) => [shape.name, shape] as const))("%s: quiet while it lives, found when it changes", (_, shape) => {
    const quiet = told(valuesOf(shape, SEED, false));
    expect(quiet.filter((minute) => minute < LEARNING_DAYS * DAY_MINUTES).length).toBeLessThanOrEqual(FIRST_MAX);
    // The first weekend is news to a series that has only seen working days.
    const afterwards = quiet.filter((minute) => minute >= (shape.name.startsWith("weekly") ? 6 : LEARNING_DAYS) * DAY_MINUTES);
    expect(afterwards.length, `${afterwards} in ${SHAPE_DAYS} days`).toBeLessThanOrEqual(AFTERWARDS_MAX);
    const found = told(valuesOf(shape, SEED, true)).filter((minute) => minute >= FAULT_AT && minute < FAULT_AT + shape.minutes + 5);
    expect(found.length).toBeGreaterThan(0);
  });
});

async function decisionsOf(values: readonly number[], flags = 0) {
  const times = Float64Array.from(values, (_, minute) => START_MS + minute * MINUTE_MS);
  const series: BacktestSeries = {
    name: { tenant: "t", environment: "", serviceId: "a", metricName: "replicas", attributes: {} },
    flags,
    times,
    values: Float64Array.from(values),
  };
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, sinceMs: START_MS };
  const untilMs = START_MS + values.length * MINUTE_MS;
  const facts = { ...NO_FACTS, leftOut: { stale: "" } };
  return runOnce([series], facts, variant(), { ...options, untilMs }, () => undefined);
}

const minutesOf = (decisions: Awaited<ReturnType<typeof decisionsOf>>) =>
  decisions.filter(({ outcome }) => outcome === "paged").map(({ atMs }) => (atMs - START_MS) / MINUTE_MS);
const run = (...levels: Array<readonly [value: number, minutes: number]>) =>
  levels.flatMap(([value, minutes]) => Array<number>(minutes).fill(value));

describe("a series that hardly moves", () => {
  it("is silent where it moves by a thousandth", async () => {
    expect(await decisionsOf(run([1_000, 600], [1_001, 600]))).toEqual([]);
  });

  it("pages once for a step that it has not had, and not again for one that it has", async () => {
    const once = await decisionsOf(run([3, 600], [4, 900], [3, 900], [4, 900]));
    expect(minutesOf(once)).toHaveLength(1);
    expect(minutesOf(once)[0]).toBeGreaterThanOrEqual(600);
    expect(minutesOf(once)[0]).toBeLessThan(606);
  });

  it("pages for a step to nothing, though it has had other steps", async () => {
    const pages = minutesOf(await decisionsOf(run([3, 600], [4, 900], [3, 900], [0, 60])));
    expect(pages.filter((minute) => minute >= 2_400 && minute < 2_410)).toHaveLength(1);
  });
});

describe("the same shift", () => {
  it.each([20, 40, 60, 119, 1_440])(
    "after %i values is declared, told within five minutes, and not over while it lasts",
    async (before) => {
      const { normal } = generator(before);
      const noise = () => Math.max(-2, Math.min(2, normal()));
      const values = Array.from({ length: before + 60 }, (_, minute) => 100 + noise() + (minute >= before ? 12 : 0));
      const decisions = await decisionsOf(values);
      const shift = decisions.filter(({ atMs }) => (atMs - START_MS) / MINUTE_MS >= before);
      expect(shift.length).toBeGreaterThan(0);
      const [page] = minutesOf(shift);
      expect(page).toBeGreaterThanOrEqual(before);
      expect(page).toBeLessThan(before + 5);
      expect(shift.filter(({ outcome, atMs }) => outcome === "resolved" && (atMs - START_MS) / MINUTE_MS < before + 60)).toEqual([]);
    },
  );
});
