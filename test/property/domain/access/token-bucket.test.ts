import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { TokenBucket } from "../../../../src/domain/access/token-bucket.ts";

/** Requests let in of those sent at these times. */
function admitted(rate: number, timesMs: readonly number[], bucket = new TokenBucket(rate, timesMs[0] ?? 0)): number[] {
  return timesMs.filter((timeMs) => bucket.take(timeMs));
}

const rate = fc.integer({ min: 1, max: 20_000 });

describe("a token bucket", () => {
  it("lets in no more than a second's worth and the rate, in any span of time", () => {
    const gaps = fc.array(fc.double({ min: 0, max: 400, noNaN: true }), { minLength: 1, maxLength: 400 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), gaps, (perSecond, gapsMs) => {
        let atMs = 1e9;
        const times = admitted(
          perSecond,
          gapsMs.map((gapMs) => (atMs += gapMs)),
        );
        for (let from = 0; from < times.length; from++) {
          for (let to = from; to < times.length; to++) {
            const seconds = ((times[to] as number) - (times[from] as number)) / 1000;
            expect(to - from + 1).toBeLessThanOrEqual(perSecond * (1 + seconds) + 1e-3);
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it("lets in everything that keeps to the rate, however it is timed within a second", () => {
    fc.assert(
      fc.property(rate, fc.integer({ min: 1, max: 30 }), fc.double({ min: 0, max: 1e9, noNaN: true }), (perSecond, seconds, startMs) => {
        const bucket = new TokenBucket(perSecond, startMs);
        for (let second = 0; second < seconds; second++) {
          const times = Array.from({ length: Math.min(perSecond, 500) }, () => startMs + second * 1000);
          expect(admitted(perSecond, times, bucket)).toHaveLength(times.length);
        }
      }),
    );
  });

  it("is exact to 1 % over 10 s at 10,000 requests a second, once the second's worth is spent", () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 9_900 }), fc.double({ min: 0, max: 1e10, noNaN: true }), (perSecond, startMs) => {
        const bucket = new TokenBucket(perSecond, startMs);
        while (bucket.take(startMs));
        const times = Array.from({ length: 100_000 }, (_, i) => startMs + (i + 1) / 10);
        expect(Math.abs(admitted(perSecond, times, bucket).length / (10 * perSecond) - 1)).toBeLessThan(0.01);
      }),
      { numRuns: 20 },
    );
  });

  it("takes another rate at once, without a new allowance, and nothing from a clock that goes back", () => {
    const bucket = new TokenBucket(10, 0);
    expect(admitted(10, new Array(20).fill(0), bucket)).toHaveLength(10);
    bucket.setRate(100, 0);
    expect(bucket.take(0)).toBe(false);
    expect(admitted(100, new Array(200).fill(500), bucket)).toHaveLength(50);
    bucket.setRate(5, 10_000);
    expect(admitted(5, new Array(20).fill(10_000), bucket)).toHaveLength(5);
    expect([bucket.take(9_000), bucket.take(0), bucket.isFull(10_100), bucket.isFull(11_000)]).toEqual([false, false, false, true]);
    bucket.take(11_000);
    bucket.giveBack();
    bucket.giveBack();
    expect(admitted(5, new Array(20).fill(11_000), bucket)).toHaveLength(5);
  });
});
