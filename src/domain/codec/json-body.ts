// Decodes the text of a JSON body. Python's json module and others write bare NaN and Infinity; a record with one must be refused as a record,
// not take its neighbours down with it, so such tokens are read as text, which no number field accepts.
import { messageOf } from "../../core/text/error-text.ts";

/** A decoded body, or what was wrong with it. `halves`: it may hold half of a surrogate pair (holdsHalfCharacter tells). */
export type DecodedJson =
  | { readonly ok: true; readonly value: unknown; readonly halves: boolean }
  | { readonly ok: false; readonly message: string };

/** Text that came as UTF-8 holds half of a surrogate pair only where an escape makes one. */
const SURROGATE_ESCAPE = /\\u[dD][89a-fA-F]/;
const HALF_CHARACTER = /\p{Surrogate}/u;
const STRING_OR_NON_FINITE = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/gs;

/** Parses JSON text; bare NaN, Infinity and -Infinity become strings of that name. */
export function decodeJson(text: string): DecodedJson {
  try {
    return { ok: true, value: JSON.parse(text), halves: SURROGATE_ESCAPE.test(text) };
  } catch (error) {
    const message = messageOf(error);
    return text.includes("NaN") || text.includes("Infinity") ? decodeNonFinite(text, message) : { ok: false, message };
  }
}

/** Whether a decoded value holds half of a surrogate pair: no Unicode text, which UTF-8 turns into the same replacement character for all of them. */
export function holdsHalfCharacter(value: unknown): boolean {
  if (typeof value === "string") return HALF_CHARACTER.test(value);
  if (typeof value !== "object" || value === null) return false;
  return Object.entries(value).some(([name, member]) => HALF_CHARACTER.test(name) || holdsHalfCharacter(member));
}

function decodeNonFinite(text: string, message: string): DecodedJson {
  try {
    const value: unknown = JSON.parse(text.replace(STRING_OR_NON_FINITE, (token) => (token.startsWith('"') ? token : `"${token}"`)));
    return { ok: true, value, halves: SURROGATE_ESCAPE.test(text) };
  } catch {
    return { ok: false, message };
  }
}
