// Evidence of series between threads: what is packed comes out as it was, and names that either side has forgotten are told anew.
import { describe, expect, it } from "vitest";
import { SeriesPacker, unpackSeries } from "../../../../src/domain/rca/evidence-packing.ts";
import { packName, ReportedNames } from "../../../../src/domain/rca/series-names.ts";
import { plainSeries } from "../../../support/plain-series.ts";

const nameOf = (i: number) => ({
  serviceId: `s ${i}`,
  metricName: 'm"',
  instance: i % 2 === 0 ? null : "null",
  node: i % 5 === 0 ? null : `node ${i}`,
  peer: i % 3 === 0 ? "" : null,
});
const departureOf = (i: number) => ({
  mean: i,
  sd: 0.5,
  peak: -i,
  peakAt: 3,
  onsetAt: 1,
  novelty: i / 8,
  shift: -2.5,
  past: Float32Array.from({ length: i % 25 }, (_, k) => k / 16),
});

describe("packed evidence", () => {
  it("comes out as it went in, however much it is, again and again", () => {
    const packer = new SeriesPacker();
    const told = new ReportedNames();
    for (const [first, count] of [
      [0, 3],
      [3, 700],
      [0, 0],
      [703, 2],
    ] as const) {
      const numbers = Array.from({ length: count }, (_, i) => first + i);
      told.learn({ namesFrom: first === 0 ? told.count : first, names: numbers.slice(told.count - first).map((i) => packName(nameOf(i))) });
      for (const i of numbers) packer.add({ name: i, departure: departureOf(i), onsetMs: 1_000 + i, intervalMs: 10 + i });
      const found = unpackSeries(packer.take(), (number) => told.of(number));
      expect(found.map(({ one }) => plainSeries(one))).toEqual(
        numbers.map((i) => ({ ...nameOf(i), departure: departureOf(i), onsetMs: 1_000 + i, intervalMs: 10 + i })),
      );
    }
    expect(told.count).toBe(705);
  });

  it("is refused where it is cut off or of a name that nobody told", () => {
    const packer = new SeriesPacker();
    packer.add({ name: 0, departure: departureOf(4), onsetMs: 1, intervalMs: 10 });
    const packed = packer.take();
    const told = new ReportedNames();
    const unpack = (numbers: Float64Array) => () => unpackSeries(numbers, (number) => told.of(number));
    expect(unpack(packed)).toThrow(/no name/);
    told.learn({ namesFrom: 0, names: [packName(nameOf(0))] });
    expect(unpack(packed)()).toHaveLength(1);
    expect(unpack(packed.slice(0, 5))).toThrow(/cut off/);
  });
});

describe("names that were told", () => {
  it("count from where the other side begins anew, and none may be lost in between", () => {
    const told = new ReportedNames();
    const names = (...of: number[]) => of.map((i) => packName(nameOf(i)));
    told.learn({ namesFrom: 0, names: names(0, 1, 2) });
    told.learn({ namesFrom: 3, names: names(3) });
    told.learn({ namesFrom: 4, names: [] });
    expect([told.count, told.of(3)?.of]).toEqual([4, nameOf(3)]);
    told.learn({ namesFrom: 0, names: names(7) });
    expect([told.count, told.of(0)?.of, told.of(1)]).toEqual([1, nameOf(7), undefined]);
    expect(() => told.learn({ namesFrom: 2, names: names(9) })).toThrow(/lost/);
  });
});
