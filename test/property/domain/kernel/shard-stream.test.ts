// What must hold of streams besides their events: corrections of a ring, snapshots at any point, rows of many streams in any batches.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FLAG_COUNTER, SR_INTERVAL, WINDOW_MAX } from "../../../../src/core/layout/stream-record.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import type { ShardEvent } from "../../../../src/domain/kernel/shard-kernel.ts";
import { generator } from "../../../support/generator.ts";
import { type Row, ShardRig } from "../../../support/shard-rig.ts";

const START = 1_700_000_000_000;

/** A noisy series with level changes, spikes and constants: everything that moves an episode. */
function series(seed: number, length: number): number[] {
  const { uniform, normal } = generator(seed);
  let level = 50;
  let constant = false;
  return Array.from({ length }, () => {
    if (uniform() < 0.02) level = 100 * uniform();
    if (uniform() < 0.02) constant = !constant;
    return constant ? Math.round(level) : level + normal() + (uniform() < 0.02 ? 50 : 0);
  });
}

/** Uniform noise: nothing of it is near the threshold. */
function quiet(seed: number, length: number): number[] {
  const { uniform } = generator(seed);
  return Array.from({ length }, () => 1000 * uniform());
}

/** Running totals with resets. */
function totals(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value, i) => {
    sum = i % 97 === 96 ? 0 : sum + Math.abs(value);
    return sum;
  });
}

function ringOf(rig: ShardRig, slot: number): Array<[number, number]> {
  const times = new Float64Array(WINDOW_MAX);
  const values = new Float64Array(WINDOW_MAX);
  const count = rig.shard.records.readRing(slot, times, values);
  return Array.from({ length: count }, (_, i) => [times[i] as number, values[i] as number]);
}

function snapshotOf(rig: ShardRig, slot: number): Uint8Array {
  const sink = new ByteWriter();
  rig.shard.pack(slot, sink);
  return sink.bytes.slice(0, sink.at);
}

function expectExact(rig: ShardRig, slot: number): void {
  const before = rig.statistics(slot);
  rig.kernel.recompute(slot);
  const after = rig.statistics(slot);
  expect(Math.abs(before.m2 - after.m2)).toBeLessThanOrEqual(1e-9 * after.m2);
  expect(Math.abs(before.mean - after.mean)).toBeLessThanOrEqual(1e-9 * Math.max(Math.abs(after.mean), Math.sqrt(after.m2)));
}

const shape = { window: fc.integer({ min: 12, max: 120 }), seed: fc.integer(), counter: fc.boolean() };

describe("shadow refresh", () => {
  it("equals recomputation from the ring after every sample, and recomputing changes no later event", () => {
    fc.assert(
      fc.property(shape.window, shape.seed, (window, seed) => {
        const rig = new ShardRig({ window });
        const [plain, checked] = [rig.stream(), rig.stream()];
        series(seed, 400).forEach((value, i) => {
          const time = START + 10_000 * i;
          const expected = rig.apply(plain, time, value);
          const actual = rig.apply(checked, time, value);
          expect(actual.map((e) => [e.kind, e.startMs, e.flags])).toEqual(expected.map((e) => [e.kind, e.startMs, e.flags]));
          expectExact(rig, checked);
        });
      }),
      { numRuns: 20 },
    );
  });
});

describe("the usual interval", () => {
  it("is the lower median of the window's, at the values after which it is taken anew", () => {
    const steps = fc.array(fc.tuple(fc.constantFrom(1, 2, 10, 15, 60, 4_294_967), fc.integer({ min: 1, max: 150 })), {
      minLength: 2,
      maxLength: 12,
    });
    fc.assert(
      fc.property(fc.constantFrom(40, WINDOW_MAX), steps, shape.seed, (window, runs, seed) => {
        const rig = new ShardRig({ window });
        const slot = rig.stream();
        const { uniform } = generator(seed);
        const intervals = runs.flatMap(([step, length]) => Array.from({ length }, () => 1000 * (uniform() < 0.1 ? 7 : step)));
        const kept: number[] = [0];
        let time = START;
        let usual = 0;
        rig.apply(slot, time, uniform());
        for (const interval of intervals) {
          time += interval;
          kept.push(Math.min(interval, 2 ** 32 - 1));
          rig.apply(slot, time, uniform());
          if (kept.length % 128 === 0 || [2, 3, 5, 9, 17, 33, 65].includes(kept.length)) {
            const sorted = kept.slice(-window).filter((one) => one > 0);
            sorted.sort((a, b) => a - b);
            usual = sorted[(sorted.length - 1) >> 1] as number;
          }
          expect(rig.view.getFloat64(rig.shard.records.address(slot) + SR_INTERVAL, true)).toBe(usual);
        }
      }),
      { numRuns: 100 },
    );
  });
  it("changes with the value that gives the new one half of the window", () => {
    const usualOf = (before: number, after: number, ofAfter: number): number => {
      const rig = new ShardRig({ window: WINDOW_MAX });
      const slot = rig.stream();
      let time = START;
      for (let i = 0; i < 128; i++) {
        rig.apply(slot, time, i % 7);
        time += i < 127 - ofAfter ? before : after;
      }
      return rig.view.getFloat64(rig.shard.records.address(slot) + SR_INTERVAL, true);
    };
    const around = [58, 59, 60, 61, 62];
    expect(around.map((ofAfter) => usualOf(1000, 2000, ofAfter))).toEqual([1000, 1000, 1000, 2000, 2000]);
    expect(around.map((ofAfter) => usualOf(2000, 1000, ofAfter))).toEqual([2000, 2000, 1000, 1000, 1000]);
  });
});

describe("snapshot", () => {
  it("taken and restored at any point gives the same events, bit for bit", () => {
    fc.assert(
      fc.property(shape.window, shape.seed, shape.counter, fc.integer({ min: 0, max: 399 }), (window, seed, counter, at) => {
        const rig = new ShardRig({ window });
        const slot = rig.stream(counter ? FLAG_COUNTER : 0);
        let other = -1;
        const values = counter ? totals(series(seed, 500)) : series(seed, 500);
        values.forEach((value, i) => {
          const time = START + (i % 60 === 59 ? 35_000 : 10_000) + 40_000 * i;
          const expected = rig.apply(slot, time, value).map((event) => ({ ...event, slot: 0 }));
          if (other >= 0) expect(rig.apply(other, time, value).map((event) => ({ ...event, slot: 0 }))).toEqual(expected);
          if (i === at) {
            other = rig.stream();
            const snapshot = snapshotOf(rig, slot);
            const cursor = { bytes: snapshot, at: 0, end: snapshot.length };
            expect([rig.shard.unpack(other, cursor), cursor.at]).toEqual([true, snapshot.length]);
            expect(ringOf(rig, other)).toEqual(ringOf(rig, slot));
          }
        });
        expect(snapshotOf(rig, other)).toEqual(snapshotOf(rig, slot));
        const chunksOf = (which: number): number =>
          rig.chunks.filter((chunk) => chunk.slot === which).reduce((sum, chunk) => sum + chunk.values, 0);
        expect(chunksOf(slot) + rig.shard.records.unchunked(slot)).toBe(counter ? 499 : 500);
      }),
      { numRuns: 60 },
    );
  });
  it("that is cut short or says what cannot be is refused", () => {
    const rig = new ShardRig({ window: 120 });
    const slot = rig.stream();
    for (let i = 0; i < 30; i++) rig.apply(slot, START + 10_000 * i, i / 8);
    const snapshot = snapshotOf(rig, slot);
    const takes = (bytes: Uint8Array) => rig.shard.unpack(rig.stream(), { bytes, at: 0, end: bytes.length });
    for (let end = 0; end < snapshot.length; end++) expect(takes(snapshot.subarray(0, end))).toBe(false);
    const changed = (at: number, to: number) => Uint8Array.from(snapshot, (byte, i) => (i === at ? to : byte));
    expect([takes(changed(0, WINDOW_MAX + 1)), takes(changed(3, 0xff)), takes(snapshot)]).toEqual([false, false, true]);
  });
  it("of a full ring of 3-decimal values takes a quarter of the ring's bytes", () => {
    const rig = new ShardRig({ window: 120 });
    const slot = rig.stream();
    const { normal } = generator(1);
    let value = 500;
    for (let i = 0; i < 300; i++) {
      value += normal();
      rig.apply(slot, START + 10_000 * i, Number(value.toFixed(3)));
    }
    expect(snapshotOf(rig, slot).length).toBeLessThan((12 * WINDOW_MAX) / 4);
  });
});

describe("late values", () => {
  it("leave the ring as if they had come in order, and every value in exactly one chunk", () => {
    fc.assert(
      fc.property(shape.window, shape.seed, fc.integer({ min: 2, max: 12 }), (window, seed, delay) => {
        const rig = new ShardRig({ window });
        const slot = rig.stream();
        const { uniform } = generator(seed);
        const values = series(seed, 300);
        const late = new Set(values.map((_, i) => i).filter((i) => i > 0 && uniform() < 0.1));
        let oneValueChunks = 0;
        const take = (i: number): void => {
          if (START + 10_000 * i > rig.shard.records.lastTimeMs(slot)) {
            rig.apply(slot, START + 10_000 * i, values[i] as number);
            return;
          }
          if (rig.shard.records.isRingFullOfUnchunked(slot)) rig.takeChunk(slot);
          const correction = rig.shard.insertLate(slot, START + 10_000 * i, values[i] as number);
          expect(["stored", "too-old-for-ring"]).toContain(correction.result);
          if (correction.chunked) oneValueChunks++;
          expectExact(rig, slot);
          const again = rig.shard.insertLate(slot, START + 10_000 * i, values[i] as number);
          expect(again.result).toBe(correction.result === "stored" ? "duplicate" : "too-old-for-ring");
        };
        values.forEach((value, i) => {
          if (!late.has(i)) rig.apply(slot, START + 10_000 * i, value);
          if (late.has(i - delay)) take(i - delay);
        });
        const inOrder = values
          .map((value, i): [number, number] => [START + 10_000 * i, value])
          .filter((_, i) => !late.has(i) || i + delay < 300);
        const ring = ringOf(rig, slot);
        expect(ring).toEqual(inOrder.slice(-ring.length));
        const chunked = rig.chunks.reduce((sum, chunk) => sum + chunk.values, 0);
        expect(chunked + oneValueChunks + rig.shard.records.unchunked(slot)).toBe(inOrder.length);
      }),
      { numRuns: 40 },
    );
  });
});

describe("batches", () => {
  it("of rows of many streams, cut anywhere, give what single rows give", () => {
    fc.assert(
      fc.property(shape.seed, fc.integer({ min: 1, max: 700 }), (seed, size) => {
        const [one, many] = [new ShardRig({ window: 60 }), new ShardRig({ window: 60 })];
        const rows: Row[] = [];
        const all = Array.from({ length: 7 }, (_, k) => series(seed + k, 300));
        for (const rig of [one, many]) for (let k = 0; k < 7; k++) rig.stream();
        for (let i = 0; i < 300; i++)
          for (let k = 0; k < 7; k++) rows.push({ ref: k, timeMs: START + 1000 * i, value: (all[k] as number[])[i] as number });
        const expected = rows.flatMap((row) => one.applyRows([row]));
        const actual: ShardEvent[] = [];
        for (let i = 0; i < rows.length; i += size) actual.push(...many.applyRows(rows.slice(i, i + size)));
        expect(actual).toEqual(expected);
        expect(many.kernel.samplesTaken.value).toBe(rows.length);
      }),
      { numRuns: 20 },
    );
  });
  it("in which a stream's rows follow each other leave it as single rows do, bit for bit", () => {
    fc.assert(
      fc.property(shape.window, shape.seed, fc.integer({ min: 2, max: 150 }), (window, seed, run) => {
        const [one, many] = [new ShardRig({ window }), new ShardRig({ window })];
        const all = [series(seed, 600), totals(series(seed + 1, 600)), quiet(seed + 2, 600), totals(quiet(seed + 3, 600))];
        for (const rig of [one, many]) for (const k of all.keys()) rig.stream(k % 2 === 1 ? FLAG_COUNTER : 0);
        for (let from = 0; from < 600; from += run) {
          const rows = all.flatMap((values, ref) =>
            values
              .slice(from, from + run)
              .map((value, i) => ({ ref, timeMs: START + 1000 * (from + i) + (i % 50 === 49 ? 700 : 0), value })),
          );
          expect(many.applyRows(rows)).toEqual(rows.flatMap((row) => one.applyRows([row])));
        }
        for (const slot of all.keys()) {
          expect(snapshotOf(many, slot)).toEqual(snapshotOf(one, slot));
          expect(many.statistics(slot)).toEqual(one.statistics(slot));
          expectExact(many, slot);
        }
        expect(many.kernel.samplesTaken.value).toBe(one.kernel.samplesTaken.value);
      }),
      { numRuns: 30 },
    );
  });
});
