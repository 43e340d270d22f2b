// The text of an answer made in steps against JSON.stringify, over values of every kind, and how many steps it takes.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { finished } from "../../../../src/core/fairness/serial-work.ts";
import { jsonTextSteps } from "../../../../src/domain/codec/json-text.ts";

const member = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.double(), fc.array(fc.oneof(fc.jsonValue(), fc.constant(undefined))));

describe("the text of an answer", () => {
  it("is what JSON.stringify makes of it", () => {
    fc.assert(
      fc.property(fc.oneof(fc.dictionary(fc.string(), member), fc.array(fc.jsonValue()), fc.jsonValue()), (value) => {
        expect(finished(jsonTextSteps(value))).toBe(JSON.stringify(value));
      }),
    );
  });

  it("is made entry by entry", () => {
    const value = { rows: Array.from({ length: 1_000 }, (_, index) => ({ index })), total: 1_000 };
    expect([...jsonTextSteps(value)]).toHaveLength(1_000);
  });
});
