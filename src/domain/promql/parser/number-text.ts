// Numbers as Go reads and prints them (strconv.ParseInt, ParseFloat, FormatFloat): a query's literals, values of count_values and of messages.
import { decimal, formatPlain, formatSpecial } from "../../../core/text/plain-number.ts";

/** A number of a query: decimal, hexadecimal, octal with a leading 0, with underscores, Inf and NaN. undefined where it is none. */
export function parseNumber(text: string): number | undefined {
  const bare = text.replaceAll("_", "");
  if (/^0x[0-9a-f]+$/i.test(bare)) return Number(bare);
  if (/^0[0-7]+$/.test(bare)) return Number.parseInt(bare, 8);
  return parseFloat64(bare);
}

/** A float, signed or not; undefined where the text is none or it is beyond the largest. */
export function parseFloat64(text: string): number | undefined {
  const special = /^([+-]?)(?:(inf|infinity)|nan)$/i.exec(text);
  if (special !== null) return special[2] === undefined ? Number.NaN : special[1] === "-" ? -Infinity : Infinity;
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? value : undefined;
}

/** The shortest text that reads as the same number, or of so many digits, with an exponent below 1e-4 and from 1e6 on: Go's format `g` of messages. */
export function formatShortest(value: number, significant?: number): string {
  const special = formatSpecial(value);
  if (special !== undefined) return special;
  const rounded = significant === undefined ? value : Number(value.toPrecision(significant));
  const { sign, digits, exponent } = decimal(rounded);
  const plainMax = significant ?? 6;
  if (exponent >= -4 && exponent < plainMax) return formatPlain(rounded);
  const power = `${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  return `${sign}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e${power}`;
}
