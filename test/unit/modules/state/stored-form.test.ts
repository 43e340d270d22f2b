// Stored objects: what is read has the form of its table, member by member, or is named.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DEAD_LETTER, EPISODE, LOG_MARK } from "../../../../src/modules/state/shared-forms.ts";
import {
  either,
  flag,
  list,
  nullable,
  number,
  object,
  oneOf,
  optional,
  pair,
  record,
  StoredForm,
  text,
} from "../../../../src/modules/state/stored-json.ts";

interface Thing {
  readonly name: string;
  readonly kind: "one" | "other";
  readonly size: number | null;
  readonly note?: string;
  readonly pairs: ReadonlyArray<readonly [string, number]>;
  readonly flags: Readonly<Record<string, boolean>>;
  readonly when: { readonly at: number } | { readonly day: string };
}

const THING = new StoredForm<Thing>("things", {
  name: text,
  kind: oneOf(["one", "other"]),
  size: nullable(number),
  note: optional(text),
  pairs: list(pair(text, number)),
  flags: record(flag),
  when: either(object<{ readonly at: number }>({ at: number }), object<{ readonly day: string }>({ day: text })),
});
const thing: Thing = { name: "a", kind: "one", size: null, pairs: [["x", 1]], flags: { f: true }, when: { day: "sat" } };
const stored = (value: unknown, version = 1) => Buffer.concat([Buffer.of(version), Buffer.from(JSON.stringify(value))]);

describe("the form of a table", () => {
  it("gives back what it was given", () => {
    for (const each of [thing, { ...thing, note: "é", size: 1.5, when: { at: 3 } }]) expect(THING.decode(THING.encode(each))).toEqual(each);
  });

  it("names the table and the member that is not what it should be", () => {
    const bad: ReadonlyArray<readonly [member: string, value: unknown]> = [
      ["name", 1],
      ["name", undefined],
      ["kind", "third"],
      ["size", "1"],
      ["note", null],
      ["pairs", [["x"]]],
      ["pairs", { 0: ["x", 1] }],
      ["flags", { f: 1 }],
      ["flags", []],
      ["when", {}],
    ];
    for (const [member, value] of bad)
      expect(() => THING.decode(stored({ ...thing, [member]: value })), member).toThrow(
        `a value of the table things has a format that this program does not know: its member "${member}" is not what it should be`,
      );
  });

  it("takes no other version, no text that is no JSON or no UTF-8, and no value that is no object", () => {
    expect(() => THING.decode(stored(thing, 2))).toThrow("its version is 2, this program reads 1");
    expect(() => THING.decode(Buffer.from("\u0001{"))).toThrow("it is no JSON");
    expect(() => THING.decode(Buffer.of(1, 0x22, 0xff, 0x22))).toThrow("it is no JSON");
    for (const value of [null, 1, [thing]]) expect(() => THING.decode(stored(value))).toThrow("it is no object");
    expect(() => THING.decode(new Uint8Array(0))).toThrow("its version is undefined");
  });

  it("never takes a member from the prototype of objects", () => {
    const form = new StoredForm<{ readonly toString: string }>("odd", { toString: text });
    expect(() => form.decode(stored({}))).toThrow('member "toString"');
  });

  it("of marks, episodes and dead letters gives any of them back", () => {
    const mark = fc.record({ epoch: fc.nat(), lane: fc.nat(), segment: fc.nat(), offset: fc.nat() });
    const episode = fc.record({ tenant: fc.string(), anomalyId: fc.string(), detectedAtMs: fc.integer(), open: fc.boolean() });
    const letter = fc.record(
      {
        tenant: fc.string(),
        id: fc.string(),
        reason: fc.string(),
        field: fc.option(fc.string(), { nil: null }),
        message: fc.string(),
        topic: fc.string(),
        receivedMs: fc.nat(),
        payload: fc.jsonValue(),
        count: fc.nat(),
        places: fc.array(fc.tuple(fc.nat(), fc.nat())),
        anonymous: fc.boolean(),
      },
      { requiredKeys: ["tenant", "id", "reason", "field", "message", "topic", "receivedMs", "payload"] },
    );
    fc.assert(
      fc.property(mark, episode, letter, (one, two, three) => {
        expect(LOG_MARK.decode(LOG_MARK.encode(one))).toEqual(one);
        expect(EPISODE.decode(EPISODE.encode(two))).toEqual(two);
        expect(DEAD_LETTER.decode(DEAD_LETTER.encode(three))).toEqual(JSON.parse(JSON.stringify(three)));
      }),
    );
  });
});
