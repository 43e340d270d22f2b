// Isolation Forest against scikit-learn (test/golden/isolation_forest.json) and by its own properties.
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
  averagePathLength,
  IsolationForest,
  scoreOfDepth,
  seededRandom,
} from "../../../../src/domain/detection/multivariate/isolation-forest.ts";

interface AucSet {
  readonly name: string;
  readonly X: ReadonlyArray<readonly number[]>;
  readonly y: readonly number[];
  readonly sklearn_auc: { readonly mean: number };
}

interface Golden {
  readonly c_n: { readonly n: readonly number[]; readonly expected: readonly number[] };
  readonly score_of_mean_depth: ReadonlyArray<{ readonly n: number; readonly mean_depth: number; readonly expected: number }>;
  readonly auc_sets: readonly AucSet[];
}

const { cases } = JSON.parse(readFileSync(new URL("../../../golden/isolation_forest.json", import.meta.url), "utf8")) as { cases: Golden };

function rowsOf(vectors: ReadonlyArray<readonly number[]>) {
  return { values: Float64Array.from(vectors.flat()), width: vectors[0]?.length ?? 0 };
}

/** Share of pairs of a strange and an ordinary vector in which the strange one scores higher. */
function auc(scores: readonly number[], labels: readonly number[]): number {
  const strange = scores.filter((_, i) => labels[i] === 1);
  const ordinary = scores.filter((_, i) => labels[i] !== 1);
  let right = 0;
  for (const a of strange) for (const b of ordinary) right += a > b ? 1 : a === b ? 0.5 : 0;
  return right / (strange.length * ordinary.length);
}

function near(actual: number, expected: number): void {
  expect(Math.abs(actual - expected), `${actual} instead of ${expected}`).toBeLessThanOrEqual(1e-12 * Math.abs(expected));
}

describe("isolation forest", () => {
  it("average path length c(n)", () => {
    cases.c_n.n.forEach((n, i) => {
      near(averagePathLength(n), cases.c_n.expected[i] as number);
    });
  });

  it.each(cases.score_of_mean_depth)("score of depth $mean_depth of $n", ({ n, mean_depth: depth, expected }) =>
    near(scoreOfDepth(depth, n), expected),
  );

  it.each(cases.auc_sets)("separates $name as well as scikit-learn", ({ X, y, sklearn_auc: reference }) => {
    const rows = rowsOf(X);
    let sum = 0;
    for (let seed = 0; seed < 20; seed++) {
      const forest = IsolationForest.grow(rows, { random: seededRandom(seed) });
      sum += auc(
        X.map((_, i) => forest.score(rows.values, i * rows.width)),
        y,
      );
    }
    expect(sum / 20).toBeGreaterThanOrEqual(reference.mean - 0.02);
  });

  it("equal seeds make equal forests, other seeds others", () => {
    const [set] = cases.auc_sets as [AucSet];
    const rows = rowsOf(set.X);
    const score = (seed: number): number => IsolationForest.grow(rows, { random: seededRandom(seed) }).score(rows.values);
    expect(score(7)).toBe(score(7));
    expect(score(7)).not.toBe(score(8));
  });

  it("constant vectors are all alike, and numbers that single precision cannot tell apart do no harm", () => {
    const random = seededRandom(1);
    const constant = IsolationForest.grow({ values: new Float64Array(300).fill(5), width: 3 }, { random });
    expect(constant.score(new Float64Array([5, 5, 5]))).toBeCloseTo(0.5, 6);
    const close = Float64Array.from({ length: 200 }, (_, i) => 1e15 + i / 4);
    const forest = IsolationForest.grow({ values: close, width: 1 }, { random });
    expect(forest.score(close, 100)).toBeGreaterThan(0);
  });

  it("a forest takes 6 bytes a node, 8 where a tree has more than a byte can say, and at most 2 psi - 1 nodes a tree", () => {
    const [set] = cases.auc_sets as [AucSet];
    const forest = IsolationForest.grow(rowsOf(set.X), { trees: 50, sample: 128, random: seededRandom(1) });
    expect(forest.bytes).toBe(50 * 4 + 6 * forest.nodes.cuts.length);
    expect(forest.nodes.cuts.length).toBeLessThanOrEqual(50 * 255);
    const large = IsolationForest.grow(rowsOf(set.X), { trees: 50, sample: 129, random: seededRandom(1) });
    expect(large.bytes).toBe(50 * 4 + 8 * large.nodes.cuts.length);
  });
});
