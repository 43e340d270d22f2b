// The order of texts by UTF-16 code units: the same on every machine, whatever its language.

/** Negative, 0 or positive, as `Array.prototype.sort` takes it. */
export function compareTexts(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
