import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { compileGroups, compilePattern, findPattern, PatternError } from "../../../../../src/domain/promql/labels/pattern.ts";
import { QueryError } from "../../../../../src/domain/promql/query-error.ts";

const LONG = "a".repeat(1_024);

describe("patterns of matchers", () => {
  it("that are lists of texts match these alone, escaped characters among them", () => {
    const hosts = "10\\.0\\.0\\.1:9100|a\\|b|web-1|c\\\\";
    for (const text of ["10.0.0.1:9100", "10x0.0.1:9100", "a|b", "a", "b", "web-1", "c\\", ""]) {
      expect([text, compilePattern(hosts)(text)]).toEqual([text, RE2JS.compile(`^(?s:${hosts})$`).matches(text)]);
    }
    const many = Array.from({ length: 20_000 }, (_, at) => `10\\.0\\.0\\.${at}`).join("|");
    expect([compilePattern(many)("10.0.0.19999"), compilePattern(many)("10.0.0.20000")]).toEqual([true, false]);
  });

  it("take no longer of a value than their bound, whatever they are", () => {
    const hostile = ["(a?){1000}", "((a?){30}){33}b", "(\\pL{1,100}){1,10}x", "a?".repeat(1_000)];
    for (const pattern of hostile) {
      expect(() => compilePattern(pattern)(LONG)).toThrow(QueryError);
      expect(() => compileGroups(pattern)(LONG)).toThrow("would take too long");
      expect(() => findPattern(pattern, LONG)).toThrow(QueryError);
      expect(compilePattern(pattern)("b".repeat(20))).toBe(false);
    }
    expect(compilePattern("(a*)*b")(LONG)).toBe(false);
    expect(() => compilePattern(`(${"[a-z]*x|".repeat(5_000)}b)+`)).toThrow(PatternError);
  });
});
