import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finish } from "../../../../src/domain/promql/evaluation/sliced-evaluation.ts";
import { LabelMatcher } from "../../../../src/domain/promql/labels/label-matcher.ts";
import { Labels } from "../../../../src/domain/promql/labels/labels.ts";
import { QueryBudget } from "../../../../src/domain/promql/query-budget.ts";
import { SeriesIndex } from "../../../../src/domain/series-index/series-index.ts";

const name = fc.constantFrom("__name__", "job", "le", "zone");
const value = fc.constantFrom("", "a", "b", "ab", "0.5");
const labels = fc.dictionary(name, value).map((entries) => Labels.of(Object.entries(entries)));
/** Few identities, so that they come again under other labels. */
const identity = fc.integer({ min: 0, max: 40 });
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant("add" as const), identity, labels, isInMemory: fc.boolean() }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("cold" as const), identity }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("forget" as const), identity }) },
);
const matcher = fc
  .tuple(
    name,
    fc.constantFrom("=" as const, "!=" as const, "=~" as const, "!~" as const),
    fc.oneof(value, fc.constantFrom("a.*", ".*b", "a|b", ".+", ".*")),
  )
  .map(([label, operator, text]) => new LabelMatcher(label, operator, text));

const UNKNOWN = { firstTimeMs: null, lastTimeMs: null };

/** The hash of an identity; several begin with the same word. */
function hashOf(number: number): Uint8Array {
  const hash = new Uint8Array(16);
  hash[0] = number % 3;
  hash[15] = number;
  return hash;
}

describe("an index of series", () => {
  it("selects what has the labels, whatever came, went and was renamed, in the order of labels", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 600 }), fc.array(matcher, { maxLength: 3 }), (steps, matchers) => {
        const index = new SeriesIndex();
        const known = new Map<number, Labels>();
        for (const one of steps) {
          const hash = hashOf(one.identity);
          if (one.kind === "cold") expect(index.setCold(hash, UNKNOWN)).toBe(known.has(one.identity));
          else if (one.kind === "forget") {
            index.forget(hash);
            known.delete(one.identity);
          } else {
            index.add({ hash, partition: one.identity, labels: one.labels, isInMemory: one.isInMemory, ...UNKNOWN });
            known.set(one.identity, one.labels);
          }
        }
        const means = (of: Labels) => matchers.every((one) => one.matches(of.get(one.name)));
        const expected = [...known.values()].filter(means).sort((a, b) => Labels.compare(a, b));
        const found = index.sorted(finish(index.select(matchers, new QueryBudget(() => 0))));
        expect(found.map((series) => index.labels(series).toString())).toEqual(expected.map(String));
        expect(index.size).toBe(known.size);
        expect(index.names(found)).toEqual(new Set(expected.flatMap((of) => [...of.entries()].map(([label]) => label))));
        expect(index.values("job", found)).toEqual(new Set(expected.map((of) => of.get("job")).filter((text) => text !== "")));
        for (const series of found) expect(hashOf(index.table.partition(series))).toEqual(index.table.hash(series).slice());
      }),
    );
  });

  it("knows times in seconds, those that are unknown as any", () => {
    const index = new SeriesIndex();
    index.add({
      hash: hashOf(1),
      partition: 0,
      labels: Labels.of([["job", "a"]]),
      isInMemory: true,
      firstTimeMs: 10_500,
      lastTimeMs: 20_500,
    });
    index.add({ hash: hashOf(2), partition: 0, labels: Labels.of([["job", "b"]]), isInMemory: true, ...UNKNOWN });
    const within = (fromMs: number, toMs: number) => [0, 1].filter((series) => index.table.isWithin(series, fromMs, toMs));
    expect(within(0, 9_999)).toEqual([1]);
    expect(within(20_500, 30_000)).toEqual([0, 1]);
    expect(within(21_001, 30_000)).toEqual([1]);
  });
});
