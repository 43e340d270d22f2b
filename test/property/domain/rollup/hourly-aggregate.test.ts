// Roll-ups against a slow twin: maps of samples by stream and hour.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HOUR_MS } from "../../../../src/core/time/durations.ts";
import { ChunkBlock } from "../../../../src/domain/codec/chunk-block.ts";
import type { PendingChunk } from "../../../../src/domain/codec/chunk-block-builder.ts";
import { CHUNK_BYTES_MAX, encodeSampleChunk } from "../../../../src/domain/codec/sample-chunk.ts";
import { decimalSum, decodeHours, encodeHours, HOURS_BYTES_MAX, HOURS_MAX, Hours } from "../../../../src/domain/rollup/hour-column.ts";
import { HourlyAggregate } from "../../../../src/domain/rollup/hourly-aggregate.ts";
import { RollupBlock } from "../../../../src/domain/rollup/rollup-block.ts";
import { chunkBlock } from "../../../support/chunk-block.ts";

const START_HOUR = 490_000;
const START_MS = START_HOUR * HOUR_MS;

interface Sample {
  readonly stream: number;
  readonly timeMs: number;
  readonly value: number;
}

const streamId = (stream: number) => new Uint8Array(16).fill(stream, 0, 8).fill(7, 8);

function chunkOf(samples: readonly Sample[]): PendingChunk {
  const out = new Uint8Array(CHUNK_BYTES_MAX);
  const times = Float64Array.from(samples, ({ timeMs }) => timeMs);
  const values = Float64Array.from(samples, ({ value }) => value);
  const chunk = out.slice(0, encodeSampleChunk(times, values, samples.length, out, 0));
  return { streamId: streamId(samples[0]?.stream as number), firstMs: times[0] as number, lastMs: times.at(-1) as number, chunk };
}

/** Chunks of ascending samples, as an engine makes them; some are single late or replaced values. */
const chunks = fc
  .record({
    stream: fc.integer({ min: 0, max: 5 }),
    startMs: fc.integer({ min: 0, max: 30 * HOUR_MS }),
    steps: fc.array(fc.integer({ min: 1, max: HOUR_MS }), { maxLength: 60 }),
    value: fc.integer({ min: -100_000, max: 100_000 }),
  })
  .map(({ stream, startMs, steps, value }) => {
    let timeMs = START_MS + startMs;
    return [0, ...steps].map((step, at): Sample => {
      timeMs += step;
      return { stream, timeMs, value: (value + at * 7) / 1000 };
    });
  });

interface HourTotal {
  count: number;
  sum: number;
  least: number;
  greatest: number;
}

/** By "stream hour". Inside a block the chunk that stands later wins where two have a time. */
function slowTotals(blocks: ReadonlyArray<ReadonlyArray<readonly Sample[]>>, fromHour: number): Map<string, HourTotal> {
  const totals = new Map<string, HourTotal>();
  for (const block of blocks) {
    const ordered = [...block].sort((a, b) => (a[0] as Sample).timeMs - (b[0] as Sample).timeMs);
    const byTime = new Map(ordered.flat().map((sample) => [`${sample.stream} ${sample.timeMs}`, sample]));
    for (const { stream, timeMs, value } of byTime.values()) {
      const hour = Math.floor(timeMs / HOUR_MS);
      if (hour < fromHour) continue;
      const key = `${stream} ${hour}`;
      const total = totals.get(key) ?? { count: 0, sum: 0, least: Number.POSITIVE_INFINITY, greatest: Number.NEGATIVE_INFINITY };
      totals.set(key, {
        count: total.count + 1,
        sum: total.sum + value,
        least: Math.min(total.least, value),
        greatest: Math.max(total.greatest, value),
      });
    }
  }
  return totals;
}

function foldedTotals(fold: HourlyAggregate): Map<string, HourTotal> {
  const totals = new Map<string, HourTotal>();
  const hours = new Hours();
  for (const value of fold.finish()) {
    if (value === undefined) continue;
    const block = RollupBlock.open(value.block) as RollupBlock;
    expect([block.firstHour, block.lastHour, block.firstStream, block.lastStream]).toEqual([
      value.firstHour,
      value.lastHour,
      value.firstStream,
      value.lastStream,
    ]);
    for (let stream = 0; stream < 6; stream++) {
      for (const piece of block.piecesOf(streamId(stream))) {
        expect(decodeHours(piece, hours)).toBe(true);
        for (let at = 0; at < hours.length; at++) {
          const key = `${stream} ${hours.hours[at]}`;
          expect(totals.has(key)).toBe(false);
          totals.set(key, {
            count: hours.counts[at] as number,
            sum: hours.sums[at] as number,
            least: hours.least[at] as number,
            greatest: hours.greatest[at] as number,
          });
        }
      }
    }
  }
  return totals;
}

describe("the aggregate of blocks into hours", () => {
  it("has count, sum, least and greatest of every stream and hour, however samples lie in chunks and blocks", () => {
    const blocks = fc.array(fc.array(chunks, { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(blocks, fc.integer({ min: 0, max: 20 }), fc.constantFrom(1, 300, 100_000), (given, skipped, blockBytes) => {
        const fold = new HourlyAggregate({ fromHour: START_HOUR + skipped, blockBytes });
        for (const block of given) for (const _ of fold.add(ChunkBlock.open(chunkBlock(block.map(chunkOf))) as ChunkBlock));
        const expected = slowTotals(given, START_HOUR + skipped);
        expect(fold.entries).toBe(expected.size);
        expect(fold.samples).toBe([...expected.values()].reduce((sum, { count }) => sum + count, 0));
        const aggregated = foldedTotals(fold);
        expect([...aggregated.keys()].sort()).toEqual([...expected.keys()].sort());
        for (const [key, { count, sum, least, greatest }] of expected) {
          expect(aggregated.get(key)).toMatchObject({ count, least, greatest });
          expect(aggregated.get(key)?.sum).toBeCloseTo(sum, 9);
        }
      }),
      { numRuns: 200 },
    );
  });

  it("keeps the time of a stream's newest sample, and splits what is longer than a piece", () => {
    const samples = Array.from({ length: 600 }, (_, at): Sample => ({ stream: 1, timeMs: START_MS + at * HOUR_MS + 1234.5, value: at }));
    const fold = new HourlyAggregate({ fromHour: 0, blockBytes: 100_000 });
    for (let from = 0; from < samples.length; from += 120)
      for (const _ of fold.add(ChunkBlock.open(chunkBlock([chunkOf(samples.slice(from, from + 120))])) as ChunkBlock));
    const [value] = [...fold.finish()];
    const pieces = [...(RollupBlock.open(value?.block as Uint8Array) as RollupBlock).piecesOf(streamId(1))];
    const hours = new Hours();
    const ends = pieces.map((piece) => (decodeHours(piece, hours) ? [hours.length, hours.lastMs] : []));
    expect(ends).toEqual([
      [HOURS_MAX, START_MS + HOURS_MAX * HOUR_MS - 1],
      [HOURS_MAX, START_MS + 2 * HOURS_MAX * HOUR_MS - 1],
      [600 - 2 * HOURS_MAX, START_MS + 599 * HOUR_MS + 1234],
    ]);
  });
});

describe("hours as bytes", () => {
  it("come back as they were, and anything cut off or changed is refused or gives numbers, never an exception", () => {
    const hour = fc.record({ count: fc.integer({ min: 1, max: 4000 }), sum: fc.double(), least: fc.double(), greatest: fc.double() });
    fc.assert(
      fc.property(fc.array(hour, { minLength: 1, maxLength: HOURS_MAX }), fc.nat(HOUR_MS - 1), fc.nat(), (list, lastMs, damage) => {
        const hours = new Hours();
        hours.length = list.length;
        list.forEach(({ count, sum, least, greatest }, at) => {
          hours.hours[at] = START_HOUR + 2 * at;
          hours.counts[at] = count;
          hours.sums[at] = sum;
          hours.least[at] = count === 1 ? sum : least;
          hours.greatest[at] = count === 1 ? sum : greatest;
        });
        if (list.every(({ count }) => count === 1)) for (const column of [hours.least, hours.greatest]) column.set(hours.sums);
        hours.lastMs = (START_HOUR + 2 * (list.length - 1)) * HOUR_MS + lastMs;
        const out = new Uint8Array(HOURS_BYTES_MAX);
        const bytes = out.slice(0, encodeHours(hours, out, 0));
        const back = new Hours();
        expect(decodeHours(bytes, back)).toBe(true);
        expect([back.length, back.lastMs]).toEqual([hours.length, hours.lastMs]);
        for (const column of ["hours", "counts", "sums", "least", "greatest"] as const)
          expect(back[column].subarray(0, back.length)).toEqual(hours[column].subarray(0, back.length));
        expect(decodeHours(bytes.subarray(0, damage % bytes.length), back)).toBe(false);
        bytes[damage % bytes.length] = (bytes[damage % bytes.length] as number) ^ (1 + (damage % 255));
        decodeHours(bytes, back);
      }),
      { numRuns: 300 },
    );
  });

  it("have decimal sums where the sum is one but for rounding", () => {
    const values = Array.from({ length: 360 }, (_, at) => (100_000 + at * 37) / 1000);
    const sum = values.reduce((total, value) => total + value, 0);
    const exact = values.reduce((total, value) => total + Math.round(value * 1000), 0) / 1000;
    expect(sum).not.toBe(exact);
    expect(decimalSum(sum, 360, 113.283)).toBe(exact);
    expect(decimalSum(Math.PI, 1, Math.PI)).toBe(Math.PI);
    expect(decimalSum(1e300, 3, 1e300)).toBe(1e300);
  });
});
