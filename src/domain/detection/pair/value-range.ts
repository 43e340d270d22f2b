// Values as the long baselines hold them, which are of single precision in parts. Beyond LINEAR_MAX a root is held, so that of any finite value it is known whether
// it departs; what is told is in the unit of the series.

/** Up to here values are held as they are: nanoseconds since 1970 are. */
const LINEAR_MAX = 1e20;
/** The largest finite value is held as some 1e38. */
const ROOT = 16;

/** A finite value as it is held: the order of values stays. */
export function compressedValue(value: number): number {
  const size = Math.abs(value);
  return size <= LINEAR_MAX ? value : Math.sign(value) * LINEAR_MAX * (size / LINEAR_MAX) ** (1 / ROOT);
}

/** The value that is held as this one; the largest finite one where that is beyond. */
export function shownValue(compressed: number): number {
  const size = Math.abs(compressed);
  return size <= LINEAR_MAX ? compressed : Math.sign(compressed) * Math.min(Number.MAX_VALUE, LINEAR_MAX * (size / LINEAR_MAX) ** ROOT);
}
