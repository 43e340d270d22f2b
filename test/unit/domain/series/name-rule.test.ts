import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { KEY_BYTES_MAX } from "../../../../src/core/config/key-limits.ts";
import { NAME_BYTES_MAX } from "../../../../src/core/config/limits.ts";
import { KeyBuilder } from "../../../../src/domain/codec/key.ts";
import { flawText, isName, mendedName, nameFlaw } from "../../../../src/domain/series/name-rule.ts";

describe("what a name may be", () => {
  it.each([
    ["a NUL", "a\0", "control_character"],
    ["a line feed", "a\nb", "control_character"],
    ["an escape", "\u001b[31mred", "control_character"],
    ["delete", "a\u007f", "control_character"],
    ["the first of C1", "\u0080", "control_character"],
    ["the last of C1", "\u009f", "control_character"],
    ["a line separator", "a\u2028", "control_character"],
    ["a paragraph separator", "\u2029a", "control_character"],
    ["half of a pair, high", "m\ud800", "half_character"],
    ["half of a pair before a letter", "\ud800m", "half_character"],
    ["half of a pair, low", "\udc00", "half_character"],
    ["two halves in the wrong order", "\udc00\ud800", "half_character"],
    ["a byte too many", "é".repeat(NAME_BYTES_MAX / 2) + "a", "too_long"],
    ["characters of three bytes", "\uffff".repeat(NAME_BYTES_MAX / 3 + 1), "too_long"],
  ])("%s is a flaw", (_, name, flaw) => {
    expect(nameFlaw(name)).toBe(flaw);
    expect(isName(name)).toBe(false);
  });

  it.each([
    ["plain", "http.server.duration"],
    ["the longest", "a".repeat(NAME_BYTES_MAX)],
    ["a whole pair", "😀"],
    ["no-break space, the first behind C1", "\u00a0"],
    ["a byte order mark", "\ufeffa"],
    ["a joiner", "a\u200db"],
    ["the last character", "\u{10ffff}"],
    ["a member of all objects", "__proto__"],
  ])("%s is a name", (_, name) => {
    expect(nameFlaw(name)).toBeUndefined();
    expect(isName(name)).toBe(true);
  });

  it("has no empty name, though that is no flaw of an optional one", () => {
    expect(isName("")).toBe(false);
    expect(nameFlaw("")).toBeUndefined();
  });

  it("takes a bound of its own", () => {
    expect(nameFlaw("abcd", 3)).toBe("too_long");
    expect(flawText("too_long", 3)).toContain("3 bytes");
  });

  it("fits the longest key with a name in it", () => {
    const longest = new KeyBuilder().text("\uffff".repeat(64)).text("a".repeat(NAME_BYTES_MAX)).text("k".repeat(128)).u16(1).finish();
    expect(longest.length).toBeLessThanOrEqual(KEY_BYTES_MAX);
  });
});

describe("a name that is mended", () => {
  it.each([
    ["has the mark for each character that no name has", "a\0b\nc\u2028\ud800", "a\ufffdb\ufffdc\ufffd\ufffd"],
    ["keeps whole pairs beside halves", "😀\udc00", "😀\ufffd"],
    ["is cut at a character", `${"a".repeat(NAME_BYTES_MAX - 1)}é`, "a".repeat(NAME_BYTES_MAX - 1)],
    ["stays what it was where it has no flaw", "checkout", "checkout"],
  ])("%s", (_, text, name) => {
    expect(mendedName(text)).toBe(name);
  });

  it("is a name, whatever text it was", () => {
    const text = fc.string({
      unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      minLength: 1,
      maxLength: 2_000,
    });
    const anyText = fc.oneof(text, fc.constantFrom("\0".repeat(NAME_BYTES_MAX), "\ud800".repeat(5 * NAME_BYTES_MAX)));
    fc.assert(fc.property(anyText, (each) => isName(mendedName(each))));
  });
});
