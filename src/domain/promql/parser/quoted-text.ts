// Texts in quotes as Go writes and reads them: what Prometheus prints of strings, and how a query's strings are read (util/strutil/quote.go).
// A byte that is no UTF-8 becomes the lone surrogate U+DC00 + byte, which no well-formed text contains, so that it can be refused and printed.
import { ownMember } from "../../../core/collections/own-member.ts";

const NAMED: Readonly<Record<string, string>> = {
  "\x07": "\\a",
  "\b": "\\b",
  "\f": "\\f",
  "\n": "\\n",
  "\r": "\\r",
  "\t": "\\t",
  "\v": "\\v",
  "\\": "\\\\",
};
const BYTE_BASE = 0xdc00;
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** A text in quotes, `"` unless another is asked for. */
export function quote(text: string, mark = '"'): string {
  let quoted = mark;
  for (const character of text) quoted += character === mark ? `\\${mark}` : (ownMember(NAMED, character) ?? printed(character));
  return quoted + mark;
}

function printed(character: string): string {
  const code = character.codePointAt(0) as number;
  if (code >= BYTE_BASE + 0x80 && code <= BYTE_BASE + 0xff) return `\\x${(code - BYTE_BASE).toString(16)}`;
  if (code < 0x20 || code === 0x7f) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x7f || /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(character)) return character;
  return code > 0xffff ? `\\U${code.toString(16).padStart(8, "0")}` : `\\u${code.toString(16).padStart(4, "0")}`;
}

const ESCAPES: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11 };

/** The text between quotes that the lexer has found whole; undefined where an escape is none. */
export function unquote(quoted: string): string | undefined {
  const inner = quoted.slice(1, -1);
  if (quoted.startsWith("`")) return inner;
  if (!inner.includes("\\")) return inner;
  const bytes: number[] = [];
  for (let at = 0; at < inner.length; ) {
    if (inner[at] !== "\\") {
      const character = String.fromCodePoint(inner.codePointAt(at) as number);
      bytes.push(...encoder.encode(character));
      at += character.length;
      continue;
    }
    const found = readEscape(inner, at + 1);
    if (found === undefined) return undefined;
    bytes.push(...found.bytes);
    at = found.end;
  }
  return decode(bytes);
}

/** Bytes of the escape behind the backslash. */
function readEscape(text: string, at: number): { readonly bytes: Iterable<number>; readonly end: number } | undefined {
  const letter = text[at] ?? "";
  const named = ownMember(ESCAPES, letter);
  if (named !== undefined) return { bytes: [named], end: at + 1 };
  if (letter === "x") return { bytes: [Number.parseInt(text.slice(at + 1, at + 3), 16)], end: at + 3 };
  if (letter === "u" || letter === "U") {
    const end = at + (letter === "u" ? 5 : 9);
    return { bytes: encoder.encode(String.fromCodePoint(Number.parseInt(text.slice(at + 1, end), 16))), end };
  }
  if (/[0-7]/.test(letter)) return { bytes: [Number.parseInt(text.slice(at, at + 3), 8)], end: at + 3 };
  return /[\\"'`]/.test(letter) ? { bytes: encoder.encode(letter), end: at + 1 } : undefined;
}

/** UTF-8 as text, each byte that is none as a lone surrogate. */
function decode(bytes: readonly number[]): string {
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const lead = bytes[at] as number;
    const length = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    const character = decodeCharacter(bytes.slice(at, at + length));
    text += character ?? String.fromCharCode(BYTE_BASE + lead);
    at += character === undefined ? 1 : length;
  }
  return text;
}

function decodeCharacter(bytes: readonly number[]): string | undefined {
  try {
    return decoder.decode(new Uint8Array(bytes));
  } catch {
    return undefined;
  }
}
