import { describe, expect, it } from "vitest";
import { FieldExclusions } from "../../../../src/domain/series/field-exclusions.ts";

const strip = (list: string, value: unknown) => new FieldExclusions(list).strip(value);

describe("fields that are not stored", () => {
  it.each<[string, unknown, unknown]>([
    ["password", { password: 1, attributes: { password: 2, x: 3 } }, { attributes: { x: 3 } }],
    ["attributes.password", { password: 1, attributes: { password: 2 } }, { password: 1, attributes: {} }],
    ["user.email", { attributes: { user: { email: "a", id: 1 } } }, { attributes: { user: { id: 1 } } }],
    ["user.email", { attributes: { "user.email": "a", "user.id": 1 } }, { attributes: { "user.id": 1 } }],
    ["a.b.c", { a: { "b.c": 1, b: { c: 2, d: 3 } }, "a.b": { c: 4 }, "a.b.c": 5 }, { a: { b: { d: 3 } }, "a.b": {} }],
    [
      "attributes.*.token",
      { attributes: { a: { token: 1 }, b: { token: 2, c: 3 }, token: 4 } },
      { attributes: { a: {}, b: { c: 3 }, token: 4 } },
    ],
    ["*.secret", { x: { secret: 1 }, secret: 2 }, { x: {}, secret: 2 }],
    ["list.key", { list: [{ key: 1, o: 2 }, 3, [{ key: 4 }]] }, { list: [{ o: 2 }, 3, [{}]] }],
    ["ssn", { labels: { ssn: "1", job: "a" }, value: 1 }, { labels: { job: "a" }, value: 1 }],
    ["pin", { body: '{"pin":1,"a":[2]}', type: "log" }, { body: '{"a":[2]}', type: "log" }],
    ["pin", { body: 'pin=1 {"pin":1}' }, { body: 'pin=1 {"pin":1}' }],
    ["pin", { body: '{"pin":1' }, { body: '{"pin":1' }],
    ["body", { body: "text", a: 1 }, { a: 1 }],
    ["__proto__", JSON.parse('{"__proto__":1,"a":2}'), { a: 2 }],
    [" a , , b ", { a: 1, b: 2, c: 3 }, { c: 3 }],
  ])("%s", (list, value, expected) => {
    const before = JSON.stringify(value);
    expect(JSON.stringify(strip(list, value))).toBe(JSON.stringify(expected));
    expect(JSON.stringify(value)).toBe(before);
  });

  it("leave a value that has none of them as it is, and what is no object", () => {
    const value = { a: { b: [1, { c: 2 }] }, attributes: {} };
    expect(strip("x,a.x,a.b.x,*.y", value)).toBe(value);
    for (const other of [null, 7, "text", [1]]) expect(strip("a", other)).toBe(other);
    expect(strip("", value)).toBe(value);
  });

  it("need names", () => {
    for (const list of ["a..b", ".a", "a.", "."]) expect(() => new FieldExclusions(list)).toThrow(RangeError);
    for (const list of ["a,timestamp", "*", "type"]) expect(() => new FieldExclusions(list)).toThrow(/is needed to store a record/);
    expect(new FieldExclusions(" , ").isEmpty).toBe(true);
  });
});
