import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MemberTable } from "../../../../src/domain/pillars/member-table.ts";

const key = fc.oneof(
  fc.string({ maxLength: 40 }),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.constantFrom("", "\0", "\ud800", "\udfff\ud800", "a\0b", "__proto__"),
);

describe("the table of members", () => {
  it("is a map from keys to numbers and from these to lists of values, whatever the order", () => {
    const step = fc.record({ key, values: fc.array(fc.integer({ min: 0, max: 50_000 }), { maxLength: 6 }) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), key, (steps, other) => {
        const table = new MemberTable();
        const members = new Map<string, number>();
        const values = new Map<string, readonly number[]>();
        for (const { key: name, values: of } of steps) {
          const member = table.enter(name);
          expect(member).toBe(members.get(name) ?? members.size);
          members.set(name, member);
          table.clearValues(member);
          for (const value of of) table.addValue(member, value);
          values.set(name, of);
        }
        expect(table.size).toBe(members.size);
        expect(table.find(other)).toBe(members.get(other));
        for (const [name, member] of members) {
          expect([table.find(name), table.key(member)]).toEqual([member, name]);
          expect(valuesOf(table, member)).toEqual([...(values.get(name) as readonly number[])].sort((a, b) => a - b));
        }
      }),
    );
  });

  it("grows, and keeps what it holds", () => {
    const table = new MemberTable();
    const count = 20_000;
    const nameOf = (i: number) => `tenant-${i % 7}\0service-${i}`;
    for (let i = 0; i < count; i++) {
      expect(table.enter(nameOf(i))).toBe(i);
      for (let value = 0; value < 3; value++) table.addValue(i, 3 * i + value);
    }
    for (let i = 0; i < count; i += 97)
      expect([table.find(nameOf(i)), table.key(i), valuesOf(table, i)]).toEqual([i, nameOf(i), [3 * i, 3 * i + 1, 3 * i + 2]]);
    expect([table.size, table.find(nameOf(count))]).toEqual([count, undefined]);
  });
});

function valuesOf(table: MemberTable, member: number): number[] {
  const values: number[] = [];
  table.eachValue(member, (value) => values.push(value));
  return values.sort((a, b) => a - b);
}
