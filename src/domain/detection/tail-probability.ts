// Tail probabilities in log space: two-sided Student t and normal tails, their inverses, and the "equivalent z" by which all detectors speak.
// Right to about 1e-12 relative in log p down to log p = -5000 (z = 100), where p itself has long left the range of a double.
// Sources: Abramowitz & Stegun 26.5 and 26.7 (t by the incomplete beta), DLMF 8.17.22 (its continued fraction), 7.9.4 (erfc), 5.11.13 (gamma ratio).

/** Largest |z| that is reported. */
export const Z_MAX = 99;
const P_MIN = 1e-300;
const LOG_TWO = Math.log(2);
const HALF_LOG_PI = 0.5 * Math.log(Math.PI);
const HALF_LOG_TWO_PI = 0.5 * Math.log(2 * Math.PI);
/** Coefficients of 1/a, 1/a^3, ... in ln Gamma(a + 1/2) - ln Gamma(a) - ln(a)/2. */
const GAMMA_RATIO_SERIES = [-1 / 8, 1 / 192, -1 / 640, 17 / 14336, -31 / 18432, 691 / 180224];
const GAMMA_RATIO_FROM = 16;
const FRACTION_TERMS_MAX = 20_000;
const FRACTION_TINY = 1e-300;
const NEWTON_STEPS_MAX = 200;

/** log of P(|T| > |t|) for Student's t with `degreesOfFreedom` > 0. */
export function logStudentTail(t: number, degreesOfFreedom: number): number {
  const u = Math.abs(t) / Math.sqrt(degreesOfFreedom);
  if (u === 0) return 0;
  const a = degreesOfFreedom / 2;
  const x = 1 / (1 + u * u);
  const logX = u > 1e8 ? -2 * Math.log(u) : -Math.log1p(u * u);
  const logY = u > 1e8 ? 0 : 2 * Math.log(u) + logX;
  const logFront = a * logX + 0.5 * logY - HALF_LOG_PI + logGammaRatio(a);
  if (x < (a + 1) / (a + 2.5)) return logFront - Math.log(a) + Math.log(betaFraction(a, 0.5, x));
  return Math.log1p(-2 * Math.exp(logFront) * betaFraction(0.5, a, Math.exp(logY)));
}

/** log of P(|Z| > |z|) for the standard normal: log erfc(|z| / sqrt 2). */
export function logNormalTail(z: number): number {
  const x = Math.abs(z) / Math.SQRT2;
  return x < 1.5 ? Math.log1p(-errorFunction(x)) : -x * x - HALF_LOG_PI + Math.log(erfcFraction(x));
}

/** The z >= 0 with logNormalTail(z) = logP. */
export function normalQuantile(logP: number): number {
  if (logP >= 0) return 0;
  // log of the tail is concave and exp(-z^2 / 2) bounds the tail: Newton comes down to the root from the right.
  let z = Math.sqrt(-2 * logP);
  for (let i = 0; i < NEWTON_STEPS_MAX; i++) {
    const logTail = logNormalTail(z);
    const step = (logTail - logP) / Math.exp(LOG_TWO - 0.5 * z * z - HALF_LOG_TWO_PI - logTail);
    z += step;
    if (Math.abs(step) <= 1e-15 * z) break;
  }
  return Math.max(0, z);
}

/** The t >= 0 with logStudentTail(t, degreesOfFreedom) = logP. */
export function studentQuantile(logP: number, degreesOfFreedom: number): number {
  if (logP >= 0) return 0;
  let s = 0;
  while (logStudentTail(Math.exp(s), degreesOfFreedom) > logP) s = s * 2 + 1;
  // In s = ln t the log of the tail is concave and decreasing: from the right again.
  for (let i = 0; i < NEWTON_STEPS_MAX; i++) {
    const t = Math.exp(s);
    const logTail = logStudentTail(t, degreesOfFreedom);
    const step = (logTail - logP) / Math.exp(LOG_TWO + s + logStudentDensity(t, degreesOfFreedom) - logTail);
    s += step;
    if (Math.abs(step) <= 1e-14) break;
  }
  return Math.exp(s);
}

/** Signed z of a normal with the same two-sided tail as t; within +-Z_MAX, 0 without degrees of freedom. */
export function equivalentZ(t: number, degreesOfFreedom: number): number {
  if (!(degreesOfFreedom > 0) || Number.isNaN(t)) return 0;
  if (!Number.isFinite(t)) return Math.sign(t) * Z_MAX;
  return Math.sign(t) * Math.min(Z_MAX, normalQuantile(logStudentTail(t, degreesOfFreedom)));
}

/** p for reporting, floored where a double and most readers end. */
export function reportedProbability(logP: number): number {
  return Math.max(P_MIN, Math.exp(logP));
}

/** The same as far as `values` of a baseline can show it: of so many, none may have been as far out. */
export function shownProbability(logP: number, values: number): number {
  return Math.max(1 / (values + 1), reportedProbability(logP));
}

function logStudentDensity(t: number, degreesOfFreedom: number): number {
  const u = Math.abs(t) / Math.sqrt(degreesOfFreedom);
  const logOnePlus = u > 1e8 ? 2 * Math.log(u) : Math.log1p(u * u);
  return logGammaRatio(degreesOfFreedom / 2) - 0.5 * Math.log(degreesOfFreedom) - HALF_LOG_PI - 0.5 * (degreesOfFreedom + 1) * logOnePlus;
}

/** ln Gamma(a + 1/2) - ln Gamma(a), without the cancellation of two large logarithms. */
function logGammaRatio(a: number): number {
  let raised = a;
  let logProduct = 0;
  while (raised < GAMMA_RATIO_FROM) {
    logProduct += Math.log(raised / (raised + 0.5));
    raised++;
  }
  const inverseSquare = 1 / (raised * raised);
  let sum = 0;
  for (let i = GAMMA_RATIO_SERIES.length - 1; i >= 0; i--) sum = sum * inverseSquare + (GAMMA_RATIO_SERIES[i] as number);
  return logProduct + 0.5 * Math.log(raised) + sum / raised;
}

/** Continued fraction of the incomplete beta function by Lentz's method: I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) * fraction. */
export function betaFraction(a: number, b: number, x: number): number {
  let c = 1;
  let d = 1 / nonZero(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let m = 1; m < FRACTION_TERMS_MAX; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m));
    d = 1 / nonZero(1 + even * d);
    c = nonZero(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1));
    d = 1 / nonZero(1 + odd * d);
    c = nonZero(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return fraction;
}

/** erfc(x) = exp(-x^2) / sqrt(pi) * this, for x >= 1. */
function erfcFraction(x: number): number {
  let c = 1 / FRACTION_TINY;
  let d = 1 / x;
  let fraction = d;
  for (let m = 1; m < FRACTION_TERMS_MAX; m++) {
    d = 1 / nonZero(x + (m / 2) * d);
    c = nonZero(x + m / 2 / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-16) break;
  }
  return fraction;
}

/** erf(x) by its series with positive terms, for 0 <= x < 2. */
function errorFunction(x: number): number {
  let term = x;
  let sum = x;
  for (let n = 1; term > sum * 1e-17; n++) {
    term *= (2 * x * x) / (2 * n + 1);
    sum += term;
  }
  return (2 / Math.sqrt(Math.PI)) * Math.exp(-x * x) * sum;
}

/** A denominator of a continued fraction, kept off zero. */
export function nonZero(value: number): number {
  return Math.abs(value) < FRACTION_TINY ? FRACTION_TINY : value;
}

/** Below, tan((1/2 - p) pi) is 1 / (p pi) to double precision. */
const LOG_P_TINY = Math.log(1e-15);

/** A log p <= 0 and how much it counts beside the others. */
export interface Witness {
  readonly logP: number;
  readonly weight: number;
}

/** The log of one p from several that may depend on each other, by the Cauchy combination test (Liu & Xie 2020); 0 for none. */
export function combineLogP(witnesses: readonly Witness[]): number {
  if (witnesses.length === 0) return 0;
  let [least, total] = [0, 0];
  for (const { logP, weight } of witnesses) {
    least = Math.min(least, logP);
    total += weight;
  }
  if (least >= LOG_P_TINY) {
    let sum = 0;
    for (const { logP, weight } of witnesses) sum += weight * Math.tan((0.5 - Math.exp(logP)) * Math.PI);
    return Math.log(0.5 - Math.atan(sum / total) / Math.PI);
  }
  let parts = 0;
  for (const { logP, weight } of witnesses) parts += weight * Math.exp(least - logP);
  return Math.min(0, least - Math.log(parts / total));
}
