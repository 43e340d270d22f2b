// What comes next, of made-up metrics: a trend and a daily course are told apart, an anomaly on its way is foreseen, and samples come to a grid.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { predictAnomalies } from "../../../../src/domain/prediction/anomaly-outlook.ts";
import { computed } from "../../../../src/domain/prediction/computation.ts";
import { degradationTrend, withoutSeason } from "../../../../src/domain/prediction/degradation.ts";
import { evenGrid, joinedGrid } from "../../../../src/domain/prediction/even-grid.ts";
import { stepsAhead } from "../../../../src/modules/prediction/forecast-handler.ts";
import { generator } from "../../../support/generator.ts";

const DAY = 288;
const RANGE = { lower: Number.NEGATIVE_INFINITY, upper: Number.POSITIVE_INFINITY };
const HOURS = 1 / 12;
const options = { stepHours: HOURS, slopeMin: 0.01, direction: 0, limit: null, lateSteps: 0 } as const;

/** So many steps of five minutes of a daily sine with noise, and a rise from `from` on. */
function daily(steps: number, { noise = 1, rise = 0, from = 0 } = {}): Float64Array {
  const random = generator(7);
  return Float64Array.from({ length: steps }, (_, t) => {
    const season = 40 * Math.sin((2 * Math.PI * t) / DAY);
    return 100 + season + noise * random.normal() + Math.max(0, t - from) * rise;
  });
}

describe("slow trends", () => {
  it("are a rise, in its units, with the time until a limit is passed", () => {
    const random = generator(3);
    const values = Float64Array.from({ length: DAY }, (_, t) => 50 + 2 * (t / 12) + random.normal());
    const trend = degradationTrend(values, { ...options, limit: 150 });
    expect(trend?.slopePerHour).toBeCloseTo(2, 1);
    expect(trend?.confidence).toBeGreaterThan(0.99);
    // 98 now, 2 an hour: 26 hours.
    expect((trend?.breachMinutes ?? 0) / 60).toBeCloseTo(26, 0);
    expect(degradationTrend(values, { ...options, limit: 90 })?.breachMinutes).toBe(0);
    expect(degradationTrend(values, { ...options, limit: 1_000 })?.breachMinutes).toBeNull();
  });

  it("are none in noise, in a constant, in too few values, and in a rise that helps", () => {
    const random = generator(5);
    const noise = Float64Array.from({ length: DAY }, () => 100 + random.normal());
    expect(degradationTrend(noise, options)).toBeUndefined();
    expect(degradationTrend(new Float64Array(DAY).fill(4), options)).toBeUndefined();
    expect(degradationTrend(Float64Array.of(1, 2, 3), options)).toBeUndefined();
    const rising = Float64Array.from({ length: DAY }, (_, t) => 50 + t);
    expect(degradationTrend(rising, { ...options, direction: -1 })).toBeUndefined();
  });

  it("are none in a morning that is as every morning, whatever the hour that is looked back from", () => {
    const values = daily(6 * DAY + DAY / 4);
    for (let end = 5 * DAY; end <= values.length; end += 24) {
      const look = values.subarray(end - DAY / 4, end);
      const rest = withoutSeason(values.subarray(0, end - DAY / 4), look, [DAY]);
      expect(degradationTrend(rest, options), `${end}`).toBeUndefined();
    }
    expect(degradationTrend(values.subarray(5 * DAY + DAY * 0.75, 6 * DAY + DAY / 4), options)).toBeDefined();
  });

  it("are found beside a daily course", () => {
    const values = daily(6 * DAY, { rise: 0.25, from: 5 * DAY });
    const rest = withoutSeason(values.subarray(0, 5 * DAY), values.subarray(5 * DAY), [DAY]);
    expect(degradationTrend(rest, options)?.slopePerHour).toBeCloseTo(3, 0);
  });
});

describe("what is ahead", () => {
  it("D8: a trend stands where the newest values are, and its minutes count from now", () => {
    // 13.2 a minute down, 5 minutes a step, to 486 four minutes after the last whole step.
    const falling = Float64Array.from({ length: DAY }, (_, t) => 486 + 13.2 * (4 + 5 * (DAY - 1 - t) + 2.5));
    const trend = degradationTrend(falling, { ...options, direction: -1, limit: 0, lateSteps: 4 / 5 });
    expect(trend?.breachMinutes).toBeCloseTo(486 / 13.2, 1);
    const bent = falling.map((value, t) => value - Math.max(0, t - DAY + 8) * 20);
    expect(degradationTrend(bent, { ...options, direction: -1, limit: 0, lateSteps: 0 })?.breachMinutes).toBeLessThan(35);
  });

  it("D10: a forecast begins no earlier than now and reaches the hours asked for, whenever its history ended", () => {
    const time = fc.integer({ min: Date.parse("2026-01-01T00:00:00Z"), max: Date.parse("2026-01-02T00:00:00Z") });
    const step = fc.constantFrom(5 * 60_000, 15 * 60_000, 3_600_000);
    fc.assert(
      fc.property(time, step, fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 168 }), (nowMs, stepMs, late, hours) => {
        const endMs = (Math.floor(nowMs / stepMs) - late) * stepMs;
        const { skipped, horizon } = stepsAhead(endMs, nowMs, { stepMs, hours });
        const [first, last] = [endMs + skipped * stepMs, endMs + (horizon - 1) * stepMs];
        expect(first >= nowMs && first < nowMs + stepMs).toBe(true);
        const end = nowMs + hours * 3_600_000;
        expect(last >= end && last < end + stepMs).toBe(true);
      }),
    );
  });

  it("counts the lead of a predicted anomaly from now where its history ended earlier", () => {
    const values = daily(5 * DAY, { rise: 3, from: 5 * DAY - 8 });
    const request = { stepMinutes: 5, steps: 12, periods: [DAY], threshold: 3 };
    const leads = [0, 2].map(
      (lateSteps) => predictAnomalies({ ...request, series: [{ metricName: "m", values, lateSteps, range: RANGE }] })[0],
    );
    expect(leads[1]?.leadMinutes).toBe(Math.max(5, (leads[0]?.leadMinutes as number) - 10));
  });
});

describe("anomalies that are foreseen", () => {
  const request = { stepMinutes: 5, steps: 12, periods: [DAY], threshold: 3 };
  const foreseen = (values: Float64Array) =>
    predictAnomalies({ ...request, series: [{ metricName: "m", values, lateSteps: 0, range: RANGE }] });

  it("are none in a daily course, at any time of day", () => {
    const values = daily(5 * DAY + DAY);
    for (let end = 5 * DAY; end <= values.length; end += 48) expect(foreseen(values.slice(0, end)), `${end}`).toEqual([]);
  });

  it("are a departure from it that goes on, with its lead and its side", () => {
    const values = daily(5 * DAY, { rise: 3, from: 5 * DAY - 8 });
    const [found] = foreseen(values);
    expect(found).toMatchObject({ metricName: "m", isAbove: true });
    expect(found?.leadMinutes).toBeLessThanOrEqual(60);
    expect(found?.confidence).toBeGreaterThan(0.5);
    expect(found?.predicted).toBeGreaterThan(found?.bound as number);
  });

  it("name the ten likeliest, the likeliest first", () => {
    const series = Array.from({ length: 14 }, (_, i) => ({
      metricName: `m${i}`,
      values: daily(5 * DAY, { rise: 0.5 + i / 4, from: 5 * DAY - 8 }),
      lateSteps: 0,
      range: RANGE,
    }));
    const found = predictAnomalies({ ...request, series });
    expect(found).toHaveLength(10);
    const confidences = found.map(({ confidence }) => confidence);
    expect(confidences).toEqual([...confidences].sort((a, b) => b - a));
  });
});

describe("samples at any time", () => {
  const range = { fromMs: 0, toMs: 6_000, stepMs: 1_000 };
  it.each([
    ["means of a step", [100, 900, 1_500], [1, 3, 5], [2, 5]],
    ["a line over a gap", [100, 3_100], [0, 30], [0, 10, 20, 30]],
    ["none", [], [], []],
    ["those of the range", [-5, 500, 6_000], [9, 1, 9], [1]],
  ])("come to %s", (_, times, values, expected) => {
    expect([...evenGrid(Float64Array.from(times), Float64Array.from(values), range).values]).toEqual(expected);
  });

  it("begin anew behind a long gap", () => {
    const grid = evenGrid(Float64Array.of(0, 20_000, 21_000), Float64Array.of(1, 2, 3), { ...range, toMs: 60_000 });
    expect(grid).toEqual({ startMs: 20_000, values: Float64Array.of(2, 3), filled: 2 });
  });

  it.each([
    ["sum", [1, 12, 23]],
    ["max", [1, 10, 20]],
    ["mean", [1, 6, 11.5]],
  ] as const)("of several streams come to their %s", (how, expected) => {
    const one = { startMs: 0, values: Float64Array.of(1, 2, 3), filled: 3 };
    const other = { startMs: 1_000, values: Float64Array.of(10, 20), filled: 2 };
    expect([...joinedGrid([one, other], 1_000, how).values]).toEqual(expected);
    expect(joinedGrid([one, { startMs: 0, values: new Float64Array(0), filled: 0 }], 1_000, how)).toBe(one);
  });
});

describe("computations", () => {
  it("answer in their kind, with null where the series are too short or constant", () => {
    const short = Float64Array.of(1, 2);
    const forecast = {
      task: { values: short, periods: [], horizon: 3 },
      options: { algorithm: "auto", level: 0.95, range: RANGE },
    } as const;
    expect(computed({ kind: "forecast", ...forecast })).toEqual({ kind: "forecast", forecast: null });
    const constant = new Float64Array(200).fill(1);
    const pair = { cause: constant, effect: constant, stepMs: 60_000, lagMax: 12 };
    expect(computed({ kind: "pair", ...pair })).toEqual({ kind: "pair", validation: null });
    expect(computed({ kind: "causes", series: [constant], stepMs: 60_000, lagMax: 12 })).toEqual({ kind: "causes", links: [] });
  });
});
