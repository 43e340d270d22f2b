// Numbers as people read them: few digits, thousands apart, never a figure that is not known.

const GROUPED = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const BYTES = ["B", "kB", "MB", "GB", "TB", "PB"] as const;

/** Four significant digits; very large and very small numbers with an exponent. */
export function numberText(value: number | null | undefined): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e12)) return value.toExponential(2);
  if (size >= 1e4) return GROUPED.format(value);
  return String(Number(value.toPrecision(4)));
}

/** A whole number with its thousands apart. */
export function countText(value: number | null | undefined): string {
  return value === null || value === undefined ? "–" : GROUPED.format(value);
}

/** One word for one, another for several. */
export function plural(count: number, one: string, several = `${one}s`): string {
  return `${countText(count)} ${count === 1 ? one : several}`;
}

export function bytesText(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return "–";
  let index = 0;
  let value = bytes;
  while (value >= 1000 && index < BYTES.length - 1) {
    value /= 1000;
    index++;
  }
  return `${value >= 100 || index === 0 ? Math.round(value) : Number(value.toPrecision(3))} ${BYTES[index]}`;
}

/** A share in percent, three digits: never 100 % of what is less, never 0 % of what is more. */
export function percentText(share: number | null | undefined): string {
  if (share === null || share === undefined || !Number.isFinite(share)) return "–";
  const percent = share * 100;
  const shown = Number(percent.toPrecision(3));
  if (share > 0 && percent < 0.01) return "below 0.01 %";
  if (share < 1 && shown >= 100) return percent > 99.99 ? "above 99.99 %" : `${Math.floor(percent * 100) / 100} %`;
  return `${shown} %`;
}

/** A z with its sign. */
export function zText(z: number): string {
  return `${z > 0 ? "+" : ""}${Number(z.toFixed(1))}`;
}

/** Deviation of a value from what was expected, as a factor or a share: "2.4 times", "85 % less". */
export function departureText(observed: number, expected: number): string | null {
  if (!Number.isFinite(observed) || !Number.isFinite(expected) || expected === 0 || Math.sign(observed) * Math.sign(expected) < 0)
    return null;
  const ratio = observed / expected;
  if (ratio >= 2) return `${numberText(Number(ratio.toPrecision(2)))} times the usual`;
  const percent = Math.round(Math.abs(ratio - 1) * 100);
  if (percent === 0) return null;
  return `${percent} % ${ratio > 1 ? "above" : "below"} the usual`;
}
