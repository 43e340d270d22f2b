// Any sentence of a finding, for tests of what stores it: text, or facts.
import fc from "fast-check";
import type { Sentence } from "../../src/domain/anomaly/sentence.ts";

export function anySentence(text: fc.Arbitrary<string>, number: fc.Arbitrary<number>): fc.Arbitrary<Sentence> {
  const facts = fc.record(
    { isBelow: fc.boolean(), against: fc.constantFrom("values", "day", "hour"), values: fc.nat(), streams: fc.nat() },
    { requiredKeys: ["isBelow", "against", "values"] },
  );
  const optional = fc.option(text);
  const ofHistory = fc.record({ facts, by: optional, bucket: optional, departure: fc.constant(0) });
  const ofChance = ofHistory.chain((pair) =>
    number.map((departure) => ({ ...pair, facts: { ...pair.facts, against: "chance" as const }, departure })),
  );
  const numbers = { observed: number, expected: number, lower: number, upper: number, z: number, n: number };
  const pair = fc.oneof(fc.constant(null), ofHistory, ofChance);
  return fc.oneof(text, fc.record({ metricName: text, ...numbers, isStill: fc.boolean(), pair, behind: text })) as fc.Arbitrary<Sentence>;
}
