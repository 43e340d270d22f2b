// Forecasts of series whose future is known, their intervals, and the edges.
import { describe, expect, it } from "vitest";
import { FORECAST_VALUES_MIN, type ForecastAlgorithm, forecastSeries } from "../../../../src/domain/forecast/forecast.ts";
import { generator } from "../../../support/generator.ts";

const DAY = 24;
const ANY = { lower: Number.NEGATIVE_INFINITY, upper: Number.POSITIVE_INFINITY };

function hours(count: number, seed: number, noise: number): Float64Array {
  const random = generator(seed);
  return Float64Array.from({ length: count }, (_, t) => 50 + 20 * Math.sin((2 * Math.PI * t) / DAY) + noise * random.normal());
}

function forecastOf(values: Float64Array, horizon: number, { algorithm = "auto" as ForecastAlgorithm, range = ANY } = {}) {
  const forecast = forecastSeries({ values, periods: [DAY, 7 * DAY], horizon }, { algorithm, level: 0.95, range });
  if (forecast === undefined) throw new Error("too few values");
  return forecast;
}

describe("forecasts", () => {
  it.each(["auto", "arima", "exponential_smoothing"] as const)("follow a daily season: %s", (algorithm) => {
    const values = hours(504, 1, 1);
    const { mean, methods } = forecastOf(values.subarray(0, 480), DAY, { algorithm });
    mean.forEach((value, step) => {
      expect(Math.abs(value - (50 + 20 * Math.sin((2 * Math.PI * step) / DAY)))).toBeLessThan(4);
    });
    expect(methods.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 9);
  });

  it("have intervals that hold what comes nearly as often as they say, beyond one season, and widen with the horizon", () => {
    let inside = 0;
    let count = 0;
    for (let seed = 0; seed < 20; seed++) {
      const values = hours(480 + 3 * DAY, seed, 3);
      const { lower, upper } = forecastOf(values.subarray(0, 480), 3 * DAY);
      const widths = upper.map((value, step) => value - (lower[step] as number));
      widths.forEach((width, step) => {
        expect(width).toBeGreaterThan(step === 0 ? 0 : (widths[step - 1] as number));
        const actual = values[480 + step] as number;
        inside += Number(actual >= (lower[step] as number) && actual <= (upper[step] as number));
        count++;
      });
    }
    expect(inside / count).toBeGreaterThan(0.92);
    expect(inside / count).toBeLessThan(0.995);
  });

  it("stay within what the metric can be, bounds and all", () => {
    const rising = Float64Array.from({ length: 200 }, (_, t) => 60 + 0.2 * t);
    const { mean, lower, upper } = forecastOf(rising, 100, { range: { lower: 0, upper: 100 } });
    for (const values of [mean, lower, upper]) {
      expect(Math.max(...values)).toBeLessThanOrEqual(100);
      expect(Math.min(...values)).toBeGreaterThanOrEqual(0);
    }
    expect(mean.at(-1)).toBeGreaterThan(95);
  });

  it("say nothing with too few values, and the value itself of a constant", () => {
    expect(
      forecastSeries(
        { values: new Float64Array(FORECAST_VALUES_MIN - 1), periods: [], horizon: 4 },
        { algorithm: "auto", level: 0.95, range: ANY },
      ),
    ).toBeUndefined();
    const { mean, lower, upper } = forecastOf(new Float64Array(100).fill(7), 5);
    for (const values of [mean, lower, upper]) for (const value of values) expect(value).toBeCloseTo(7, 9);
  });

  it("reach beyond the trial where history is short: the interval goes on widening", () => {
    const { mean, lower, upper, origins } = forecastOf(hours(48, 3, 2), 7 * DAY);
    expect(origins).toBeGreaterThan(0);
    expect(mean).toHaveLength(7 * DAY);
    const width = (step: number) => (upper[step] as number) - (lower[step] as number);
    expect(width(167)).toBeGreaterThan(2 * width(15));
  });
});
