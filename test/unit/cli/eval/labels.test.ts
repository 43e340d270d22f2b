// Labels by rows and by moments, of one file and of several; what cannot be a label is said with its place.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { Labels } from "../../../../src/cli/eval/eval.ts";

const folder = mkdtempSync(join(tmpdir(), "vedette-labels-"));
afterAll(() => rmSync(folder, { recursive: true }));

function labels(content: unknown): Labels {
  const path = join(folder, "labels.json");
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return new Labels(path);
}

const times = Float64Array.from({ length: 10 }, (_, row) => Date.UTC(2026, 0, 31, 12, row));

describe("labels", () => {
  it("are rows, or moments of RFC 3339 or without their zone", () => {
    const given = [
      [2, 3],
      ["2026-01-31T12:04:00Z", "2026-01-31 12:05:30"],
    ];
    const rows = [
      { from: 2, to: 3 },
      { from: 4, to: 6 },
    ];
    expect(labels(given).of("a.csv", times)).toEqual(rows);
    expect(labels({ "a.csv": given }).of("some/where/a.csv.gz", times)).toEqual(rows);
  });

  it("says which names no file has had", () => {
    const both = labels({ "a.csv": [[1, 2]], "b.csv": [] });
    expect(both.of("a.csv", times)).toHaveLength(1);
    expect(both.unused).toEqual(["b.csv"]);
    expect(labels([]).unused).toEqual([]);
  });

  it.each([
    ["no JSON", "{", /cannot be read/],
    ["a number", "3", /neither a list/],
    ["a span of three", [[1, 2, 3]], /must be a list of \[from, to\]/],
    ["a row that is not there", [[1, 10]], /row 10 is none of the 10 rows/],
    ["a word", [["soon", 3]], /neither a row nor a moment/],
    ["an end before the beginning", [[5, 3]], /ends before it begins/],
  ] as ReadonlyArray<[string, unknown, RegExp]>)("refuses %s", (_what, content, reason) => {
    expect(() => labels(content).of("a.csv", times)).toThrow(reason);
  });
});
