// The parts that long baselines are made of: drifting moments, thinned samples, short means, usual intervals, hours of the day.
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { DriftingMoments, MOMENTS_LENGTH } from "../../../../src/domain/detection/rolling/drifting-moments.ts";
import { RECENT_LENGTH, RecentValues } from "../../../../src/domain/detection/rolling/recent-values.ts";
import { SAMPLE_LENGTH, SAMPLE_VALUES, ThinnedSample } from "../../../../src/domain/detection/rolling/thinned-sample.ts";
import { INTERVAL_LENGTH, UsualInterval } from "../../../../src/domain/detection/rolling/usual-interval.ts";
import { HOUR_PROFILE_LENGTH, HourProfile } from "../../../../src/domain/detection/seasonal/hour-profile.ts";
import { windowStatistics } from "../../../../src/domain/detection/welford.ts";

const HOUR_MS = 3_600_000;

function sampleOf(values: readonly number[]): ThinnedSample {
  const sample = new ThinnedSample(new Float32Array(SAMPLE_VALUES), new Float64Array(SAMPLE_LENGTH));
  for (const value of values) sample.add(value);
  return sample;
}

describe("drifting moments", () => {
  it("are exact until the memory is full", () => {
    const values = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5];
    const moments = new DriftingMoments(new Float64Array(MOMENTS_LENGTH));
    for (const value of values) moments.add(value, values.length);
    const { mean, m2 } = windowStatistics(Float64Array.from(values));
    expect(moments.mean).toBeCloseTo(mean, 12);
    expect(moments.sd).toBeCloseTo(Math.sqrt(m2 / values.length), 12);
    expect(moments.z(10)).toBeCloseTo((10 - mean) / Math.sqrt(m2 / values.length), 12);
  });

  it("forget with a time constant of their memory", () => {
    const moments = new DriftingMoments(new Float64Array(MOMENTS_LENGTH));
    for (let i = 0; i < 100; i++) moments.add(0, 100);
    for (let i = 0; i < 100; i++) moments.add(1, 100);
    expect(moments.mean).toBeCloseTo(1 - (1 - 1 / 100) ** 100, 12);
  });

  it("say nothing below 8 values", () => {
    const moments = new DriftingMoments(new Float64Array(MOMENTS_LENGTH));
    for (let i = 0; i < 7; i++) moments.add(i, 100);
    expect(moments.z(1000)).toBe(0);
    moments.add(7, 100);
    expect(moments.z(1000)).toBeGreaterThan(100);
  });

  it("stay finite on a constant", () => {
    const moments = new DriftingMoments(new Float64Array(MOMENTS_LENGTH));
    for (let i = 0; i < 20; i++) moments.add(5, 100);
    expect(moments.z(5)).toBe(0);
    expect(moments.z(5.005)).toBeCloseTo(1, 6);
  });
});

describe("thinned sample", () => {
  it("has the exact median and MAD while it is not full", () => {
    const sample = sampleOf([9, 1, 4, 4, 100]);
    expect(sample.median).toBe(4);
    expect(sample.mad).toBe(3);
    expect(sample.z(4 + 1.4826 * 3)).toBeCloseTo(1, 6);
  });

  it("has them at every length, of two middle values the upper", () => {
    const random = seededRandom(5);
    const values = Array.from({ length: SAMPLE_VALUES - 1 }, () => Math.round(100 * random()) / 8);
    const upperMiddle = (of: readonly number[]) => of.toSorted((a, b) => a - b)[of.length >> 1] as number;
    for (let length = 1; length < SAMPLE_VALUES; length++) {
      const taken = values.slice(0, length);
      const sample = sampleOf(taken);
      const median = upperMiddle(taken);
      expect([sample.median, sample.mad]).toEqual([median, upperMiddle(taken.map((value) => Math.abs(value - median)))]);
    }
  });

  it("spans a past of thousands of values with its 128", () => {
    const random = seededRandom(3);
    const sample = sampleOf(Array.from({ length: 5000 }, () => random()));
    expect(sample.length).toBeLessThan(SAMPLE_VALUES);
    expect(sample.length).toBeGreaterThanOrEqual(SAMPLE_VALUES / 2);
    expect(Math.abs(sample.median - 0.5)).toBeLessThan(0.15);
    expect(Math.abs(sample.mad - 0.25)).toBeLessThan(0.1);
  });

  it("gives up what is older than 128 strides of 64", () => {
    const sample = sampleOf([...new Array<number>(20_000).fill(1), ...new Array<number>(128 * 64).fill(2)]);
    expect(sample.median).toBe(2);
    expect(sample.mad).toBe(0);
  });

  it("takes values that single precision cannot hold", () => {
    const sample = sampleOf(new Array<number>(10).fill(1e300));
    expect(Number.isFinite(sample.z(1e300))).toBe(true);
  });
});

describe("recent values", () => {
  it("mean of the newest few, of fewer while there are no more", () => {
    const recent = new RecentValues(new Float64Array(RECENT_LENGTH));
    expect(recent.mean(3)).toBe(0);
    recent.add(4);
    expect(recent.mean(3)).toBe(4);
    for (const value of [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13]) recent.add(value);
    expect(recent.newest).toBe(13);
    expect(recent.mean(3)).toBe(12);
    expect(recent.mean(12)).toBe(7.5);
  });
});

describe("usual interval", () => {
  const intervalOf = (times: readonly number[]): number => {
    const interval = new UsualInterval(new Float64Array(INTERVAL_LENGTH));
    for (const time of times) interval.add(time);
    return interval.ms;
  };

  it("is a minute before it is known, then the distance of the samples", () => {
    expect(intervalOf([])).toBe(60_000);
    expect(intervalOf([5000])).toBe(60_000);
    expect(intervalOf([0, 300_000])).toBe(300_000);
  });

  it("is moved little by a gap, and follows a new cadence", () => {
    expect(intervalOf([0, 1000, 2000, 500_000, 501_000, 502_000])).toBe(1000);
    expect(intervalOf(Array.from({ length: 100 }, (_, i) => (i < 10 ? i * 1000 : 9000 + (i - 9) * 10_000)))).toBe(10_000);
  });
});

describe("hour profile", () => {
  const MONDAY = 4 * 24 * HOUR_MS; // 1970-01-05
  const profileOf = (values: ReadonlyArray<readonly [hour: number, value: number]>): HourProfile => {
    const profile = new HourProfile(new Float64Array(HOUR_PROFILE_LENGTH));
    for (const [hour, value] of values) profile.add(MONDAY + hour * HOUR_MS, value, HOUR_MS);
    return profile;
  };

  it("knows an hour from its third value on, and no other", () => {
    expect(
      profileOf([
        [0, 7],
        [24, 7],
      ]).expected(MONDAY, -1),
    ).toBeCloseTo((2 * 7 - 12) / 14, 12);
    const profile = profileOf([
      [0, 7],
      [24, 7],
      [48, 7],
    ]);
    expect(profile.expected(MONDAY + HOUR_MS - 1, -1)).toBe(7);
    expect(profile.expected(MONDAY + HOUR_MS, -1)).toBe(-1);
  });

  it("keeps weekends apart from working days, each drawn towards both", () => {
    const days = Array.from({ length: 28 }, (_, day) => [day * 24, day % 7 >= 5 ? 2 : 10] as const);
    const profile = profileOf(days);
    const friday = profile.expected(MONDAY + 4 * 24 * HOUR_MS, -1);
    const [saturday, sunday] = [5, 6].map((day) => profile.expected(MONDAY + day * 24 * HOUR_MS, -1)) as [number, number];
    expect(saturday).toBe(sunday);
    expect(friday).toBeGreaterThan(8);
    expect(friday).toBeLessThan(10);
    expect(saturday).toBeLessThan(7);
    expect(saturday).toBeGreaterThan(2);
  });

  it("takes times before 1970", () => {
    const profile = new HourProfile(new Float64Array(HOUR_PROFILE_LENGTH));
    for (let i = 0; i < 3; i++) profile.add(-1, 3, HOUR_MS);
    expect(profile.expected(23 * HOUR_MS, -1)).toBeCloseTo((12 * 3) / 12, 12);
  });
});
