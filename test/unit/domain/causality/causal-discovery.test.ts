// Links among generated series whose causes are known, and among series that have none.
import { describe, expect, it } from "vitest";
import { discoverLinks } from "../../../../src/domain/causality/causal-discovery.ts";
import { validatePair } from "../../../../src/domain/causality/pair-validation.ts";
import { findDrift } from "../../../../src/domain/drift/distribution-drift.ts";
import { type Generator, generator } from "../../../support/generator.ts";

/** Bins that hold as much of the reference each. */
const BINS = 10;
const OPTIONS = { stepMs: 60_000, lagMax: 10 };

function binCounts(values: Float64Array, edges: readonly number[]): Float64Array {
  const counts = new Float64Array(edges.length + 1);
  for (const value of values) {
    const bin = edges.findIndex((edge) => value < edge);
    const index = bin < 0 ? edges.length : bin;
    counts[index] = (counts[index] as number) + 1;
  }
  return counts;
}

/** a -> b after 3, b -> c after 5; d by itself. All share a daily season. */
function chain(seed: number, length = 720): Float64Array[] {
  const random = generator(seed);
  const series = Array.from({ length: 4 }, () => new Float64Array(length + 20));
  const [a, b, c, d] = series as [Float64Array, Float64Array, Float64Array, Float64Array];
  for (let t = 10; t < length + 20; t++) {
    a[t] = 0.5 * (a[t - 1] as number) + random.normal();
    b[t] = 0.3 * (b[t - 1] as number) + 0.6 * (a[t - 3] as number) + random.normal();
    c[t] = 0.3 * (c[t - 1] as number) - 0.6 * (b[t - 5] as number) + random.normal();
    d[t] = 0.7 * (d[t - 1] as number) + random.normal();
  }
  return series.map((values) => values.subarray(20).map((value, t) => 100 + value + 3 * Math.sin((2 * Math.PI * t) / 1440)));
}

function independent(random: Generator, count: number, length: number): Float64Array[] {
  return Array.from({ length: count }, () => {
    const [own, height, phase] = [0.9 * random.uniform(), 1 + 5 * random.uniform(), 6 * random.uniform()];
    let x = 0;
    return Float64Array.from({ length }, (_, t) => {
      x = own * x + random.normal();
      return 50 + x + height * Math.sin((2 * Math.PI * t) / 1440 + phase);
    });
  });
}

describe("discovery of causes", () => {
  it("finds none among metrics that share the jobs of the hour, and the one that there is beside them", () => {
    const [a, b, , d] = chain(6) as [Float64Array, Float64Array, Float64Array, Float64Array];
    const job = (at: number) => (t: number) => (t % 60 >= at && t % 60 < at + 3 ? 12 : 0);
    const shared = [a, b, d].map((values, place) => values.map((value, t) => value + job(2 * place)(t)));
    expect(discoverLinks(shared, OPTIONS).map(({ cause, effect, lag }) => [cause, effect, lag])).toEqual([[0, 1, 3]]);
    expect(validatePair(shared[0] as Float64Array, shared[2] as Float64Array, OPTIONS)?.isCausal).toBe(false);
  });

  it("finds the links of a chain with their lags, and no link from its beginning to its end", () => {
    const links = discoverLinks(chain(1), OPTIONS).map(({ cause, effect, lag }) => [cause, effect, lag]);
    expect(links.sort()).toEqual([
      [0, 1, 3],
      [1, 2, 5],
    ]);
  });

  it("finds nothing among independent series with one season, nor in constants", () => {
    let found = 0;
    for (let seed = 0; seed < 10; seed++) found += discoverLinks(independent(generator(seed), 10, 720), OPTIONS).length;
    expect(found).toBeLessThanOrEqual(9);
    expect(discoverLinks([new Float64Array(300).fill(1), new Float64Array(300).fill(2)], OPTIONS)).toEqual([]);
    expect(discoverLinks([], OPTIONS)).toEqual([]);
  });

  it("does not take two wandering levels for cause and effect", () => {
    let found = 0;
    for (let seed = 0; seed < 20; seed++) {
      const random = generator(100 + seed);
      const walks = Array.from({ length: 2 }, () => {
        let x = 0;
        return Float64Array.from({ length: 500 }, () => (x += random.normal()));
      });
      found += discoverLinks(walks, OPTIONS).length;
    }
    expect(found).toBeLessThanOrEqual(1);
  });
});

describe("validation of a pair", () => {
  it("confirms a cause with its lag, and refuses the other direction", () => {
    const [a, b, , d] = chain(2) as [Float64Array, Float64Array, Float64Array, Float64Array];
    expect(validatePair(a, b, OPTIONS)).toMatchObject({ isCausal: true, lag: 3, isFeedback: false });
    expect(validatePair(b, a, OPTIONS)?.isCausal).toBe(false);
    expect(validatePair(d, b, OPTIONS)?.isCausal).toBe(false);
    expect(validatePair(new Float64Array(300), b, OPTIONS)).toBeUndefined();
  });
});

describe("drift of a distribution", () => {
  it("is found in 300 samples moved by half a standard deviation, and not in samples that are not, however few or many", () => {
    const random = generator(5);
    const reference = Float64Array.from({ length: 2000 }, () => random.normal());
    const sorted = reference.toSorted();
    const edges = Array.from({ length: BINS - 1 }, (_, i) => sorted[Math.floor(((i + 1) * sorted.length) / BINS)] as number);
    const counts = binCounts(reference, edges);
    const rounds = 200;
    const found = (samples: number, shift: number) => {
      let drifts = 0;
      for (let round = 0; round < rounds; round++) {
        const current = Float64Array.from({ length: samples }, () => random.normal() + shift);
        drifts += Number(findDrift(counts, binCounts(current, edges), 8).isDrift);
      }
      return drifts / rounds;
    };
    expect(found(300, 0.5)).toBeGreaterThan(0.95);
    expect(found(30, 0)).toBeLessThan(0.01);
    expect(found(300, 0)).toBeLessThan(0.01);
    expect(found(20_000, 0.05)).toBe(0);
  });
});
