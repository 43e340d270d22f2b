// Shares as people read them. Rounding never says all of what is less, nor nothing of what is more.

/** A share from 0 to 1 in percent, with so many digits behind the point, and more where fewer would say 0 or 100 of what is neither. */
export function percentText(share: number, digits = 0): string {
  const percent = 100 * share;
  const rounded = percent.toFixed(digits);
  const isWhole = percent === 0 || percent === 100 || (Number(rounded) !== 0 && Number(rounded) !== 100);
  if (isWhole || !Number.isFinite(percent)) return `${rounded} %`;
  return digits < DIGITS_MAX ? percentText(share, digits + 1) : `${percent > 50 ? "above" : "below"} ${percent > 50 ? 99.99 : 0.01} %`;
}

const DIGITS_MAX = 2;
