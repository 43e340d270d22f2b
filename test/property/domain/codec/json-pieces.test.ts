// A long text parsed in pieces is what JSON.parse makes of it, and no JSON where that says so; work ends at the first thing too many.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JSON_PARSED_BYTES_MAX, JSON_TEXT_CHARACTERS_MAX } from "../../../../src/core/config/body-limits.ts";
import { decodePieces } from "../../../../src/domain/codec/json-pieces.ts";
import { type JsonBounds, scanJson } from "../../../../src/domain/codec/json-scan.ts";

const BOUNDS: JsonBounds = { entriesMax: 50_000, membersMax: 5_000, depthMax: 64 };

/** The result of steps, and how many there were. */
function taken<T>(steps: Generator<void, T>): { readonly result: T; readonly count: number } {
  for (let count = 1; ; count++) {
    const step = steps.next();
    if (step.done === true) return { result: step.value, count };
  }
}

function decode(text: string, bounds = BOUNDS) {
  const { result: scan } = taken(scanJson(text, bounds));
  return scan.ok ? taken(decodePieces(text, scan.cut)).result : scan;
}

/** Values of which some are longer than a piece: a text, a list, an object, within others. */
const long = fc.letrec((tie) => ({
  value: fc.oneof(
    { weight: 3, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
    { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
    { weight: 2, arbitrary: fc.integer({ min: 10_000, max: 80_000 }).map((length) => '"\\}]'.repeat(length / 4)) },
    { weight: 2, arbitrary: fc.array(tie("value"), { maxLength: 5 }) },
    {
      weight: 2,
      arbitrary: fc.dictionary(fc.oneof(fc.string(), fc.constant("__proto__"), fc.constant("constructor")), tie("value"), { maxKeys: 5 }),
    },
    { weight: 1, arbitrary: fc.integer({ min: 5_000, max: 20_000 }).map((length) => Array.from({ length }, (_, i) => i)) },
  ),
}));
const text = fc
  .tuple(long.value, fc.constantFrom(undefined, 1, "\t"), fc.constantFrom("", " ", "\n"))
  .map(([value, indent, around]) => around + JSON.stringify([value, value], undefined, indent) + around)
  .filter((each) => !/\\u[dD][89a-fA-F]/.test(each));

describe("a text in pieces", () => {
  it("is what JSON.parse makes of it", () => {
    fc.assert(
      fc.property(text, (given) => {
        const decoded = decode(given);
        expect(decoded).toMatchObject({ ok: true });
        expect(JSON.stringify(decoded.ok && "value" in decoded && decoded.value)).toBe(JSON.stringify(JSON.parse(given)));
      }),
      { numRuns: 60 },
    );
  });

  it("is JSON just where JSON.parse takes it, whatever is cut out or put in", () => {
    const mark = fc.constantFrom("", ",", "]", "}", "[", "{", '"', ":", "1", "null", "\\");
    fc.assert(
      fc.property(text, fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(3), mark, (given, at, cut, put) => {
        const from = Math.floor(at * given.length);
        const changed = given.slice(0, from) + put + given.slice(from + cut);
        let isJson = true;
        try {
          JSON.parse(changed);
        } catch {
          isJson = false;
        }
        expect(decode(changed).ok).toBe(isJson);
      }),
      { numRuns: 150 },
    );
  });

  it("keeps names that are names of prototypes", () => {
    const pad = "x".repeat(JSON_PARSED_BYTES_MAX);
    const decoded = decode(`{"__proto__":{"a":"${pad}"},"b":["${pad}"]}`);
    const value = decoded.ok && "value" in decoded ? (decoded.value as Record<string, unknown>) : {};
    expect(Object.keys(value)).toEqual(["__proto__", "b"]);
    expect(Object.getPrototypeOf(value)).toBeNull();
  });
});

describe("a scan", () => {
  const many = '["a",'.padEnd(4_000_000, "{},");
  const refused: ReadonlyArray<readonly [what: string, text: string, reason: string, member: string | null]> = [
    ["a list of millions", `[${"{},".repeat(1_400_000)}{}]`, "too_much", null],
    ["a list in a member", `{"a":1,"entries":[${"1,".repeat(60_000)}1]}`, "too_much", "entries"],
    ["an object of thousands", `{"labels":{${'"a":1,'.repeat(6_000)}"b":1}}`, "too_much", "labels"],
    [
      "lists in lists",
      `[${Array(500)
        .fill(`[${"1,".repeat(2_000)}1]`)
        .join()}]`,
      "too_much",
      null,
    ],
    ["a list that never ends", many, "too_much", null],
    ["brackets that never end", "[".repeat(4_000_000), "too_deep", null],
    ["a text of megabytes", `{"a":"${"x".repeat(JSON_TEXT_CHARACTERS_MAX + 1)}"}`, "too_much", "a"],
    ["a text that never ends", `{"a":"${"x".repeat(4_000_000)}`, "too_much", "a"],
    ["a number of a million digits", `{"a":[${"1".repeat(1_000_000)}]}`, "too_much", "a"],
    ["space by the megabyte", `[1,${" ".repeat(1_000_000)}2]`, "too_much", null],
    ["what ends too soon", `[${'"abcdefgh",'.repeat(10_000)}`, "not_json", null],
  ];
  it.each(refused)("refuses %s", (_what, given, reason, member) => {
    expect(taken(scanJson(given, BOUNDS)).result).toMatchObject({ ok: false, reason, member });
  });

  it("reads no further than the first thing too many", () => {
    const { count } = taken(scanJson(`[${"{},".repeat(1_400_000)}{}]`, { ...BOUNDS, entriesMax: 1_000 }));
    expect(count).toBe(1);
  });

  it("pauses every 64 KiB, and parses no more at a time", () => {
    const given = JSON.stringify(Array.from({ length: 40_000 }, (_, i) => `entry ${i}`));
    const { result, count } = taken(scanJson(given, BOUNDS));
    expect(count).toBe(Math.ceil(given.length / 65_536));
    const pieces = result.ok ? (result.cut?.pieces ?? []) : [];
    expect(pieces.length).toBeGreaterThan(5);
    for (const { start, end } of pieces) expect(end - start).toBeLessThanOrEqual(JSON_PARSED_BYTES_MAX);
  });
});
