import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { matchingPaths, PathPatternError } from "../../../../src/cli/rules/rules-test.ts";

describe("a pattern of paths", () => {
  const folder = mkdtempSync(join(tmpdir(), "vedette-pattern-"));
  for (const name of ["a1.yml", "b1.yml", "a[.yml", "a-b.yml"]) writeFileSync(join(folder, name), "");
  afterAll(() => rmSync(folder, { recursive: true }));
  const found = (pattern: string) => matchingPaths(folder, pattern).map((path) => basename(path));

  it("finds names as Go's does", () => {
    expect(found("[a-b]1.yml")).toEqual(["a1.yml", "b1.yml"]);
    expect(found("[^a]?.yml")).toEqual(["b1.yml"]);
    expect(found("a\\[*")).toEqual(["a[.yml"]);
    expect(found("?-b.*")).toEqual(["a-b.yml"]);
  });

  it("is refused where a class has no end or is empty", () => {
    for (const pattern of ["a[", "[", "[]*", "[^", "*\\"]) expect(() => found(pattern)).toThrow(PathPatternError);
  });
});
