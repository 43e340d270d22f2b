// Floats with so many digits, as Go's strconv writes them: rounded to even where exactly half is left, which toFixed() of the language is not.
import { formatPlain } from "../../../core/text/plain-number.ts";
import { formatShortest } from "../../promql/parser/number-text.ts";

/** More digits than any tie needs at the digits that are asked for. */
const EXACT_DIGITS = 100;
const FIXED_MAX = 1e21;

/** Format `f`: so many digits behind the point. */
export function fixedText(value: number, digits: number): string {
  if (!Number.isFinite(value)) return formatPlain(value);
  const sign = value < 0 || Object.is(value, -0) ? "-" : "";
  const size = Math.abs(value);
  if (size >= FIXED_MAX) return `${sign}${BigInt(size)}${digits > 0 ? `.${"0".repeat(digits)}` : ""}`;
  const exact = size.toFixed(EXACT_DIGITS);
  if (digits >= EXACT_DIGITS) return sign + exact + "0".repeat(digits - EXACT_DIGITS);
  const point = exact.indexOf(".");
  return sign + roundedDigits(exact.slice(0, point) + exact.slice(point + 1), point + digits, point);
}

/** Rounds digits behind the first `length`; a point goes behind the first `point`. */
function roundedDigits(all: string, length: number, point: number): string {
  const rest = all.slice(length);
  const isUp = /^5/.test(rest) && /^50*$/.test(rest) ? Number(all[length - 1] ?? "0") % 2 === 1 : rest >= "5";
  const number = String(BigInt(all.slice(0, length) || "0") + (isUp ? 1n : 0n)).padStart(length, "0");
  const whole = point + (number.length - length);
  const fraction = number.slice(whole);
  return (whole === 0 ? "0" : number.slice(0, whole)) + (fraction === "" ? "" : `.${fraction}`);
}

/** Format `e`: so many digits behind the first. */
export function exponentText(value: number, digits: number): string {
  if (!Number.isFinite(value)) return formatPlain(value);
  const [mantissa = "0", power = "0"] = Math.abs(value).toExponential(EXACT_DIGITS).split("e");
  const rounded = digits >= EXACT_DIGITS ? mantissa.padEnd(digits + 2, "0") : roundedDigits(mantissa.replace(".", ""), digits + 1, 1);
  const isWider = rounded.startsWith("10");
  const exponent = Number(power) + (isWider ? 1 : 0);
  const shown = isWider ? `1${digits > 0 ? `.${"0".repeat(digits)}` : ""}` : rounded;
  const exponentDigits = String(Math.abs(exponent)).padStart(2, "0");
  return `${value < 0 || Object.is(value, -0) ? "-" : ""}${shown}e${exponent < 0 ? "-" : "+"}${exponentDigits}`;
}

/** Format `e` of as many digits as are needed. */
export function shortestExponentText(value: number): string {
  const [mantissa = ""] = Math.abs(value).toExponential().split("e");
  return exponentText(value, Math.max(0, mantissa.length - 2));
}

/** Format `g`: so many significant digits without zeros at their end. */
export function generalText(value: number, significant: number): string {
  if (!Number.isFinite(value)) return formatPlain(value);
  const digits = Math.max(1, significant);
  const scientific = exponentText(value, digits - 1);
  const [mantissa = "0", power = "0"] = scientific.split("e");
  const exponent = Number(power);
  const trimmed = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
  if (exponent < -4 || exponent >= digits) return `${trimmed}e${power}`;
  return formatPlain(Number(scientific));
}

/** Format `g` of as many digits as are needed. */
export function shortestText(value: number): string {
  return formatShortest(value);
}
