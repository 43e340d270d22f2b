// The width of the bucket that a quantile was estimated in: how it is told, what the kernel keeps of it, and which verdicts it holds back.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SR_WIDTH } from "../../../../src/core/layout/stream-record.ts";
import { readWord, writeWord } from "../../../../src/domain/anomaly/verdict-codec.ts";
import { ByteReader } from "../../../../src/domain/codec/byte-reader.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { passesGates, zScoreVerdict } from "../../../../src/domain/detection/verdict.ts";
import { classicQuantile, classicWidth, quantileOf, widthOf } from "../../../../src/domain/distribution/quantile.ts";
import { SnapshotReader, StreamPacker } from "../../../../src/domain/kernel/stream-snapshot.ts";
import { explicitPoint, exponentialPoint } from "../../../support/distribution-points.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const BOUNDS = [1, 2, 5, 10];
const point = explicitPoint([0.5], BOUNDS);

describe("the width of a bucket", () => {
  it.each([
    [0.4, 1],
    [1, 1],
    [1.01, 1],
    [2, 1],
    [3, 3],
    [5, 3],
    [9, 5],
    [10, 5],
  ])("of explicit bounds is that around the estimate %f", (estimate, width) => {
    expect(widthOf(point, estimate)).toBeCloseTo(width, 12);
    expect(classicWidth(estimate, [...BOUNDS, Number.POSITIVE_INFINITY], BOUNDS.length + 1)).toBeCloseTo(width, 12);
  });

  it("ends where the least and the largest value lie, and is not known behind the last bound without one", () => {
    expect(widthOf({ ...point, min: 2.5, max: 4 }, 3)).toBe(1.5);
    expect(widthOf({ ...point, max: 60 }, 30)).toBe(50);
    expect(widthOf(point, 11)).toBe(0);
    expect(widthOf(explicitPoint([], [-1, 5]), -1)).toBe(0);
    expect(classicWidth(11, [10, Number.POSITIVE_INFINITY], 2)).toBe(0);
    expect(widthOf(point, Number.NaN)).not.toBeGreaterThan(0);
  });

  it("of exponential buckets grows with them", () => {
    const one = exponentialPoint([3, -3], 0, 0.25);
    expect([3, 4, 4.001, -3, 0.1].map((estimate) => widthOf(one, estimate))).toEqual([2, 2, 4, 2, 0.5]);
    expect(widthOf(exponentialPoint([3], 0, 0.25), 0.1)).toBe(0.25);
    expect(widthOf({ ...one, max: 3 }, 3)).toBe(1);
  });

  it("holds the estimate, whatever was counted", () => {
    const samples = fc.array(fc.double({ min: 0.01, max: 40, noNaN: true }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(samples, fc.integer({ min: -1, max: 6 }), fc.double({ min: 0.01, max: 0.99, noNaN: true }), (values, scale, q) => {
        const exponential = exponentialPoint(values, scale);
        const estimate = quantileOf(exponential, q);
        const base = 2 ** (2 ** -scale);
        const width = widthOf(exponential, estimate);
        expect(width).toBeGreaterThanOrEqual(estimate * (1 - 1 / base) * (1 - 1e-6));
        expect(width).toBeLessThanOrEqual(estimate * (base - 1) * (1 + 1e-5));
        const bounds = [...BOUNDS, Number.POSITIVE_INFINITY];
        const rising = bounds.map((bound) => values.filter((value) => value <= bound).length);
        const classic = classicQuantile(q, bounds, rising, bounds.length);
        const at = classicWidth(classic, bounds, bounds.length);
        expect([1, 3, 5]).toContain(at);
      }),
      { numRuns: 300 },
    );
  });
});

describe("the width that a stream keeps", () => {
  const widthAt = (rig: ShardRig, slot: number) => rig.view.getFloat64(rig.shard.records.address(slot) + SR_WIDTH, true);

  it("is the widest of late, and a marker that comes again changes nothing", () => {
    const rig = new ShardRig({ window: 60 });
    const slot = rig.stream();
    rig.applyWidth(slot, 1_000, 3.25);
    expect(rig.shard.records.width(slot)).toBe(3.25);
    rig.apply(slot, 1_000, 7);
    rig.applyWidth(slot, 1_000, 9);
    rig.applyWidth(slot, 500, 9);
    expect(widthAt(rig, slot)).toBe(3.25);
    rig.applyWidth(slot, 2_000, 1);
    expect(widthAt(rig, slot)).toBe(3.25 * (15 / 16));
    rig.apply(slot, 2_000, 7);
    rig.applyWidth(slot, 3_000, 10);
    expect(widthAt(rig, slot)).toBe(10);
    expect(rig.shard.records.samples(slot)).toBe(2);
  });

  it("is what a checkpoint gives back", () => {
    const rig = new ShardRig({ window: 60 });
    const [one, other] = [rig.stream(), rig.stream()];
    rig.applyWidth(one, 1_000, 2 / 3);
    rig.apply(one, 1_000, 5);
    const packer = new StreamPacker(rig.shard.records, rig.kernel);
    const writer = new ByteWriter();
    packer.pack(one, writer);
    expect(packer.unpack(other, { bytes: writer.bytes, at: 0, end: writer.at })).toBe(true);
    expect(widthAt(rig, other)).toBe(widthAt(rig, one));
    expect(widthAt(rig, other)).toBeCloseTo(2 / 3, 10);
    const reader = new SnapshotReader();
    expect(reader.decode({ bytes: writer.bytes, at: 0, end: writer.at })).toBe(true);
    expect(reader.header.getFloat64(SR_WIDTH, true)).toBe(widthAt(rig, one));
  });
});

describe("the gate of the bucket's width", () => {
  const verdictOf = (value: number, bucketWidth: number) =>
    zScoreVerdict({
      value,
      mean: 10,
      sd: 0.01,
      rawSd: 0.01,
      ratio: (value - 10) / 0.01,
      count: 120,
      window: [9.99, 10, 10.01],
      ageSeconds: 60,
      declared: true,
      constant: false,
      afterGap: false,
      reset: false,
      threshold: 3,
      minimumSamples: 12,
      operation: false,
      percent: false,
      bucketWidth,
      layers: ["statistical"],
    });

  it.each([
    [11.25, false],
    [11.2, false],
    [11.2500001, true],
    [8.75, false],
    [8.7499999, true],
  ])("holds back a move to %f that is not larger than half of it", (value, passes) => {
    const verdict = verdictOf(value, 2.5);
    const gate = verdict.gates.find(({ name }) => name === "bucket_width");
    expect(gate).toEqual({ name: "bucket_width", passed: passes, value: Math.abs(value - 10), limit: 1.25 });
    expect(verdict.suppressed_by).toBe(passes ? null : "within_bucket_width");
    expect(passesGates(verdict)).toBe(passes);
  });

  it("is asked of quantiles of histograms alone", () => {
    expect(verdictOf(10.1, 0).gates.map(({ name }) => name)).not.toContain("bucket_width");
    expect(passesGates(verdictOf(10.1, 0))).toBe(true);
  });

  it("keeps the numbers of the words before its own", () => {
    const writer = new ByteWriter();
    writeWord(writer, "bucket_width");
    writeWord(writer, "direction");
    expect([...writer.bytes.slice(0, writer.at)]).toEqual([14, 13]);
    const reader = new ByteReader(writer.bytes.slice(0, writer.at), "cut off");
    expect([readWord(reader), readWord(reader)]).toEqual(["bucket_width", "direction"]);
  });
});
