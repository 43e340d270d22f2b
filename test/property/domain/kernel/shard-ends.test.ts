// Shifts of any size, age and interval: an episode never recovers while the values are on the new level, does once they are back, and goes on the same after a
// restart in the middle. Kernel and slow twin say the same all along.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EVENT_CLOSE, EVENT_EXCURSION, EVENT_FLAG_ACCEPTED, EVENT_OPEN } from "../../../../src/core/layout/kernel-event.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { acceptLevel } from "../../../../src/domain/detection/ended-episodes.ts";
import { StreamOracle } from "../../../../src/domain/detection/stream-oracle.ts";
import type { ShardEvent } from "../../../../src/domain/kernel/shard-kernel.ts";
import { generator } from "../../../support/generator.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const START = 1_700_000_000_000;
const HOUR_MS = 3_600_000;

interface Shift {
  readonly factor: number;
  readonly variation: number;
  readonly stepMs: number;
  readonly age: number;
  readonly seed: number;
}

/** Twelve standard deviations at least, so that the two levels do not overlap. */
const SHIFTS = fc
  .record({
    factor: fc.double({ min: 2, max: 10, noNaN: true }),
    variation: fc.double({ min: 0.01, max: 0.08, noNaN: true }),
    stepMs: fc.constantFrom(5_000, 10_000, 15_000, 30_000, 60_000),
    age: fc.integer({ min: 12, max: 500 }),
    seed: fc.integer(),
  })
  .filter(({ factor, variation }) => factor - 1 >= 12 * variation);

/** A stream beside its slow twin; a restart takes it through its snapshot. */
class Watched {
  #rig = new ShardRig({ window: 120 });
  #slot = this.#rig.stream();
  readonly #oracle = new StreamOracle({ window: 120, tables: this.#rig.shard.thresholdTables, counter: false, operation: false });
  readonly #stepMs: number;
  #now = START;

  constructor(stepMs: number) {
    this.#stepMs = stepMs;
  }

  feed(count: number, draw: () => number): ShardEvent[] {
    return Array.from({ length: count }).flatMap(() => {
      const value = draw();
      const events = this.#rig.apply(this.#slot, this.#now, value);
      const expected = this.#oracle.apply(this.#now, value);
      expect(events.map(({ kind, flags, startMs, count: n }) => [kind, flags, startMs, n])).toEqual(
        expected.map(({ kind, flags, start, count: n }) => [kind, flags, start, n]),
      );
      this.#now += this.#stepMs;
      return events;
    });
  }

  /** Somebody takes the level of what is open for the usual one. */
  accept(): void {
    acceptLevel(this.#rig.shard.records, this.#slot, this.#now - this.#stepMs);
    this.#oracle.accept(this.#now - this.#stepMs);
  }

  restart(): void {
    const sink = new ByteWriter(4096);
    this.#rig.shard.pack(this.#slot, sink);
    this.#rig = new ShardRig({ window: 120 });
    this.#slot = this.#rig.stream();
    expect(this.#rig.shard.unpack(this.#slot, { bytes: sink.bytes, at: 0, end: sink.at })).toBe(true);
  }
}

/** Standard deviations that no value strays beyond. */
const NOISE_MAX = 2;

function shifted({ factor, variation, stepMs, age, seed }: Shift) {
  const { normal } = generator(seed);
  // What noise does by itself, once in a thousand values, is not asked here.
  const noise = () => variation * Math.max(-NOISE_MAX, Math.min(NOISE_MAX, normal()));
  const usual = () => 100 * (1 + noise());
  const level = () => 100 * (factor + noise());
  const watched = new Watched(stepMs);
  watched.feed(age, usual);
  return { watched, usual, level };
}

const kindsOf = (events: readonly ShardEvent[]) => events.map(({ kind }) => kind);

describe("a shift of a stream of any age", () => {
  it("never recovers on the new level, and recovers once it is back, restarted in the middle or not", () => {
    fc.assert(
      fc.property(SHIFTS, fc.integer({ min: 3, max: 400 }), fc.boolean(), (shift, lasts, restarts) => {
        const { watched, usual, level } = shifted(shift);
        const values = Math.min(lasts, Math.floor((5 * HOUR_MS) / shift.stepMs));
        const first = watched.feed(Math.ceil(values / 2) + 1, level);
        if (restarts) watched.restart();
        const second = watched.feed(Math.floor(values / 2), level);
        expect(kindsOf(first)).toContain(EVENT_OPEN);
        expect(kindsOf([...first, ...second])).not.toContain(EVENT_CLOSE);
        // Of few values the standard deviation may be half of what it is: some of the usual ones are not near then.
        const end = watched.feed(100, usual).find(({ kind }) => kind === EVENT_CLOSE);
        expect(end?.flags ?? EVENT_FLAG_ACCEPTED).not.toBe((end?.flags ?? 0) | EVENT_FLAG_ACCEPTED);
      }),
      { numRuns: 25 },
    );
  });

  it("is accepted at six hours and 24 values, and the way back is no news, restarted in the middle or not", () => {
    const slow = SHIFTS.map((shift) => ({ ...shift, stepMs: 20 * shift.stepMs, age: Math.max(30, shift.age) }));
    fc.assert(
      fc.property(slow, fc.boolean(), (shift, restarts) => {
        const { watched, usual, level } = shifted(shift);
        const values = Math.max(24, Math.ceil((6 * HOUR_MS) / shift.stepMs) + 2);
        const events = watched.feed(Math.floor(values / 2), level);
        if (restarts) watched.restart();
        events.push(...watched.feed(Math.ceil(values / 2) + 2, level));
        const ends = events.filter(({ kind }) => kind === EVENT_CLOSE);
        expect(ends.map(({ flags }) => flags & EVENT_FLAG_ACCEPTED)).toEqual([EVENT_FLAG_ACCEPTED]);
        expect(ends[0]?.mean).toBeGreaterThan(90);
        expect(ends[0]?.mean).toBeLessThan(110);
        expect((ends[0]?.value ?? 0) / (100 * shift.factor)).toBeCloseTo(1, 0);
        watched.feed(20, level);
        if (restarts) watched.restart();
        const back = watched.feed(20, usual);
        expect(kindsOf(back).filter((kind) => kind !== EVENT_EXCURSION)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it("is accepted with the next value once somebody says so, at any age of the shift, and the way back is no news, restarted in the middle or not", () => {
    fc.assert(
      fc.property(SHIFTS, fc.integer({ min: 2, max: 60 }), fc.boolean(), (shift, lasts, restarts) => {
        const { watched, usual, level } = shifted({ ...shift, age: Math.max(30, shift.age) });
        const events = watched.feed(lasts + 1, level);
        watched.accept();
        if (restarts) watched.restart();
        events.push(...watched.feed(1, level));
        const ends = events.filter(({ kind }) => kind === EVENT_CLOSE);
        expect(ends.map(({ flags }) => flags & EVENT_FLAG_ACCEPTED)).toEqual([EVENT_FLAG_ACCEPTED]);
        expect((ends[0]?.value ?? 0) / (100 * shift.factor)).toBeCloseTo(1, 0);
        watched.accept();
        expect(kindsOf(watched.feed(40, level)).filter((kind) => kind === EVENT_CLOSE)).toEqual([]);
        expect(kindsOf(watched.feed(20, usual)).filter((kind) => kind === EVENT_OPEN)).toEqual([]);
      }),
      { numRuns: 25 },
    );
  });

  it("is not accepted by a word that was said before it began", () => {
    const { watched, level } = shifted({ factor: 3, variation: 0.02, stepMs: 10_000, age: 60, seed: 1 });
    watched.accept();
    expect(kindsOf(watched.feed(40, level))).not.toContain(EVENT_CLOSE);
  });
});
