import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LARGE_BODY } from "../../../../src/core/layout/memory-map.ts";
import type { IngestExports } from "../../../../src/domain/kernel/ingest-kernel.ts";
import { loadKernel } from "../../../support/kernel.ts";

const { kernel, bytes } = loadKernel<IngestExports>();

/** What the kernel says; bytes behind the text are brackets and quotes, which it must not count. */
function depthOf(text: string, shift = 0): number {
  const encoded = new TextEncoder().encode(text);
  bytes.set(encoded, LARGE_BODY + shift);
  bytes.fill(0x5b, LARGE_BODY + shift + encoded.length, LARGE_BODY + shift + encoded.length + 64);
  return kernel.jsonDepth(LARGE_BODY + shift, encoded.length);
}

/** The slow twin, one character at a time. A backslash takes a quote's meaning only: outside strings it is an error anyway. */
function slowDepth(text: string): number {
  let [depth, deepest, inside, escaped] = [0, 0, false, false];
  for (const character of text) {
    if (character === '"' && !escaped) inside = !inside;
    else if (!inside && (character === "[" || character === "{")) deepest = Math.max(deepest, ++depth);
    else if (!inside && (character === "]" || character === "}")) depth--;
    escaped = character === "\\" && !escaped;
  }
  return deepest;
}

function valueDepth(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(valueDepth));
}

describe("jsonDepth", () => {
  it("is the depth of the value", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 8, noUnicodeString: false }), fc.boolean(), fc.nat(40), (value, pretty, shift) => {
        expect(depthOf(JSON.stringify(value, null, pretty ? 2 : 0), shift)).toBe(valueDepth(value));
      }),
      { numRuns: 3000 },
    );
  });

  it("agrees with the slow twin on anything made of brackets, quotes and backslashes", () => {
    const piece = fc.constantFrom(
      "[",
      "]",
      "{",
      "}",
      '"',
      "\\",
      "\\\\",
      '\\"',
      "a",
      ",",
      "x".repeat(61),
      "\\".repeat(64),
      "\u00fb",
      "\u00dd",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 200 }), (pieces) => {
        const text = pieces.join("");
        expect(depthOf(text)).toBe(slowDepth(text));
      }),
      { numRuns: 5000 },
    );
  });

  it("counts very deep nesting", () => {
    expect(depthOf("[".repeat(1_000_000))).toBe(1_000_000);
    expect(depthOf(`${'{"a":['.repeat(500)}${"]}".repeat(500)}`)).toBe(1000);
  });
});
