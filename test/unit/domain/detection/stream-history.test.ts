// A stream's history from chunks and what its engine holds, against a map of the samples by time.
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { wholeSamples } from "../../../../src/domain/detection/multivariate/stream-history.ts";
import { sampleChunk } from "../../../support/sample-chunk.ts";

type Sample = readonly [timeMs: number, value: number];

function chunkOf(samples: readonly Sample[]): Uint8Array {
  const column = (place: 0 | 1) => Float64Array.from(samples, (sample) => sample[place]);
  return sampleChunk(column(0), column(1));
}

/** `newestFirst` are chunks as they are found; the samples held win over all of them, and a newer chunk over an older one. */
function historyOf(held: readonly Sample[], newestFirst: ReadonlyArray<readonly Sample[]>, fromMs: number) {
  return {
    times: Float64Array.from(held, ([time]) => time),
    values: Float64Array.from(held, ([, value]) => value),
    stored: { chunks: newestFirst.map(chunkOf), fromMs },
  };
}

function slowTwin(held: readonly Sample[], newestFirst: ReadonlyArray<readonly Sample[]>, fromMs: number) {
  const known = new Map<number, number>();
  for (const samples of [held, ...newestFirst]) {
    for (const [time, value] of samples) if (time >= fromMs && !known.has(time)) known.set(time, value);
  }
  const times = Float64Array.from(known.keys()).sort();
  return { times, values: times.map((time) => known.get(time) as number) };
}

describe("a stream's history", () => {
  it("is what it is where nothing is stored", () => {
    const samples = { times: Float64Array.of(1, 2), values: Float64Array.of(3, 4) };
    expect(wholeSamples(samples)).toBe(samples);
  });

  it("puts chunks that follow each other before what is held", () => {
    const held: Sample[] = [
      [50, 5],
      [60, 6],
    ];
    const older: Sample[] = [
      [10, 1],
      [20, 2],
    ];
    const newer: Sample[] = [[30, 3]];
    const { times, values } = wholeSamples(historyOf(held, [newer, older], 20));
    expect([...times]).toEqual([20, 30, 50, 60]);
    expect([...values]).toEqual([2, 3, 5, 6]);
  });

  it("has one sample a time, of the newest place, whatever overlaps", () => {
    const random = seededRandom(7);
    for (let round = 0; round < 200; round++) {
      const run = (): Sample[] => {
        const begin = Math.floor(random() * 300);
        return Array.from({ length: 1 + Math.floor(random() * 60) }, (_, i) => [(begin + i) * 1000, Math.round(random() * 1e6)] as const);
      };
      const held = random() < 0.2 ? [] : run();
      const chunks = Array.from({ length: Math.floor(random() * 8) }, run);
      const fromMs = Math.floor(random() * 200_000);
      const heldFrom = held.filter(([time]) => time >= fromMs);
      expect(wholeSamples(historyOf(heldFrom, chunks, fromMs))).toEqual(slowTwin(heldFrom, chunks, fromMs));
    }
  });

  it("says of bytes that are no chunk that they do not decode", () => {
    const { stored, ...held } = historyOf([], [[[1, 1]]], 0);
    (stored.chunks[0] as Uint8Array)[0] = 0;
    expect(() => wholeSamples({ ...held, stored })).toThrow("does not decode");
  });
});
