// Reference values of statsmodels, numpy and scipy (test/golden, each with its tolerance).
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { grangerTest } from "../../../../src/domain/causality/pair-validation.ts";
import { chiSquareTail, fTail } from "../../../../src/domain/causality/probability-tails.ts";
import { driftMeasures } from "../../../../src/domain/drift/distribution-drift.ts";

interface GrangerCases {
  readonly X: ReadonlyArray<readonly number[]>;
  readonly tests: readonly {
    readonly cause: number;
    readonly effect: number;
    readonly by_lag: readonly {
      readonly lag: number;
      readonly F: number;
      readonly p_F: number;
      readonly df_denom: number;
      readonly chi2: number;
      readonly p_chi2: number;
    }[];
  }[];
  readonly f_sf: readonly { readonly x: number; readonly d1: number; readonly d2: number; readonly expected: number }[];
  readonly chi2_sf: readonly { readonly x: number; readonly df: number; readonly expected: number }[];
}

interface DriftCase {
  readonly name: string;
  readonly reference: readonly number[];
  readonly current: readonly number[];
  readonly inner_edges: readonly number[];
  readonly counts_reference: readonly number[];
  readonly counts_current: readonly number[];
  readonly kl_current_vs_reference: number;
  readonly kl_reference_vs_current: number;
  readonly psi: number;
  readonly js_divergence: number;
}

function golden<Cases>(name: string): Cases {
  return (JSON.parse(readFileSync(new URL(`../../../golden/${name}.json`, import.meta.url), "utf8")) as { cases: Cases }).cases;
}

function near(actual: number | undefined, expected: number, relative: number, absolute = 0): void {
  expect(Math.abs((actual ?? Number.NaN) - expected), `${actual} instead of ${expected}`).toBeLessThanOrEqual(
    relative * Math.abs(expected) + absolute,
  );
}

const granger = golden<GrangerCases>("granger");

describe("Granger's test", () => {
  it.each(granger.tests)("agrees with statsmodels: $cause -> $effect", ({ cause, effect, by_lag }) => {
    const column = (place: number) => Float64Array.from(granger.X, (row) => row[place] as number);
    for (const expected of by_lag) {
      const test = grangerTest(column(cause), column(effect), expected.lag);
      near(test?.f, expected.F, 1e-7);
      near(test?.p, expected.p_F, 1e-5, 1e-12);
      near(test?.chiSquare, expected.chi2, 1e-7);
      near(test?.chiSquareP, expected.p_chi2, 1e-5, 1e-12);
      expect(test?.denominator).toBe(expected.df_denom);
    }
  });

  it("has the tails of F and of chi-square", () => {
    for (const { x, d1, d2, expected } of granger.f_sf) near(fTail(x, d1, d2), expected, 1e-9);
    for (const { x, df, expected } of granger.chi2_sf) near(chiSquareTail(x, df), expected, 1e-9);
  });
});

describe("distances of distributions", () => {
  it.each(golden<readonly DriftCase[]>("kl_drift"))("agree with scipy: $name", (one) => {
    const measures = driftMeasures(one.counts_reference, one.counts_current);
    near(measures.klDivergence, one.kl_current_vs_reference, 1e-10);
    near(measures.klReverse, one.kl_reference_vs_current, 1e-10);
    near(measures.psi, one.psi, 1e-10);
    near(measures.jsDivergence, one.js_divergence, 1e-10);
  });
});
