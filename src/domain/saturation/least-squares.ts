// Least squares of a parabola through points, for the curvature of a fill and for its range.

/** value = c0 + c1 * t + c2 * t^2. */
export interface Polynomial {
  readonly c0: number;
  readonly c1: number;
  readonly c2: number;
}

export function valueAt(curve: Polynomial, t: number): number {
  return curve.c0 + t * (curve.c1 + t * curve.c2);
}

export function slopeAt(curve: Polynomial, t: number): number {
  return curve.c1 + 2 * curve.c2 * t;
}

/** y - curve(t), point by point. */
export function residualsOf(curve: Polynomial, t: Float64Array, y: Float64Array): Float64Array {
  return Float64Array.from(y, (value, i) => value - valueAt(curve, t[i] as number));
}

/** Parabola by least squares, or null where the points do not determine one (fewer than three different times). */
export function fitParabola(t: Float64Array, y: Float64Array): Polynomial | null {
  const n = t.length;
  const tMean = meanOf(t);
  let s2 = 0;
  let s3 = 0;
  let s4 = 0;
  let y0 = 0;
  let y1 = 0;
  let y2 = 0;
  for (let i = 0; i < n; i++) {
    const u = (t[i] as number) - tMean;
    const value = y[i] as number;
    s2 += u * u;
    s3 += u * u * u;
    s4 += u * u * u * u;
    y0 += value;
    y1 += u * value;
    y2 += u * u * value;
  }
  // Normal equations with the sum of u being 0, by Cramer's rule.
  const determinant = n * (s2 * s4 - s3 * s3) - s2 * s2 * s2;
  if (!(Math.abs(determinant) > 1e-9 * n * s2 * s4)) return null;
  const a0 = (y0 * (s2 * s4 - s3 * s3) + s2 * (y1 * s3 - s2 * y2)) / determinant;
  const a1 = (n * (y1 * s4 - y2 * s3) - s2 * (s2 * y1 - s3 * y0)) / determinant;
  const a2 = (n * (s2 * y2 - s3 * y1) - s2 * s2 * y0) / determinant;
  return { c0: a0 - a1 * tMean + a2 * tMean * tMean, c1: a1 - 2 * a2 * tMean, c2: a2 };
}

function meanOf(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] as number;
  return sum / values.length;
}
