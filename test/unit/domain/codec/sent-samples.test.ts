// Series from their chunks: what came anew or late, and what older versions kept.
import { describe, expect, it } from "vitest";
import { CHUNK_BYTES_MAX, encodeChunkApart, encodeCountedChunk, judgedSamplesOf } from "../../../../src/domain/codec/sample-chunk.ts";
import { SentSamples } from "../../../../src/domain/codec/sent-samples.ts";
import { sampleChunk } from "../../../support/sample-chunk.ts";

const out = new Uint8Array(CHUNK_BYTES_MAX);
type Samples = ReadonlyArray<readonly [time: number, value: number]>;
const timesOf = (samples: Samples) => Float64Array.from(samples, ([time]) => time);
const valuesOf = (samples: Samples) => Float64Array.from(samples, ([, value]) => value);
const plain = (samples: Samples) => sampleChunk(timesOf(samples), valuesOf(samples));
const apart = (meaning: "sent" | "deltas", samples: Samples) =>
  out.slice(0, encodeChunkApart(meaning, timesOf(samples), valuesOf(samples), samples.length, out, 0));
const counted = (anchor: number, gapMs: number, samples: Samples) =>
  out.slice(0, encodeCountedChunk({ anchor, gapMs }, timesOf(samples), valuesOf(samples), samples.length, out, 0));

function read(isCounter: boolean, ...chunks: readonly Uint8Array[]) {
  const samples = new SentSamples(isCounter);
  for (const chunk of chunks) expect(samples.add(chunk)).toBe(true);
  const { timesMs, values, hasSums } = samples.finish();
  return { samples: Array.from(timesMs, (time, index) => [time, values[index]]), hasSums };
}

describe("chunks of a counter", () => {
  it("are sums from what they count from, which was a sample too", () => {
    const first = counted(1000, 15, [
      [30, 15],
      [45, 15],
    ]);
    const second = counted(1030, 15, [[60, 30]]);
    const samples = [
      [15, 1000],
      [30, 1015],
      [45, 1030],
      [60, 1060],
    ];
    expect(read(true, first, second)).toEqual({ samples, hasSums: false });
    expect(read(true, second, first, second)).toEqual({ samples, hasSums: false });
  });

  it("go on from a value that was sent in place of a sum, and not from a NaN", () => {
    const chunk = counted(100, 10, [
      [20, 10],
      [30, 4],
      [40, 1],
    ]);
    const samples = [
      [10, 100],
      [20, 110],
      [25, Number.NaN],
      [30, 4],
      [40, 5],
    ];
    expect(read(true, chunk, apart("sent", [[30, 4]]), apart("sent", [[25, Number.NaN]]), apart("deltas", [[30, 4]])).samples).toEqual(
      samples,
    );
  });

  it("begin with a first value that counting began with", () => {
    expect(read(true, counted(Number.NaN, 0, [[20, 7]])).samples).toEqual([[20, 7]]);
  });

  it("of older versions are running sums that end where those of this version begin, and say so", () => {
    const old = [
      plain([
        [10, 1],
        [20, 2],
      ]),
      plain([[30, 3]]),
    ];
    expect(read(true, ...old)).toEqual({
      samples: [
        [10, 1],
        [20, 3],
        [30, 6],
      ],
      hasSums: true,
    });
    expect(read(true, ...old, counted(106, 10, [[40, 4]]))).toEqual({
      samples: [
        [10, 101],
        [20, 103],
        [30, 106],
        [40, 110],
      ],
      hasSums: true,
    });
  });
});

describe("chunks of a gauge", () => {
  it("are its values, of one time the last, with what was sent beside them", () => {
    const chunks = [
      plain([
        [10, 1],
        [30, 3],
      ]),
      plain([[20, 2]]),
      plain([[30, 4]]),
      apart("sent", [[25, Number.POSITIVE_INFINITY]]),
    ];
    expect(read(false, ...chunks)).toEqual({
      samples: [
        [10, 1],
        [20, 2],
        [25, Number.POSITIVE_INFINITY],
        [30, 4],
      ],
      hasSums: false,
    });
  });
});

describe("a chunk", () => {
  it("of a form that is not known is none", () => {
    const chunk = plain([[10, 1]]);
    expect(new SentSamples(false).add(Uint8Array.from([0, 128, ...chunk]))).toBe(false);
    expect(new SentSamples(false).add(Uint8Array.from([0]))).toBe(false);
  });

  it("says how many samples detection reads of it", () => {
    const three: Samples = [
      [1, 1],
      [2, 2],
      [3, 0.5],
    ];
    expect(
      [plain(three), counted(5, 1, three), counted(0.3, 0, three), apart("deltas", three), apart("sent", three)].map(judgedSamplesOf),
    ).toEqual([3, 3, 3, 3, 0]);
  });
});
