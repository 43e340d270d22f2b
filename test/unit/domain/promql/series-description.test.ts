import { describe, expect, it } from "vitest";
import { MemoryStorage } from "../../../../src/domain/promql/memory-storage.ts";
import { loadSeries, parseSeriesDescription, parseValues } from "../../../../src/domain/promql/series-description.ts";
import { isStale } from "../../../../src/domain/promql/stale-marker.ts";

describe("a described series", () => {
  it("has labels, in quotes or not", () => {
    expect(parseSeriesDescription('a{b="c",\t"d e"=\'f\', g="",} 1').labels.metricText).toBe('a{b="c", "d e"="f"}');
    expect(parseSeriesDescription('{"x.y"} 1').labels.metricName).toBe("x.y");
    expect(() => parseSeriesDescription("a{b=c} 1")).toThrow("expected a string at column 5");
  });

  it("has values", () => {
    expect(parseValues("1 -2.5e1x1 0+1x2 _x2 stale NaN 1-1x1 {{count:1}}x1")).toEqual([
      ...[1, -25, -25, 0, 1, 2, "none", "none", "stale", Number.NaN, 1, 0, "histogram", "histogram"],
    ]);
    expect(parseValues("1+0x10")).toHaveLength(11);
    expect(() => parseValues("1 x")).toThrow("no series values: x");
    expect(() => parseValues("0x99999999999")).toThrow("at most");
  });
});

describe("a file of series", () => {
  it("adds samples of a series that comes again, by their bits", () => {
    const storage = new MemoryStorage();
    loadSeries("load 10s\n a 1 2 stale\n# again\nload 20s\n a _ 9 3", storage);
    const [series] = [...storage.select([], 0, 1e9)];
    expect([...(series?.timesMs ?? [])]).toEqual([0, 10_000, 20_000, 40_000]);
    expect([...(series?.values ?? [])]).toEqual([1, 2, 9, 3]);
    loadSeries("load 40s\n a _ stale", storage);
    const values = [...storage.select([], 40_000, 40_000)][0]?.values as Float64Array;
    expect(isStale(values, 0)).toBe(true);
    expect(isStale(Float64Array.of(Number.NaN), 0)).toBe(false);
  });

  it("is refused with the line", () => {
    expect(() => loadSeries("a 1", new MemoryStorage())).toThrow("line 1: the first line must say the step");
    expect(() => loadSeries("load 1m\na {{}}", new MemoryStorage())).toThrow("line 2: native histograms are not stored");
  });
});
