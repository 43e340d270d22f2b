import { describe, expect, it } from "vitest";
import { PROMQL_NESTING_MAX, PROMQL_OPERATORS_MAX } from "../../../../src/core/config/promql-limits.ts";
import { parseExpression, parseSelector } from "../../../../src/domain/promql/parser/parser.ts";
import { ParseError } from "../../../../src/domain/promql/parser/position.ts";
import { printExpression } from "../../../../src/domain/promql/parser/printer.ts";

function format(query: string): string {
  return printExpression(parseExpression(query));
}

function problem(query: string): string {
  try {
    return `reads as ${format(query)}`;
  } catch (error) {
    if (error instanceof ParseError) return error.message;
    throw error;
  }
}

describe("a query in its canonical form", () => {
  it.each([
    ["1./8.", "1 / 8"],
    ["0x10 + 1_000", "16 + 1000"],
    ["-2^2", "-2 ^ 2"],
    ["1 - -1", "1 - -1"],
    ["SUM(up) BY (job)", "sum by (job) (up)"],
    ["topk(3, up) without (a,)", "topk without (a) (3, up)"],
    ['rate(a_total{x="1",y!~"b.*"} [1h30m] offset -5m @ 12.5)', 'rate(a_total{x="1",y!~"b.*"}[1h30m] @ 12.500 offset -5m)'],
    ["up[90m:] offset 1d", "up[1h30m:] offset 1d"],
    ["max_over_time(up[1h:5m] @ end())", "max_over_time(up[1h:5m] @ end())"],
    ["a * on(x) group_left(y) b", "a * on (x) group_left (y) b"],
    ["a > bool 1 and b", "a > bool 1 and b"],
    [`{'a.b',"c d"=~'x'}`, '{"c d"=~"x",__name__="a.b"}'],
    ['sum by ("a.b") (x)', 'sum by ("a.b") (x)'],
    ["sum + offset offset 1m", "sum + offset offset 1m"],
    ["x[5m * 2]", "x[5m * 2]"],
    ["x # all of it\n + y", "x + y"],
    ["'a\\u00e9\\x41'", '"aéA"'],
  ])("%s", (query, canonical) => {
    expect(format(query)).toBe(canonical);
    expect(format(canonical)).toBe(canonical);
  });

  it("binds an offset's sign to its number alone", () => {
    expect(parseExpression("x offset -2^2")).toMatchObject({ kind: "binary", operator: "^", left: { kind: "selector" } });
  });
});

describe("what is wrong with a query", () => {
  it.each([
    ["", "unknown position: parse error: no expression found in input"],
    ["a b", '1:3: parse error: unexpected identifier "b"'],
    ["é{} + 1", "1:1: parse error: unexpected character: 'é'"],
    ['{a="é"} ?', "1:10: parse error: unexpected character: '?'"],
    ["a\n  + rate(b)", '2:10: parse error: expected type range vector in call to function "rate", got instant vector'],
    ["sum(a", "1:6: parse error: unclosed left parenthesis"],
    ["a)", "1:3: parse error: unexpected right parenthesis ')'"],
    ["a{b=1}", "1:5: parse error: unexpected character inside braces: '1'"],
    ['a{b="1" c="2"}', '1:9: parse error: unexpected identifier "c" in label matching, expected "," or "}"'],
    ["a{b}", '1:4: parse error: unexpected "}" in label matching, expected label matching operator'],
    ["a[5m", "1:5: parse error: unclosed left bracket"],
    ["a[1x]", '1:3: parse error: bad number or duration syntax: "1x"'],
    ["sum(a)[5m]", "1:7: parse error: ranges only allowed for vector selectors"],
    ["a offset 1m offset 1m", "1:1: parse error: offset may not be set multiple times"],
    ["1 > 2", "1:3: parse error: comparisons between scalars must use BOOL modifier"],
    ["a + bool b", "1:3: parse error: bool modifier can only be used on comparison operators"],
    ["a or 1", '1:1: parse error: set operator "or" not allowed in binary scalar expression'],
    ["{a=~'.*'}", "1:1: parse error: vector selector must contain at least one non-empty matcher"],
    ["a{__name__='b'}", '1:1: parse error: metric name must not be set twice: "a" or "b"'],
    ["nothing(a)", '1:1: parse error: unknown function with name "nothing"'],
    ["clamp(a, 1)", '1:1: parse error: expected 3 argument(s) in call to "clamp", got 2'],
    ["sum by a (b)", '1:8: parse error: unexpected identifier "a" in grouping opts, expected "("'],
    ["topk(a)", "1:1: parse error: wrong number of arguments for aggregate expression provided, expected 2, got 1"],
    ["limitk(1, a)", "1:1: parse error: limitk() is experimental and must be enabled with --enable-feature=promql-experimental-functions"],
    ["mad_over_time(a[5m])", '1:1: parse error: function "mad_over_time" is not enabled'],
    ["a + fill(0) b", "1:1: parse error: binop fill modifiers are experimental and not enabled"],
    ["a[5m] smoothed", "1:1: parse error: smoothed modifier is experimental and not enabled"],
  ])("%s", (query, message) => {
    expect(problem(query)).toBe(message);
  });

  it("is told of the first fault, be it of the tree or of the syntax behind it", () => {
    expect(problem("abs(a[5m] offset 1m offset 2m) )")).toMatch(/^1:5: parse error: offset may not/);
  });

  it("is that it is too deep or too long for a stack", () => {
    expect(problem(`${"(".repeat(PROMQL_NESTING_MAX + 1)}1`)).toMatch(/nested more than/);
    expect(problem(`1${" + 1".repeat(PROMQL_OPERATORS_MAX + 1)}`)).toMatch(/operators/);
    expect(format(`1${" + 1".repeat(PROMQL_OPERATORS_MAX)}`)).toMatch(/^1 \+/);
  });
});

describe("a selector that stands alone", () => {
  it("is its matchers", () => {
    expect(parseSelector('up{job=~"a|b"}').map(String)).toEqual(['job=~"a|b"', '__name__="up"']);
    expect(() => parseSelector("up + 1")).toThrow("1:4: parse error: unexpected <op:+>");
  });
});
