// Names that Object.prototype has are names as others are.
import { expect, test } from "vitest";
import { ownMember, setMember } from "../../../../src/core/collections/own-member.ts";

const NAMES = [...Object.getOwnPropertyNames(Object.prototype), "__proto__"];

test("a name that an object has not itself is absent, whatever its prototype has", () => {
  const empty: Record<string, string> = {};
  for (const name of NAMES) expect([name, ownMember(empty, name)]).toEqual([name, undefined]);
  expect(ownMember(undefined, "constructor")).toBeUndefined();
  expect(ownMember(null, "constructor")).toBeUndefined();
});

test("a member is set under any name, and read again", () => {
  const record: Record<string, string> = {};
  for (const name of NAMES) setMember(record, name, `of ${name}`);
  expect(Object.getPrototypeOf(record)).toBe(Object.prototype);
  expect(new Set(Object.keys(record))).toEqual(new Set(NAMES));
  for (const name of NAMES) expect(ownMember(record, name)).toBe(`of ${name}`);
});
