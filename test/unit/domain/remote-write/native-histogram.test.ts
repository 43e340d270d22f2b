import { describe, expect, it } from "vitest";
import { histogramSeries } from "../../../../src/domain/remote-write/histogram-series.ts";
import { decodeNativeHistogram, NATIVE_BUCKETS_MAX, NativeHistogramError } from "../../../../src/domain/remote-write/native-histogram.ts";
import { encodeBody2, encodeHistogram } from "../../../support/remote-write-2-body.ts";
import { bytesField, labelField } from "../../../support/remote-write-body.ts";

const TIME = 1_795_220_000_000;

/** Bounds of the buckets of one side, the way the specification of native histograms says: bucket i covers (base^(i-1), base^i]. */
function upperBounds(schema: number, offset: number, counts: readonly number[]): number[] {
  return counts.map((_, i) => 2 ** (2 ** -schema * (offset + i + 1)));
}

describe("native histograms", () => {
  it("become exponential ones: bucket i of Prometheus is bucket i - 1 of OTLP, gaps are 0, deltas are summed", () => {
    const message = encodeHistogram({
      countInt: 12,
      sum: 18.4,
      schema: 1,
      zeroThreshold: 0.001,
      zeroCountInt: 2,
      positiveSpans: [
        { offset: 0, length: 2 },
        { offset: 1, length: 2 },
      ],
      positiveDeltas: [1, 1, -1, 0],
      negativeSpans: [{ offset: -3, length: 1 }],
      negativeDeltas: [5],
      timestamp: TIME,
      startTimestamp: TIME - 5,
    });
    const histogram = decodeNativeHistogram(message, 7);
    expect(histogram).toMatchObject({
      kind: "exponential",
      temporality: "cumulative",
      timeMs: TIME,
      startMs: TIME - 5,
      count: 12,
      sum: 18.4,
      scale: 1,
      zeroCount: 2,
      zeroThreshold: 0.001,
      positive: { offset: -1, counts: [1, 2, 0, 1, 1] },
      negative: { offset: -4, counts: [5] },
      isStale: false,
    });
    // Bucket 0 ends at 1, bucket 1 at the base.
    expect(upperBounds(1, histogram.positive.offset, histogram.positive.counts).slice(0, 2)).toEqual([1, Math.SQRT2]);
  });

  it("of schema -53 become explicit ones with their custom bounds", () => {
    const message = encodeHistogram({
      countInt: 6,
      sum: 1,
      schema: -53,
      positiveSpans: [
        { offset: 0, length: 1 },
        { offset: 1, length: 1 },
      ],
      positiveDeltas: [2, 2],
      customValues: [0.1, 1, 10],
      timestamp: TIME,
    });
    expect(decodeNativeHistogram(message, 9)).toMatchObject({
      kind: "explicit",
      startMs: 9,
      bounds: [0.1, 1, 10],
      bucketCounts: [2, 0, 4, 0],
    });
  });

  it("of floats keep their counts; a stale one is known by the bits of its sum", () => {
    const floats = {
      countFloat: 1.5,
      sum: 1,
      schema: 0,
      positiveSpans: [{ offset: 3, length: 2 }],
      positiveCounts: [0.5, 1],
      timestamp: TIME,
    };
    expect(decodeNativeHistogram(encodeHistogram(floats), 0)).toMatchObject({
      count: 1.5,
      positive: { offset: 2, counts: [0.5, 1] },
      startMs: 0,
    });
    const stale = Uint8Array.from([0x19, 2, 0, 0, 0, 0, 0, 0xf0, 0x7f]);
    expect(decodeNativeHistogram(stale, 0)).toMatchObject({ isStale: true, sum: null, positive: { counts: [] } });
    const unknownSum = decodeNativeHistogram(encodeHistogram({ ...floats, sum: Number.NaN }), 0);
    expect(unknownSum).toMatchObject({ isStale: false, sum: null });
  });

  it("that cannot be are refused with a word on why", () => {
    const spans = (...positiveSpans: Array<{ offset: number; length: number }>) => ({
      schema: 0,
      positiveSpans,
      positiveDeltas: [1],
      timestamp: TIME,
    });
    const cases: ReadonlyArray<readonly [fields: object, why: RegExp]> = [
      [{ schema: 9 }, /schema is 9/],
      [spans({ offset: 0, length: 2 }), /2 buckets, but 1 counts/],
      [spans({ offset: 0, length: 1 }, { offset: -1, length: 0 }), /overlap/],
      [spans({ offset: 0, length: 1 }, { offset: NATIVE_BUCKETS_MAX, length: 0 }), /span more than/],
      [{ schema: 0, positiveSpans: [{ offset: 0, length: 1 }], positiveDeltas: [-1] }, /not a number from 0 up/],
      [{ schema: -53, positiveSpans: [{ offset: 1, length: 1 }], positiveDeltas: [1], customValues: [] }, /beyond its 0 custom values/],
      [{ schema: 0, positiveSpans: [{ offset: 0, length: 20_000 }], positiveCounts: new Array(20_000).fill(1) }, /more than 4096 buckets/],
    ];
    for (const [fields, why] of cases) {
      const decode = () => decodeNativeHistogram(encodeHistogram(fields), 0);
      expect(decode).toThrow(NativeHistogramError);
      expect(decode).toThrow(why);
    }
    expect(() => decodeNativeHistogram(Uint8Array.from([0x08]), 0)).toThrow(NativeHistogramError);
    expect(() => decodeNativeHistogram(Uint8Array.from([0x18, 1]), 0)).toThrow(/wire type/);
  });

  it("are found in bodies of both protocols, with their labels and start", () => {
    const histogram = encodeHistogram({ countInt: 1, timestamp: TIME });
    const first = Uint8Array.from([
      ...bytesField(1, labelField("__name__", "none")),
      ...bytesField(1, [...labelField("__name__", "h"), ...bytesField(4, histogram), ...bytesField(4, histogram)]),
    ]);
    expect([...histogramSeries(first, 1)].map(({ histograms, createdMs }) => [histograms.length, createdMs])).toEqual([[2, 0]]);
    const labels = [["__name__", "h"]] as const;
    const second = encodeBody2([
      { labels, samples: [{ value: 1, time: TIME }] },
      { labels, samples: [], histograms: [{ countInt: 1, timestamp: TIME }], created: TIME - 9 },
    ]);
    const [series] = [...histogramSeries(second, 2)];
    expect([series?.histograms.map((each) => Buffer.from(each)), series?.createdMs]).toEqual([[histogram], TIME - 9]);
  });
});
