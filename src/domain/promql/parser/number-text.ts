// Numbers as Go reads and prints them (strconv.ParseInt, ParseFloat, FormatFloat): a query's literals, values of count_values and of messages.

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

function formatSpecial(value: number): string | undefined {
  if (Number.isNaN(value)) return "NaN";
  return Number.isFinite(value) ? undefined : value > 0 ? "+Inf" : "-Inf";
}

/** The shortest text without exponent that reads as the same number: Go's format `f`. */
export function formatPlain(value: number): string {
  const special = formatSpecial(value);
  if (special !== undefined) return special;
  const { sign, digits, exponent } = decimal(value);
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  const fraction = digits.slice(exponent + 1);
  return sign + whole + (fraction === "" ? "" : `.${fraction}`);
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

/** Digits of a finite number without trailing zeros, and the power of ten of the first. */
function decimal(value: number): { readonly sign: string; readonly digits: string; readonly exponent: number } {
  const [mantissa = "0", power = "0"] = Math.abs(value).toExponential().split("e");
  return { sign: value < 0 || Object.is(value, -0) ? "-" : "", digits: mantissa.replace(".", ""), exponent: Number(power) };
}
