import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { type Distribution, distributionProblem, EMPTY_DISTRIBUTION } from "../../../../src/domain/distribution/distribution.ts";
import { readDistribution, writeDistribution } from "../../../../src/domain/distribution/distribution-coding.ts";
import { intervalBetween } from "../../../../src/domain/distribution/interval.ts";
import { type Placed, PointHistory } from "../../../../src/domain/distribution/point-history.ts";
import { quantileOf } from "../../../../src/domain/distribution/quantile.ts";
import { explicitPoint, exponentialPoint } from "../../../support/distribution-points.ts";
import { generator } from "../../../support/generator.ts";

const BOUNDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
const START_MS = Date.UTC(2026, 0, 5, 12);

const sample = fc.double({ min: 1e-3, max: 2000, noNaN: true });
const samples = fc.array(sample, { minLength: 1, maxLength: 80 });
const quantile = fc.constantFrom(0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1);

/** The value of which rank q * n falls on. */
function exact(values: readonly number[], q: number): number {
  return [...values].sort((a, b) => a - b)[Math.max(0, Math.ceil(q * values.length) - 1)] as number;
}

function encode(point: Distribution): Uint8Array {
  const sink = new ByteWriter();
  writeDistribution(sink, point);
  return sink.bytes.slice(0, sink.at);
}

function decode(bytes: Uint8Array): Distribution | undefined {
  return readDistribution({ bytes, at: 0, end: bytes.length });
}

describe("the estimate of a quantile", () => {
  it("lies within the bucket that the value is in, and within the extremes, where they are known", () => {
    fc.assert(
      fc.property(samples, quantile, fc.boolean(), (values, q, known) => {
        const extremes = known ? { min: Math.min(...values), max: Math.max(...values) } : {};
        const wanted = exact(values, q);
        const bucket = BOUNDS.findIndex((bound) => wanted <= bound);
        const estimate = quantileOf({ ...explicitPoint(values, BOUNDS), ...extremes }, q);
        const low = bucket < 0 ? 1000 : (BOUNDS[bucket - 1] ?? 0);
        const high = bucket < 0 ? (known ? Math.max(...values) : 1000) : (BOUNDS[bucket] as number);
        expect(estimate).toBeGreaterThanOrEqual(Math.min(low, high));
        expect(estimate).toBeLessThanOrEqual(high);
        if (!known) return;
        expect(estimate).toBeGreaterThanOrEqual(extremes.min as number);
        expect(estimate).toBeLessThanOrEqual(extremes.max as number);
      }),
    );
  });

  it("is off by less than a bucket's ratio with exponential buckets, on both sides of zero", () => {
    const either = fc.array(fc.tuple(sample, fc.boolean()), { minLength: 1, maxLength: 80 });
    fc.assert(
      fc.property(either, quantile, fc.integer({ min: -2, max: 8 }), (given, q, scale) => {
        const values = given.map(([value, isNegative]) => (isNegative ? -value : value));
        const wanted = exact(values, q);
        const estimate = quantileOf(exponentialPoint(values, scale), q);
        const base = 2 ** (2 ** -scale);
        expect(Math.sign(estimate)).toBe(Math.sign(wanted));
        expect(Math.max(estimate / wanted, wanted / estimate)).toBeLessThanOrEqual(base * (1 + 1e-9));
      }),
    );
  });
});

describe("what was added between two cumulative points", () => {
  const cumulative = (point: Distribution, timeMs: number): Distribution => ({ ...point, temporality: "cumulative", timeMs, startMs: 1 });

  it("is the point of the samples in between", () => {
    fc.assert(
      fc.property(samples, samples, (before, after) => {
        const all = [...before, ...after];
        const { added } = intervalBetween(cumulative(explicitPoint(before, BOUNDS), 10), cumulative(explicitPoint(all, BOUNDS), 20));
        expect(added.bucketCounts).toEqual(explicitPoint(after, BOUNDS).bucketCounts);
        expect([added.count, added.timeMs, added.temporality]).toEqual([after.length, 20, "delta"]);
      }),
    );
  });

  it("is so too when the sender has made its exponential buckets wider, or its zero bucket", () => {
    const scales = fc.tuple(fc.integer({ min: -2, max: 6 }), fc.integer({ min: 0, max: 4 }));
    // Bounds of buckets at each of these scales: a sender widens its zero bucket by whole buckets.
    const thresholds = fc.constantFrom(0, 16 ** -2, 16);
    fc.assert(
      fc.property(samples, samples, scales, thresholds, quantile, (before, after, [scale, steps], threshold, q) => {
        const all = [...before, ...after];
        const first = cumulative(exponentialPoint(before, scale + steps, 0), 10);
        const second = cumulative(exponentialPoint(all, scale, threshold), 20);
        const { added, restart } = intervalBetween(first, second);
        expect([added.count, restart]).toEqual([after.length, "none"]);
        const held = added.zeroCount + added.positive.counts.reduce((sum, count) => sum + count, 0);
        expect(held).toBe(after.length);
        if (threshold > 0) return;
        const alone = exponentialPoint(after, scale);
        expect(quantileOf(added, q)).toBeCloseTo(quantileOf(alone, q), 9);
      }),
    );
  });

  it("is the later point after a restart, which its start, its count or a bucket shows", () => {
    const one = cumulative(explicitPoint([1, 1, 30], BOUNDS), 10_000);
    const later = cumulative(explicitPoint([3, 3, 3, 3, 3], BOUNDS), 20_000);
    const fewer = cumulative(explicitPoint([3], BOUNDS), 20_000);
    expect(intervalBetween(one, { ...later, startMs: 15_000 })).toEqual({
      added: { ...later, startMs: 15_000, temporality: "delta" },
      restart: "told",
    });
    for (const point of [later, fewer])
      expect(intervalBetween(one, point)).toEqual({ added: { ...point, temporality: "delta" }, restart: "guessed" });
  });

  it("has no buckets when the bounds have changed", () => {
    const { added } = intervalBetween(cumulative(explicitPoint([1], BOUNDS), 10), cumulative(explicitPoint([1, 7], [5]), 20));
    expect([added.count, added.sum, added.bucketCounts]).toEqual([1, 7, []]);
    expect(quantileOf(added, 0.5)).toBeNaN();
  });
});

describe("the coding of a point", () => {
  const count = fc.oneof(fc.nat(), fc.constant(2 ** 53 - 1), fc.double({ min: 0, max: 2 ** 64, noNaN: true }));
  const real = fc.oneof(fc.constant(null), fc.double({ noNaN: true, noDefaultInfinity: true }));
  const buckets = fc.record({ offset: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }), counts: fc.array(count, { maxLength: 40 }) });
  const head = {
    temporality: fc.constantFrom("delta" as const, "cumulative" as const),
    timeMs: fc.integer({ min: 1, max: 2 ** 45 }),
    count,
    sum: real,
    min: real,
    max: real,
    isStale: fc.boolean(),
  };
  const explicit = fc.record({ ...head, bucketCounts: fc.array(count, { maxLength: 60 }) }).map((given) => {
    const bounds = given.bucketCounts.slice(1).map((_, i) => i * 1.5 - 7);
    return { ...EMPTY_DISTRIBUTION, ...given, bounds };
  });
  const exponential = fc
    .record({ ...head, scale: fc.integer({ min: -11, max: 20 }), zeroCount: count, positive: buckets, negative: buckets })
    .map((given) => ({ ...EMPTY_DISTRIBUTION, ...given, kind: "exponential" as const, zeroThreshold: 0.25 }));
  const quantiles = fc.array(fc.record({ quantile: fc.double({ min: 0, max: 1, noNaN: true }), value: fc.double() }), { maxLength: 20 });
  const summary = fc.record({ ...head, quantiles }).map((given) => ({ ...EMPTY_DISTRIBUTION, ...given, kind: "summary" as const }));

  it("comes back as it was, and nothing that is cut off does", () => {
    const point = fc.tuple(fc.oneof(explicit, exponential, summary), fc.nat());
    fc.assert(
      fc.property(point, fc.nat(), ([given, age], cut) => {
        const startMs = age % 3 === 0 ? 0 : Math.max(1, given.timeMs - age);
        expect(distributionProblem(given)).toBeUndefined();
        const bytes = encode({ ...given, startMs });
        expect(decode(bytes)).toEqual({ ...given, startMs });
        expect(decode(bytes.subarray(0, cut % bytes.length))).toBeUndefined();
      }),
    );
  });

  it("is refused where counts, bounds, scales or quantiles are none", () => {
    const problems: Array<Partial<Distribution>> = [
      { count: Number.NaN },
      { count: -1 },
      { bounds: [1, 1], bucketCounts: [0, 0, 0] },
      { bounds: [Number.NaN], bucketCounts: [0, 0] },
      { bounds: [1], bucketCounts: [0] },
      { bounds: [1], bucketCounts: [0, -1] },
      { bounds: Array.from({ length: 1024 }, (_, i) => i), bucketCounts: new Array(1025).fill(0) },
      { kind: "exponential", scale: 21 },
      { kind: "exponential", scale: 0.5 },
      { kind: "exponential", positive: { offset: 2 ** 40, counts: [1] } },
      { kind: "exponential", negative: { offset: 0, counts: [Number.POSITIVE_INFINITY] } },
      { kind: "exponential", zeroCount: -2 },
      { kind: "exponential", positive: { offset: 0, counts: new Array(1025).fill(1) } },
      { kind: "summary", quantiles: [{ quantile: 1.5, value: 1 }] },
      { kind: "summary", quantiles: new Array(33).fill({ quantile: 0.5, value: 1 }) },
    ];
    for (const problem of problems) expect(distributionProblem({ ...EMPTY_DISTRIBUTION, ...problem })?.reason).toBe("invalid_value");
  });
});

describe("the newest points of a series", () => {
  /** Counts by time as the last word on them said. */
  class Reported {
    readonly counts = new Map<number, number>();
    readonly history = new PointHistory();

    take(point: Distribution): Placed {
      return this.history.take(point, encode(point), ({ added }) => this.counts.set(added.timeMs, added.count));
    }
  }

  /** Six restarts, some of which only the counts show. */
  function points(random: () => number): Distribution[] {
    let count = 0;
    let startMs = START_MS;
    return Array.from({ length: 60 }, (_, i) => {
      const timeMs = START_MS + (i + 1) * 10_000;
      if (i % 10 === 9) {
        count = 0;
        if (random() < 0.5) startMs = timeMs - 5_000;
      }
      count += 1 + Math.floor(random() * 20);
      return { ...EMPTY_DISTRIBUTION, timeMs, startMs, count, bounds: [], bucketCounts: [] };
    });
  }

  it("say the same whatever the order within eight points, however often each comes, and whenever they were saved", () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { uniform } = generator(seed);
      const given = points(uniform);
      const inOrder = new Reported();
      for (const point of given) expect(inOrder.take(point)).toBe("taken");
      let reported = new Reported();
      const order = given.map((point, i) => ({ point, at: i + uniform() * 4 })).sort((a, b) => a.at - b.at);
      order.forEach(({ point }, i) => {
        expect(reported.take(point)).toBe("taken");
        const again = (order[Math.max(0, i - Math.floor(uniform() * 20))] as (typeof order)[number]).point;
        expect(["known", "late"]).toContain(reported.take(again));
        if (uniform() > 0.2) return;
        const next = new Reported();
        for (const [timeMs, count] of reported.counts) next.counts.set(timeMs, count);
        next.history.restore(reported.history.texts, reported.history.isTrimmed);
        reported = next;
      });
      expect([...reported.counts].sort(([a], [b]) => a - b)).toEqual([...inOrder.counts]);
    }
  });

  it("leave a first point out unless counting has just begun, and a jump after a fall that no restart explains", () => {
    const at = (i: number, count: number, startMs = 0): Distribution => ({
      ...EMPTY_DISTRIBUTION,
      timeMs: START_MS + i * 10_000,
      startMs,
      count,
    });
    const old = new Reported();
    old.take(at(0, 500, START_MS - 3600_000));
    expect([...old.counts]).toEqual([]);
    const young = new Reported();
    young.take(at(0, 5, START_MS - 60_000));
    expect([...young.counts]).toEqual([[START_MS, 5]]);
    const twins = new Reported();
    for (let i = 0; i < 6; i++) twins.take(at(i, 1000 + 10 * i));
    twins.take(at(6, 900));
    expect(twins.counts.has(START_MS + 60_000)).toBe(false);
    twins.take(at(7, 912));
    expect(twins.counts.get(START_MS + 70_000)).toBe(12);
  });

  it("take a corrected point, and none that is older than five minutes", () => {
    const reported = new Reported();
    const at = (i: number, count: number): Distribution => ({ ...EMPTY_DISTRIBUTION, timeMs: START_MS + i * 100_000, count });
    for (let i = 0; i < 5; i++) reported.take(at(i, 10 * i));
    expect(reported.take(at(3, 35))).toBe("taken");
    expect([reported.counts.get(at(3, 0).timeMs), reported.counts.get(at(4, 0).timeMs)]).toEqual([15, 5]);
    expect(reported.take(at(0.5, 3))).toBe("late");
    expect(reported.take(at(3, 35))).toBe("known");
  });
});
