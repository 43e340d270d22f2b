// A family of classic buckets follows the start times that its buckets' senders tell.
import { describe, expect, it } from "vitest";
import { BucketFamily } from "../../../../../src/actors/engine/distributions/bucket-family.ts";
import type { DerivedValue } from "../../../../../src/actors/engine/distributions/derived-quantiles.ts";
import { readFamily, writeFamily } from "../../../../../src/actors/engine/distributions/family-state.ts";
import { ByteReader } from "../../../../../src/domain/codec/byte-reader.ts";
import { ByteWriter } from "../../../../../src/domain/codec/byte-writer.ts";

const NAME = { tenant: "t", environment: "prod", serviceId: "s", metricName: "lat", attributes: {} };
const BOUNDS = [1, 2, Number.POSITIVE_INFINITY];

function rig() {
  const medians: Array<readonly [timeMs: number, value: number, isRestart: boolean]> = [];
  const derived = {
    write: (suffix: string, { timeMs, value, isRestart = false }: DerivedValue) => {
      if (suffix === ".p50") medians.push([timeMs, value, isRestart]);
    },
    end: () => undefined,
  };
  const make = (identity: string) => new BucketFamily(identity, NAME, 0, derived as never);
  const take = (family: BucketFamily, timeMs: number, counts: readonly number[], began = false) => {
    counts.forEach((count, i) => family.take(family.bucket(BOUNDS[i] as number), timeMs, count, began));
    family.settle();
  };
  return { medians, make, take };
}

describe("a family of buckets", () => {
  it("counts a first time whole when counting is young, and nothing of one whose start is not known", () => {
    const { medians, make, take } = rig();
    take(make("old"), 10, [4, 4, 4]);
    take(make("young"), 20, [4, 4, 4], true);
    expect(medians).toEqual([[20, 0.5, false]]);
  });

  it("counts whole after a restart that starts tell though no count falls, from a checkpoint too", () => {
    const { medians, make, take } = rig();
    const family = make("one");
    take(family, 10, [4, 4, 4]);
    take(family, 20, [4, 8, 8], true);
    take(family, 30, [4, 12, 12]);
    const writer = new ByteWriter();
    writeFamily(writer, family);
    const again = readFamily(new ByteReader(writer.bytes.subarray(0, writer.at), "cut off"), make);
    expect(again.rows.map(({ began }) => began)).toEqual([false, true, false]);
    expect(medians).toEqual([
      [20, 1, true],
      [30, 1.5, false],
    ]);
  });
});
