// From statistics to probabilities: Pareto tails, the calibration of a history, the Cauchy combination.
import { describe, expect, it } from "vitest";
import { fitParetoTail, TailCalibration } from "../../../../src/domain/detection/calibration/tail-calibration.ts";
import { seededRandom } from "../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { combineLogP } from "../../../../src/domain/detection/tail-probability.ts";

/** Quantiles of a generalised Pareto distribution at the middles of equal steps of probability. */
function pareto(shape: number, scale: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const tail = 1 - (i + 0.5) / count;
    return shape === 0 ? -scale * Math.log(tail) : (scale * (tail ** -shape - 1)) / shape;
  });
}

describe("Pareto tail", () => {
  it.each([
    [0, 1],
    [0, 5],
    [0.1, 2],
    [0.2, 1],
  ])("finds shape %d and scale %d", (shape, scale) => {
    const fit = fitParetoTail(pareto(shape, scale, 20_000));
    expect(fit.shape).toBeCloseTo(shape, 1);
    expect(Math.abs(fit.scale / scale - 1)).toBeLessThan(0.05);
  });

  it("takes a bounded tail for an exponential one with the same mean, and few excesses too", () => {
    expect(fitParetoTail([1, 1.01, 0.99, 1, 1, 1, 1, 1, 1])).toMatchObject({ shape: 0 });
    expect(fitParetoTail([2, 4])).toEqual({ shape: 0, scale: 3 });
    expect(fitParetoTail([]).scale).toBeGreaterThan(0);
  });
});

describe("tail calibration", () => {
  const random = seededRandom(5);
  const history = Array.from({ length: 20_000 }, () => -Math.log(1 - random()));
  const calibration = TailCalibration.fit(history);

  it.each([0.1, 1, 3, 6, 12])("of exponential history gives log p of -x at %d", (x) => {
    expect(Math.abs(calibration.logP(x) + x)).toBeLessThan(0.02 + 0.1 * x);
  });

  it("falls with the value everywhere, far beyond history too", () => {
    let last = 1;
    for (let x = 0.01; x < 3000; x *= 1.3) {
      const logP = calibration.logP(x);
      expect(logP).toBeLessThan(last);
      last = logP;
    }
  });

  it("a single value is a history", () => {
    const one = TailCalibration.fit([3]);
    expect(one.logP(2)).toBe(0);
    expect(Number.isFinite(one.logP(4))).toBe(true);
    expect(one.logP(4)).toBeLessThan(one.logP(3));
  });
});

describe("Cauchy combination", () => {
  const combine = (logPs: readonly number[]): number => combineLogP(logPs.map((logP) => ({ logP, weight: 1 })));

  it.each([0.9, 0.5, 1e-3, 1e-20, 1e-200])("of p = %d alone, or with itself, is p", (p) => {
    expect(combine([Math.log(p)])).toBeCloseTo(Math.log(p), 6);
    expect(combine([Math.log(p), Math.log(p)])).toBeCloseTo(Math.log(p), 6);
  });

  it("of one strange and one ordinary is half as strange as the strange one", () => {
    expect(combine([Math.log(1e-6), Math.log(0.5)])).toBeCloseTo(Math.log(2e-6), 4);
    expect(combine([-5000, Math.log(0.5)])).toBeCloseTo(-5000 + Math.LN2, 6);
  });

  it("has no jump where it changes its formula", () => {
    const at = Math.log(1e-15);
    expect(combine([at + 1e-9, -3]) - combine([at - 1e-9, -3])).toBeCloseTo(0, 2);
  });

  it("counts by weight", () => {
    const [strange, ordinary] = [Math.log(1e-8), Math.log(0.5)];
    expect(
      combineLogP([
        { logP: strange, weight: 1 },
        { logP: ordinary, weight: 9 },
      ]),
    ).toBeCloseTo(Math.log(1e-7), 4);
    expect(
      combineLogP([
        { logP: -5000, weight: 0.1 },
        { logP: ordinary, weight: 0.9 },
      ]),
    ).toBeCloseTo(-5000 + Math.log(10), 6);
  });

  it("of nothing is no evidence", () => expect(combine([])).toBe(0));
});
