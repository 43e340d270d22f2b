// The text of a log with what varies masked, so that lines of one kind become one: quoted strings, UUIDs, addresses, hexadecimal and decimal numbers.
// The number of a source line (`OrderService#115` of a dotted logger, `main.go:42`) stays: it does not vary, and tells lines of one form apart.
// About 1 us for 100 characters; only the first line counts, and of that MASKED_CHARACTERS.

/** UTF-16 units of a masked text; three times as many bytes are still below NAME_BYTES_MAX. */
const MASKED_CHARACTERS = 300;
/** Units of a line that are read: masks are shorter than what they stand for. */
const READ_CHARACTERS = 600;

/** One pass finds all: at a place the first alternative that fits counts, so longer forms come first. Every repetition is bounded by a character of another class. */
const VARYING =
  /(?<=\.[\p{L}_$][\w$]{0,60})#\d{1,6}\b|(?<=\.(?:go|py|java|kt|scala|js|ts|mjs|rb|cs|cpp|cc|c|rs|php|ex)):\d{1,6}\b|"[^"]*"|(?<![\p{L}\p{N}])'[^']*'(?![\p{L}\p{N}])|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b|\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|\b0x[0-9a-f]+\b|\b(?=[a-f]*\d)[0-9a-f]{6,}\b|\d+(?:\.\d+)*/giu;
const SHARP = 0x23;
const COLON = 0x3a;
const SPACES = /\s+/g;

function maskOf(found: string): string {
  const first = found.charCodeAt(0);
  if (first === SHARP || first === COLON) return found;
  if (first === 0x22 || first === 0x27) return "<str>";
  if (found.length === 36 && found[8] === "-") return "<uuid>";
  if (/^\d+$/.test(found)) return "<num>";
  if (/^\d{1,3}(?:\.\d{1,3}){3}$/.test(found)) return "<ip>";
  return /^[\d.]+$/.test(found) ? "<num>" : "<hex>";
}

/** Masks a log's text. */
export function maskedText(text: string): string {
  const end = text.search(/[\r\n]/);
  const line = text.slice(0, Math.min(end < 0 ? text.length : end, READ_CHARACTERS));
  return line.replace(VARYING, maskOf).replace(SPACES, " ").trim().slice(0, MASKED_CHARACTERS);
}
