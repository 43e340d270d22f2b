// Numbers as texts without exponent, as Go prints them (strconv.FormatFloat, format f).
// Shares as people read them. Rounding never says all of what is less, nor nothing of what is more.

const DIGITS_MAX = 2;

/** NaN and infinities; undefined for a finite number. */
export function formatSpecial(value: number): string | undefined {
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

/** Digits of a finite number without trailing zeros, and the power of ten of the first. */
export function decimal(value: number): { readonly sign: string; readonly digits: string; readonly exponent: number } {
  const [mantissa = "0", power = "0"] = Math.abs(value).toExponential().split("e");
  return { sign: value < 0 || Object.is(value, -0) ? "-" : "", digits: mantissa.replace(".", ""), exponent: Number(power) };
}

/** A share from 0 to 1 in percent, with so many digits behind the point, and more where fewer would say 0 or 100 of what is neither. */
export function percentText(share: number, digits = 0): string {
  const percent = 100 * share;
  const rounded = percent.toFixed(digits);
  const isWhole = percent === 0 || percent === 100 || (Number(rounded) !== 0 && Number(rounded) !== 100);
  if (isWhole || !Number.isFinite(percent)) return `${rounded} %`;
  return digits < DIGITS_MAX ? percentText(share, digits + 1) : `${percent > 50 ? "above" : "below"} ${percent > 50 ? 99.99 : 0.01} %`;
}
