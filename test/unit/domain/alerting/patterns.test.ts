// Patterns of label matchers: what they match, that they cost one look-up a character whatever they say, and that nothing of them grows without a bound.
import fc from "fast-check";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { LABEL_MATCHERS_MAX, NAME_BYTES_MAX, SILENCES_PER_TENANT_MAX } from "../../../../src/core/config/limits.ts";
import {
  PATTERN_BYTES_MAX,
  PATTERN_CELLS_MAX,
  PATTERN_MATCHERS_PER_TENANT_MAX,
  PATTERN_VISITS_MAX,
} from "../../../../src/core/config/pattern-limits.ts";
import { type CompiledInhibition, compileInhibition } from "../../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import type { LabelMatcher } from "../../../../src/domain/alerting/label-matcher.ts";
import { compilePattern, unitsOf } from "../../../../src/domain/alerting/pattern/automaton.ts";
import { PatternCache } from "../../../../src/domain/alerting/pattern/pattern-cache.ts";
import type { Silence } from "../../../../src/domain/alerting/silence.ts";
import { SilenceIndex } from "../../../../src/domain/alerting/silence-index.ts";

const START_MS = Date.UTC(2026, 0, 31, 12);

function silence(id: number | string, matchers: readonly LabelMatcher[]): Silence {
  return { id: `${id}`, tenant: "t", matchers, when: { kind: "once", startsAtMs: START_MS, endsAtMs: START_MS + 1 }, comment: "" };
}

describe("patterns", () => {
  const matches = (pattern: string, text: string): boolean | undefined => new PatternCache().matches(pattern, text);

  it.each([
    ["^(foo1|foo2|baz)$", ["foo1", "baz"], ["foo", "foo12", "xbaz"]],
    ["web-\\d+", ["web-1", "web-1234"], ["web-", "web-a", "my-web-1", "web-1b"]],
    ["(?i)prod", ["prod", "PROD", "pRoD"], ["production"]],
    ["[a-z]{2,4}", ["ab", "abcd"], ["a", "abcde"]],
    ["(api|web)-.*[^0-9]", ["api-x", "web-1x"], ["api-1", "db-x"]],
    ["(a+)+", ["a", "aaaa"], ["", "aab"]],
    [".", ["a", "\n", "é", "😀"], ["", "ab"]],
    ["\\p{Greek}+", ["λόγος"], ["logos"]],
    ["(\\pL|\\pN)+", ["結帳1", "é", "𠀀", "٣x"], ["結帳-1", "😀", "\u{1f4a9}a"]],
    ["\\bapi\\b.*", ["api", "api-1"], ["apis"]],
    ["(?m)a$\n^b", ["a\nb"], ["ab"]],
    ["\\Qa.b\\E", ["a.b"], ["aab"]],
    ["", [""], ["a"]],
  ])("%s match the whole value", (pattern, matching, others) => {
    for (const text of matching) expect([text, matches(pattern, text)]).toEqual([text, true]);
    for (const text of others) expect([text, matches(pattern, text)]).toEqual([text, false]);
  });

  it("agree with re2js's own matching", () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      "c",
      ".",
      "[ab]",
      "[^a]",
      "\\w",
      "\\d",
      "1",
      "é",
      "😀",
      "(a|bc)",
      "(?i:B)",
      "\\b",
      "^",
      "$",
      "(?m:^)",
      "\n",
    );
    const times = fc.constantFrom("", "", "", "*", "+", "?", "{2}", "{0,2}", "*?");
    const alternative = fc.array(
      fc.tuple(piece, times).map(([one, many]) => (/^(\\b|\^|\$|\(\?m:\^\))$/.test(one) ? one : one + many)),
      { maxLength: 6 },
    );
    const pattern = fc.array(alternative, { minLength: 1, maxLength: 3 }).map((all) => all.map((one) => one.join("")).join("|"));
    const text = fc
      .array(fc.constantFrom("a", "b", "B", "c", "1", "_", "é", "😀", "\ud83d", "\n", "-"), { maxLength: 8 })
      .map((all) => all.join(""));
    fc.assert(
      fc.property(pattern, fc.array(text, { minLength: 1, maxLength: 6 }), (given, texts) => {
        const { automaton } = compilePattern(given);
        const whole = RE2JS.compile(given, RE2JS.DOTALL);
        for (const one of texts) expect([one, automaton?.matches(unitsOf(one))]).toEqual([one, whole.testExact(one)]);
      }),
      { numRuns: 500 },
    );
  });

  it("say the same as before of what was stored with |, ., .*, .+ and escapes", () => {
    const piece = fc.constantFrom("a", "b", ".", ".*", ".+", "|", "\\.", "\\-", "\\€", "-", "€", "/", "\\ ");
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 8 }),
        fc.array(fc.constantFrom("a", "b", ".", "-", "€", "\n", " "), { maxLength: 8 }),
        (pieces, text) => {
          const value = text.join("");
          const pattern = pieces.join("");
          expect(matches(pattern, value)).toBe(new RegExp(`^(?:${pattern})$`, "s").test(value));
        },
      ),
    );
    const long = Array.from({ length: 100 }, (_, i) => `service${i}`).join("|");
    expect([long.length > PATTERN_BYTES_MAX, matches(long, "service99"), matches(long, "service100")]).toEqual([true, true, false]);
  });

  it.each([
    ["a group that ends nowhere", "(a", /missing closing \)/],
    ["lookahead", "(?=a)", /invalid or unsupported Perl syntax/],
    ["a backreference", "(a)\\1", /invalid escape/],
    ["repetitions of repetitions", "(a{1000}){1000}", /invalid repeat count/],
    ["repetitions behind each other", "a{1000}".repeat(36), /more than 2000 parts/],
    ["large classes in repetitions", "(\\PL?){150}", /more than 2000 parts/],
    ["an exponential number of states", ".*a.{20}", /too many states/],
    ["the same with choices", "(.?x?){100}.*a.{9}", /too many states/],
  ])("refuse %s", (_what, pattern, problem) => {
    const compiled = compilePattern(pattern);
    expect(compiled.problem).toMatch(problem);
    expect(compiled.visits).toBeLessThan(PATTERN_VISITS_MAX + PATTERN_CELLS_MAX);
  });

  it("take tables and work within their bounds, whatever 256 bytes say", () => {
    const piece = fc.constantFrom(
      "a",
      "b",
      ".",
      ".*",
      ".+",
      "x?",
      "{9}",
      "{0,30}",
      "(",
      ")",
      "|",
      "[a-m]",
      "\\pL",
      "\\PN",
      "(?i)",
      "\\b",
      "[^k]",
      "{999}",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const { automaton, visits } = compilePattern(pieces.join("").slice(0, PATTERN_BYTES_MAX));
        expect(visits).toBeLessThan(PATTERN_VISITS_MAX + PATTERN_CELLS_MAX);
        expect(automaton?.bytes ?? 0).toBeLessThan(4 * PATTERN_CELLS_MAX);
      }),
      { numRuns: 150 },
    );
  });
});

describe("the cache of patterns", () => {
  it("makes a table once, and asks it once about a value", () => {
    const cache = new PatternCache();
    for (let i = 0; i < 3; i++) expect([cache.matches("web-\\d+", "web-1"), cache.matches("web-\\d+", "api")]).toEqual([true, false]);
    expect(cache.work).toMatchObject({ tables: 1, evaluations: 2, characters: 8 });
    for (let i = 0; i < 3; i++)
      expect([cache.matches("(", ""), cache.problem("(")]).toEqual([undefined, expect.stringContaining("missing")]);
    expect(cache.work).toMatchObject({ tables: 2, evaluations: 2 });
  });

  it("forgets the tables used longest ago, and results, where there are too many", () => {
    const cache = new PatternCache({ tableBytesMax: 32_000, patternsMax: 1_000, resultsMax: 100 });
    for (let i = 0; i < 500; i++) {
      expect([cache.matches(`web-${i}.*`, `web-${i}-a`), cache.matches("used", "used")]).toEqual([true, true]);
      expect(cache.retained.bytes).toBeLessThanOrEqual(32_000);
      expect(cache.retained.results).toBeLessThanOrEqual(100);
    }
    expect(cache.retained.patterns).toBeLessThan(15);
    const before = cache.work.tables;
    cache.problem("used");
    expect(cache.work.tables).toBe(before);
    const few = new PatternCache({ patternsMax: 3 });
    for (let i = 0; i < 10; i++) few.problem(`(${i}`);
    expect(few.retained.patterns).toBe(3);
  });
});

describe("silences and rules of a tenant at their limits", () => {
  /** 300 different patterns of the largest size, and labels on which every silence has to look at its patterns. */
  const value = `${"checkout-".repeat(120)}`.slice(0, 1_000);
  const largest = (number: number): string => `[^z]*z${number}`.padEnd(PATTERN_BYTES_MAX, "-payment");
  const equal = { name: "environment", operator: "=", value: "prod" } as const;

  it("refuse the attack: 60 silences of 32 matchers of 511 wildcards", () => {
    const wildcards = `${".*".repeat(510)}.+`;
    expect(wildcards.length).toBeGreaterThan(PATTERN_BYTES_MAX);
    // Stored by an earlier version, it is one table of two states, and one look at the value.
    const patterns = new PatternCache();
    const index = new SilenceIndex(patterns);
    for (let id = 0; id < 60; id++) {
      const matchers = Array.from(
        { length: LABEL_MATCHERS_MAX },
        () => ({ name: "service_id", operator: "=~", value: wildcards }) as const,
      );
      index.put(silence(id, [...matchers.slice(1), { name: "service_id", operator: "=~", value: `${wildcards}Z` }]));
    }
    expect(index.find({ service_id: value }, START_MS)).toBeUndefined();
    expect(patterns.work).toMatchObject({ tables: 2, evaluations: 2, characters: 2 * value.length });
  });

  it("cost one look at each character of a value for each pattern in force, however many silences there are", () => {
    const patterns = new PatternCache();
    const index = new SilenceIndex(patterns);
    for (let id = 0; id < SILENCES_PER_TENANT_MAX; id++) {
      const inForce = id < PATTERN_MATCHERS_PER_TENANT_MAX ? [{ name: "service_id", operator: "=~", value: largest(id) } as const] : [];
      const others = Array.from({ length: LABEL_MATCHERS_MAX - inForce.length - 1 }, () => equal);
      const last = { name: "service_id", operator: "!=", value } as const;
      index.put(silence(id, [...inForce, ...others, inForce.length === 0 ? last : equal]));
    }
    expect(index.find({ environment: "prod", service_id: value }, START_MS)).toBeUndefined();
    expect(index.inspected).toBe(SILENCES_PER_TENANT_MAX);
    expect(patterns.work).toMatchObject({ tables: 300, evaluations: 300, characters: 300 * value.length });
    // The next alert of the service asks no pattern again.
    index.find({ environment: "prod", service_id: value, family: "stale" }, START_MS);
    expect(patterns.work.evaluations).toBe(300);
    expect(value.length).toBeLessThanOrEqual(NAME_BYTES_MAX);
  });

  it("look at no silence that wants another value, and ask patterns after everything else", () => {
    const patterns = new PatternCache();
    const index = new SilenceIndex(patterns);
    const wild = { name: "metric_name", operator: "=~", value: ".*latency.*" } as const;
    for (let id = 0; id < 500; id++) index.put(silence(id, [wild, { name: "service_id", operator: "=", value: `service-${id}` }, equal]));
    const labels = { environment: "prod", service_id: "service-77", metric_name: "p99_latency_ms" };
    expect([index.find(labels, START_MS)?.id, index.inspected, patterns.work.evaluations]).toEqual(["77", 1, 1]);
    expect([index.find({ ...labels, environment: "test" }, START_MS), index.inspected, patterns.work.evaluations]).toEqual([
      undefined,
      2,
      1,
    ]);
    expect([index.find({ ...labels, service_id: "other" }, START_MS), index.inspected]).toEqual([undefined, 2]);
    expect([index.find(labels, START_MS + 1), index.inspected]).toEqual([undefined, 2]);
    const rule: CompiledInhibition = compileInhibition(
      { id: "1", tenant: "t", sourceMatchers: [wild, { ...equal, value: "test" }], targetMatchers: [wild, equal], equal: [], comment: "" },
      patterns,
    );
    const before = patterns.work.evaluations;
    const other = { ...labels, metric_name: "other" };
    expect([rule.isSource(other), patterns.work.evaluations - before]).toEqual([false, 0]);
    expect([rule.isTarget(other), patterns.work.evaluations - before]).toEqual([false, 1]);
  });

  it("find what going through all of them finds, as silences come and go", () => {
    const patterns = new PatternCache();
    const text = fc.constantFrom("", "a", "b", "ab");
    const matcher = fc.record({
      name: fc.constantFrom("x", "y"),
      operator: fc.constantFrom("=" as const, "!=" as const, "=~" as const, "!~" as const),
      value: text,
    });
    const change = fc.record({ id: fc.integer({ min: 0, max: 6 }), matchers: fc.array(matcher, { maxLength: 3 }), kept: fc.boolean() });
    const labels = fc.record({ x: text, y: text }, { requiredKeys: [] });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 20 }), labels, (changes, given) => {
        const index = new SilenceIndex(patterns);
        const present = new Map<string, Silence>();
        for (const { id, matchers, kept } of changes) {
          present.delete(`${id}`);
          if (!kept) index.remove(`${id}`);
          else {
            present.set(`${id}`, silence(id, matchers));
            index.put(silence(id, matchers));
          }
        }
        const holds = ({ name, operator, value: wanted }: LabelMatcher): boolean =>
          ((given[name as "x" | "y"] ?? "") === wanted) === (operator === "=" || operator === "=~");
        const found = [...present.values()].find(({ matchers }) => matchers.length > 0 && matchers.every(holds));
        expect(index.find(given as Record<string, string>, START_MS)?.id).toBe(found?.id);
        expect([...index.values()].map(({ id }) => id)).toEqual([...present.keys()]);
      }),
    );
  });
});
