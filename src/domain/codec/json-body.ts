// Decodes the text of a JSON body. Python's json module and others write bare NaN and Infinity; a record with one must be refused as a record,
// not take its neighbours down with it, so such tokens are read as text, which no number field accepts.

/** A decoded body, or what was wrong with it. */
export type DecodedJson = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly message: string };

const STRING_OR_NON_FINITE = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/gs;

/** Parses JSON text; bare NaN, Infinity and -Infinity become strings of that name. */
export function decodeJson(text: string): DecodedJson {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return text.includes("NaN") || text.includes("Infinity") ? decodeNonFinite(text, message) : { ok: false, message };
  }
}

function decodeNonFinite(text: string, message: string): DecodedJson {
  try {
    return { ok: true, value: JSON.parse(text.replace(STRING_OR_NON_FINITE, (token) => (token.startsWith('"') ? token : `"${token}"`))) };
  } catch {
    return { ok: false, message };
  }
}
