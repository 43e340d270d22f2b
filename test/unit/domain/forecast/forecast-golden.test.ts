// Reference values of statsmodels, R and scipy (test/golden, each with its tolerance).
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { type ArimaOrder, fitArima, forecastArima, psiWeights } from "../../../../src/domain/forecast/arima.ts";
import { unitRootTest } from "../../../../src/domain/forecast/autocorrelation.ts";
import { forecastSmoothing, runSmoothing } from "../../../../src/domain/forecast/exponential-smoothing.ts";
import { fitHoltWinters } from "../../../../src/domain/forecast/holt-winters.ts";

interface SmoothingModel {
  readonly model: string;
  readonly alpha?: number;
  readonly beta_star?: number;
  readonly phi?: number;
  readonly gamma?: number;
  readonly initial_level: number;
  readonly initial_trend?: number;
  readonly initial_seasonal?: readonly number[];
  readonly one_step: readonly number[];
  readonly forecast: readonly number[];
  readonly sse: number;
  readonly sse_to_reach: number;
}

interface ArimaCase {
  readonly name: string;
  readonly series: string;
  readonly order: readonly [number, number, number];
  readonly seasonal_order: readonly [number, number, number, number];
  readonly trend: string;
  readonly loglik: number;
  readonly sigma2: number;
  readonly forecast: readonly number[];
  readonly se: readonly number[];
}

function golden<Cases>(name: string): Cases {
  return (JSON.parse(readFileSync(new URL(`../../../golden/${name}.json`, import.meta.url), "utf8")) as { cases: Cases }).cases;
}

function expectNear(actual: ArrayLike<number>, expected: readonly number[], relative: number): void {
  expect(actual.length).toBe(expected.length);
  expected.forEach((value, i) => {
    expect(Math.abs((actual[i] as number) - value), `place ${i}`).toBeLessThanOrEqual(relative * Math.max(1e-3, Math.abs(value)));
  });
}

const smoothing = golden<{ readonly y: readonly number[]; readonly horizon: number; readonly models: readonly SmoothingModel[] }>(
  "exp_smoothing",
);
const arima = golden<{
  readonly series: Record<string, readonly number[]>;
  readonly ml: readonly ArimaCase[];
  readonly exact: readonly { readonly psi?: readonly number[]; readonly phi: readonly number[] }[];
}>("arima");
const correlations = golden<{
  readonly x: readonly number[];
  readonly acf: readonly number[];
  readonly pacf_ywm: readonly number[];
  readonly adf: { readonly stat: number; readonly p: number; readonly lag: number; readonly nobs: number };
}>("acf_adf");

describe("exponential smoothing", () => {
  it.each(smoothing.models.filter(({ one_step }) => one_step !== undefined))("agrees with the recursions: $model", (model) => {
    const weights = { alpha: model.alpha ?? 0, beta: model.beta_star ?? 0, phi: model.phi ?? 1, gamma: model.gamma ?? 0 };
    const seasonal = model.model.endsWith("multiplicative") ? "multiplicative" : "additive";
    const start = {
      level: model.initial_level,
      trend: model.initial_trend ?? 0,
      seasonal,
      ...(model.initial_seasonal && { season: model.initial_seasonal }),
    } as const;
    const run = runSmoothing(smoothing.y, weights, start);
    expectNear(run.oneStep, model.one_step, 1e-8);
    expectNear([run.squaredError], [model.sse], 1e-8);
    expectNear(forecastSmoothing(run, smoothing.y.length, smoothing.horizon, { phi: weights.phi, seasonal }), model.forecast, 1e-8);
  });

  it("fits Holt-Winters as closely as the reference's optimiser", () => {
    const reference = smoothing.models.find(({ model }) => model === "HW_additive_optimised") as SmoothingModel;
    const fit = fitHoltWinters(Float64Array.from(smoothing.y), 12);
    expect(fit?.run.squaredError).toBeLessThanOrEqual(1.02 * reference.sse_to_reach);
  });
});

describe("ARIMA", () => {
  it.each(arima.ml)("reaches the likelihood and the forecasts of the reference: $name", (one) => {
    const values = arima.series[one.series] as readonly number[];
    const [p, d, q] = one.order;
    const [sp, sd, sq, period] = one.seasonal_order;
    const order: ArimaOrder = { p, d, q, hasMean: one.trend === "c", ...(period > 0 && { seasonal: { p: sp, d: sd, q: sq, period } }) };
    const fit = fitArima(values, order);
    if (fit === undefined) throw new Error("not fitted");
    expect(fit.logLikelihood).toBeGreaterThan(one.loglik - 0.01);
    const ahead = forecastArima(values, fit, one.forecast.length);
    const sigma = Math.sqrt(one.sigma2);
    one.forecast.forEach((value, i) => {
      expect(Math.abs((ahead.mean[i] as number) - value)).toBeLessThan(0.05 * sigma);
    });
    // The seasonal moving average of this one sits on its boundary, where the reference's own errors are no measure.
    if (one.name !== "SARIMA011_011_12") expectNear(ahead.se, one.se, 0.02);
  });

  it("has the psi weights of a given autoregression", () => {
    const { phi, psi } = arima.exact[0] as { phi: readonly number[]; psi: readonly number[] };
    expectNear(psiWeights([1, ...phi.map((value) => -value)], [], psi.length), psi, 1e-9);
  });
});

describe("the Dickey-Fuller test", () => {
  it("tests for a unit root as the reference does, and finds one in a random walk", () => {
    const test = unitRootTest(correlations.x, correlations.adf.lag);
    expectNear([test?.statistic ?? 0], [correlations.adf.stat], 1e-8);
    expect(Math.abs((test?.p ?? 1) - correlations.adf.p)).toBeLessThan(1e-4);
    expect(test?.rows).toBe(correlations.adf.nobs);
    expect(unitRootTest(arima.series.rw as readonly number[], 4)?.p).toBeGreaterThan(0.05);
  });
});
