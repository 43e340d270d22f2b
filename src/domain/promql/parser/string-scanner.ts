// Finds the end of a string in quotes, and says what is wrong with one (lexString and lexEscape in promql/parser/lex.go of Prometheus).
import { ownMember } from "../../../core/collections/own-member.ts";

const ESCAPE_DIGITS: Readonly<Record<string, readonly [digits: number, base: number, most: number]>> = {
  x: [2, 16, 0xff],
  u: [4, 16, 0x10ffff],
  U: [8, 16, 0x10ffff],
};

/** Offset behind the closing quote, or the reason why there is none. */
export function stringEnd(text: string, start: number): number | string {
  const mark = text[start] as string;
  if (mark === "`") {
    const end = text.indexOf(mark, start + 1);
    return end < 0 ? "unterminated raw string" : end + 1;
  }
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at];
    if (character === mark) return at + 1;
    if (character === "\n") break;
    if (character !== "\\") continue;
    const end = escapeEnd(text, at + 1, mark);
    if (typeof end === "string") return end;
    at = end - 1;
  }
  return "unterminated quoted string";
}

function escapeEnd(text: string, at: number, mark: string): number | string {
  const letter = text[at];
  if (letter === undefined) return "escape sequence not terminated";
  if (letter === mark || "abfnrtv\\".includes(letter)) return at + 1;
  if (/[0-7]/.test(letter)) return digitsEnd(text, at, [3, 8, 0xff]);
  const digits = ownMember(ESCAPE_DIGITS, letter);
  return digits === undefined ? `unknown escape sequence ${codePoint(text, at)}` : digitsEnd(text, at + 1, digits);
}

function digitsEnd(text: string, at: number, [count, base, most]: readonly [number, number, number]): number | string {
  let value = 0;
  for (let i = at; i < at + count; i++) {
    if (i >= text.length) return "escape sequence not terminated";
    const digit = Number.parseInt(text[i] as string, base);
    if (Number.isNaN(digit)) return `illegal character ${codePoint(text, i)} in escape sequence`;
    value = value * base + digit;
  }
  return value > most || (value >= 0xd800 && value < 0xe000) ? "escape sequence is an invalid Unicode code point" : at + count;
}

/** Go's %#U: the code point and the character. */
function codePoint(text: string, at: number): string {
  const code = text.codePointAt(at) as number;
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")} '${String.fromCodePoint(code)}'`;
}
