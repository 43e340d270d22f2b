// The shard kernel against its slow twin, sample by sample: the same events, and the same statistics to 1e-9.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finished } from "../../../../src/core/fairness/serial-work.ts";
import { EVENT_RESET } from "../../../../src/core/layout/kernel-event.ts";
import { FLAG_COUNTER, FLAG_OPERATION, PROFILE_ENVIRONMENT, PROFILE_EXCLUDED } from "../../../../src/core/layout/stream-record.ts";
import type { OracleEvent } from "../../../../src/domain/detection/episode-oracle.ts";
import { MATURITIES, type Maturity, maturityOf } from "../../../../src/domain/detection/gates/baseline-maturity.ts";
import { StreamOracle } from "../../../../src/domain/detection/stream-oracle.ts";
import { profileTableSteps } from "../../../../src/domain/detection/thresholds.ts";
import type { ShardEvent } from "../../../../src/domain/kernel/shard-kernel.ts";
import { type Generator, generator } from "../../../support/generator.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

interface Sample {
  readonly timeMs: number;
  readonly value: number;
}

type Shape = (i: number, random: Generator) => number;

/** A walk that begins anew with sample 0. */
function walk(): Shape {
  let at = 0;
  return (i, { normal }) => {
    at = (i === 0 ? 0 : at) + normal();
    return at;
  };
}

/** Values of a stream by kind; `i` counts samples. */
const SHAPES: Readonly<Record<string, Shape>> = {
  noise: (_, { normal }) => 100 + 10 * normal(),
  "noise around 0": (_, { normal }) => normal(),
  steps: (i, { normal }) => (Math.floor(i / 90) % 2) * 300 + 100 + 10 * normal(),
  spikes: (_, { normal, uniform }) => 100 + 10 * normal() + (uniform() < 0.03 ? 200 * normal() : 0),
  bursts: (i, { normal }) => 100 + 10 * normal() + (i % 70 > 62 ? 150 * Math.sign(Math.sin(i)) : 0),
  "heavy tails": (_, { normal, uniform }) => normal() / (0.02 + uniform()),
  "flag with changes": (i) => (Math.floor(i / 50) % 3 === 1 ? 1 : 0),
  "constant with spikes": (_, { uniform }) => (uniform() < 0.05 ? Math.round(10 * uniform()) : 5),
  "constants that change": (i, { uniform }) => Math.floor(i / 40) * (i % 40 === 0 ? 1 + uniform() : 1) * 7.3,
  "small integers": (_, { uniform }) => Math.floor(uniform() * 3),
  walk: walk(),
  ramp: (i, { normal }) => i + 0.1 * normal(),
  "offset 1e9, sd 1e-3": (_, { normal }) => 1e9 + 1e-3 * normal(),
  "offset 1e9 after a jump": (i, { normal }) => (i < 150 ? 0 : 1e9) + normal(),
  "one enormous": (i, { normal }) => (i === 3 || i === 200 ? 1e12 : normal()),
  "beyond every limit": (_, { normal, uniform }) => (uniform() < 0.02 ? 1.7e308 * Math.sign(normal()) : normal()),
};

function samples(shape: Shape, seed: number, length: number): Sample[] {
  const random = generator(seed);
  let timeMs = 1_700_000_000_000;
  const result: Sample[] = [];
  for (let i = 0; i < length; i++) {
    const u = random.uniform();
    // Now and then a repetition, a late one, a correction, a gap.
    if (u < 0.01 && i > 0) result.push(result[result.length - 1] as Sample);
    if (u > 0.01 && u < 0.02) result.push({ timeMs: timeMs - 5_000, value: 1 });
    if (u > 0.02 && u < 0.03) result.push({ timeMs, value: random.normal() });
    timeMs += u > 0.99 ? 300_000 : u > 0.96 ? 35_000 : 10_000 + Math.floor(random.uniform() * 5);
    result.push({ timeMs, value: shape(i, random) });
  }
  return result;
}

/** Cumulative values of increments, with resets. */
function cumulative(gauge: readonly Sample[], seed: number): Sample[] {
  const random = generator(seed ^ 0x5555);
  let sum = 1e6;
  let lastTime = 0;
  return gauge.map(({ timeMs, value }) => {
    if (timeMs <= lastTime) return { timeMs, value: sum - 1 };
    const elapsed = lastTime === 0 ? 10_000 : timeMs - lastTime;
    lastTime = timeMs;
    if (random.uniform() < 0.01) sum = random.uniform() < 0.5 ? 0 : sum / 2;
    sum = Math.min(1e308, sum + Math.round(Math.abs(value) * (Math.min(elapsed, 40_000) / 10_000)));
    return { timeMs, value: sum };
  });
}

function near(actual: number, expected: number, tolerance: number, what: string): void {
  const scale = Math.max(Math.abs(expected), 1e-300);
  if (Math.abs(actual - expected) > tolerance * scale) expect.fail(`${what}: ${actual} instead of ${expected}`);
}

function compareEvents(actual: readonly ShardEvent[], expected: readonly OracleEvent[], what: string): void {
  const brief = (kind: number, time: number, flags: number, start: number, count: number): string =>
    `${kind} at ${time} flags ${flags} from ${start} n ${count}`;
  expect(
    actual.map((e) => brief(e.kind, e.timeMs, e.flags, e.startMs, e.count)),
    what,
  ).toEqual(expected.map((e) => brief(e.kind, e.time, e.flags, e.start, e.count)));
  actual.forEach((event, i) => {
    const other = expected[i] as OracleEvent;
    for (const number of [event.value, event.mean, event.sd, event.rawSd, event.ratio, event.peak])
      expect(Number.isFinite(number), what).toBe(true);
    near(event.value, other.value, 1e-12, `${what} value`);
    near(event.sd, other.sd, 1e-9, `${what} sd`);
    if (Math.abs(event.mean - other.mean) > 1e-9 * Math.max(Math.abs(other.mean), other.sd)) expect.fail(`${what} mean`);
    if (Math.abs(event.ratio - other.ratio) > 1e-8 * Math.max(1, Math.abs(other.ratio)))
      expect.fail(`${what} ratio ${event.ratio} ${other.ratio}`);
    near(event.peak, other.peak, 1e-6, `${what} peak`);
  });
}

function compareStatistics(rig: ShardRig, slot: number, oracle: StreamOracle, what: string): void {
  const { mean, m2, count } = oracle.statistics;
  const actual = rig.statistics(slot);
  if (m2 === 0) expect(actual.m2, what).toBe(0);
  else near(actual.m2, m2, 1e-9, `${what} m2`);
  const sd = Math.sqrt(m2 / Math.max(1, count - 1));
  if (Math.abs(actual.mean - mean) > 1e-9 * Math.max(sd, Math.abs(mean))) expect.fail(`${what} mean ${actual.mean} instead of ${mean}`);
}

/** A rig with profiles 0 (|z| > 3), 1, 2 and 30, and PROFILE_EXCLUDED. */
function profiledRig(window: number): ShardRig {
  const rig = new ShardRig({ window });
  for (const [profile, threshold] of Object.entries(THRESHOLD_OF)) rig.judgeBy(Number(profile), threshold);
  rig.exclude(PROFILE_EXCLUDED);
  return rig;
}

const FLAGS = fc.constantFrom(0, FLAG_OPERATION);
const THRESHOLD_OF: Readonly<Record<number, number>> = { 1: 2, 2: 5, 30: 11.5 };

function run(rig: ShardRig, window: number, flags: number, series: readonly Sample[], what: string): number {
  const counter = (flags & FLAG_COUNTER) !== 0;
  const oracle = new StreamOracle({
    window,
    tables: rig.shard.thresholdTables,
    counter,
    operation: (flags & FLAG_OPERATION) !== 0,
  });
  const slot = rig.stream(flags);
  let events = 0;
  series.forEach(({ timeMs, value }, i) => {
    const label = `${what}, sample ${i}`;
    const expected = oracle.apply(timeMs, value);
    compareEvents(rig.apply(slot, timeMs, value), expected, label);
    compareStatistics(rig, slot, oracle, label);
    events += expected.length;
  });
  return events;
}

/** The start times that a sender tells with its values: of the last reset, with jitter, now and then late, absent or its own time. */
function starts(series: readonly Sample[], seed: number): Array<number | undefined> {
  const random = generator(seed ^ 0x3333);
  let start = (series[0]?.timeMs ?? 0) - Math.floor(random.uniform() * 240_000);
  return series.map(({ timeMs, value }, i) => {
    const before = series[i - 1];
    const fell = before !== undefined && value < before.value;
    const u = random.uniform();
    if ((fell && u < 0.9) || u < 0.01) start = timeMs - Math.floor(random.uniform() * 12_000);
    if (u > 0.97) return undefined;
    if (u > 0.95) return timeMs;
    return u > 0.9 ? start - 120_000 : start + Math.floor(random.uniform() * 1_500);
  });
}

describe("shard kernel and its slow twin", () => {
  it("agree on counters that tell their start time", () => {
    let resets = 0;
    let firsts = 0;
    fc.assert(
      fc.property(fc.constantFrom(12, 40, 120), fc.integer(), fc.constantFrom(0, FLAG_COUNTER), (window, seed, flags) => {
        const rig = new ShardRig({ window });
        const gauge = samples(SHAPES["small integers"] as Shape, seed, 300);
        const series = cumulative(gauge, seed);
        const tables = rig.shard.thresholdTables;
        const oracle = new StreamOracle({ window, tables, counter: flags === FLAG_COUNTER, operation: false });
        const slot = rig.stream(flags);
        starts(series, seed).forEach((startMs, i) => {
          const { timeMs, value } = series[i] as Sample;
          const what = `window ${window} seed ${seed}, sample ${i}`;
          if (startMs !== undefined) {
            oracle.begin(timeMs, startMs);
            expect(rig.applyStart(slot, timeMs, startMs), what).toEqual([]);
            if (i % 3 === 0) expect(rig.applyStart(slot, timeMs, startMs), what).toEqual([]);
          }
          if (i % 7 === 0) {
            oracle.restart(timeMs);
            expect(rig.applyRestart(slot, timeMs), what).toEqual([]);
          }
          const expected = oracle.apply(timeMs, value);
          compareEvents(rig.apply(slot, timeMs, value), expected, what);
          compareStatistics(rig, slot, oracle, what);
          const fell = value < (series[i - 1]?.value ?? 0);
          if (!fell && expected.some(({ kind }) => kind === EVENT_RESET)) resets++;
          if (i === 0 && flags === FLAG_COUNTER && rig.shard.records.count(slot) === 1) firsts++;
        });
      }),
      { numRuns: 60 },
    );
    expect(resets).toBeGreaterThan(20);
    expect(firsts).toBeGreaterThan(3);
  });

  it("D9: agree on the bar of a service of any age, which is by the time of each value", () => {
    const events = new Map<Maturity, number>();
    const tables = finished(profileTableSteps(3, { samplesMin: 12 }));
    fc.assert(
      fc.property(fc.constantFrom(12, 120), fc.integer(), fc.integer({ min: 0, max: 200 }), (window, seed, hoursBefore) => {
        const rig = new ShardRig({ window });
        rig.shard.setProfileTables(PROFILE_ENVIRONMENT, tables);
        const slot = rig.stream();
        const oracle = new StreamOracle({ window, tables: rig.shard.thresholdTables, counter: false, operation: false });
        const series = samples(SHAPES.spikes as Shape, seed, 400).map(({ value }, i) => ({
          timeMs: 1_700_000_000_000 + i * 1_500_000,
          value,
        }));
        const sinceMs = (series[0] as Sample).timeMs - hoursBefore * 3_600_000;
        if (hoursBefore > 0) rig.shard.records.noteServiceSince(slot, sinceMs);
        series.forEach(({ timeMs, value }, i) => {
          const maturity = maturityOf(sinceMs, timeMs);
          oracle.judgeBy(rig.shard.profileTables(PROFILE_ENVIRONMENT, MATURITIES.indexOf(maturity)));
          const expected = oracle.apply(timeMs, value);
          compareEvents(rig.apply(slot, timeMs, value), expected, `window ${window} seed ${seed} known ${hoursBefore} h, sample ${i}`);
          events.set(maturity, (events.get(maturity) ?? 0) + expected.length);
        });
      }),
      { numRuns: 60 },
    );
    for (const maturity of MATURITIES) expect(events.get(maturity)).toBeGreaterThan(4);
  });

  it("agree on streams of different threshold profiles side by side", () => {
    const events = new Map<number, number>();
    fc.assert(
      fc.property(fc.constantFrom(12, 120), fc.integer(), fc.constantFrom(0, FLAG_OPERATION), (window, seed, flags) => {
        const rig = profiledRig(window);
        const series = samples(SHAPES.spikes as Shape, seed, 300);
        const streams = [0, 1, 2, 30, PROFILE_EXCLUDED].map((profile) => {
          const slot = rig.stream(flags);
          rig.shard.records.setProfile(slot, profile);
          const options = { window, tables: rig.shard.profileTables(profile), counter: false, operation: flags === FLAG_OPERATION };
          return { profile, slot, oracle: new StreamOracle(options) };
        });
        series.forEach(({ timeMs, value }, i) => {
          for (const { profile, slot, oracle } of streams) {
            const expected = oracle.apply(timeMs, value);
            compareEvents(rig.apply(slot, timeMs, value), expected, `window ${window} seed ${seed} profile ${profile}, sample ${i}`);
            const judged = expected.filter(({ ratio }) => ratio !== 0).length;
            events.set(profile, (events.get(profile) ?? 0) + judged);
          }
        });
      }),
      { numRuns: 40 },
    );
    expect(events.get(1)).toBeGreaterThan(events.get(0) as number);
    expect(events.get(0)).toBeGreaterThan(events.get(2) as number);
    expect(events.get(2)).toBeGreaterThan(events.get(30) as number);
    expect(events.get(30)).toBeGreaterThan(0);
    expect(events.get(PROFILE_EXCLUDED)).toBe(0);
  });

  for (const [name, shape] of Object.entries(SHAPES)) {
    it(`agree on ${name}`, () => {
      fc.assert(
        fc.property(fc.integer({ min: 12, max: 120 }), fc.integer(), FLAGS, fc.boolean(), (window, seed, flags, confirmation) => {
          const rig = new ShardRig({ window, confirmation });
          run(rig, window, flags, samples(shape, seed, 500), `${name} window ${window} seed ${seed} confirmation ${confirmation}`);
        }),
        { numRuns: 25 },
      );
    });
    it(`agree on a counter of ${name}`, () => {
      fc.assert(
        fc.property(fc.constantFrom(12, 40, 120), fc.integer(), fc.boolean(), (window, seed, confirmation) => {
          const rig = new ShardRig({ window, confirmation });
          const what = `counter of ${name} window ${window} seed ${seed} confirmation ${confirmation}`;
          run(rig, window, FLAG_COUNTER, cumulative(samples(shape, seed, 500), seed), what);
        }),
        { numRuns: 15 },
      );
    });
  }
});
