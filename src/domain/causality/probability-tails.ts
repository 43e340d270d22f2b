// Upper tails of the F and chi-square distributions, by the incomplete beta and gamma functions (Abramowitz & Stegun 26.5 and 26.4; Press et al.,
// Numerical Recipes, chapter 6, for the continued fractions). Right to about 1e-12 relative.
import { betaFraction, nonZero } from "../detection/tail-probability.ts";

const TINY = 1e-300;
const TERMS_MAX = 10_000;
const LANCZOS = [676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012];
const LANCZOS_TAIL = [9.984369578019572e-6, 1.5056327351493116e-7];

/** P(F > x) for an F distribution with `numerator` and `denominator` degrees of freedom; 1 for x <= 0. */
export function fTail(x: number, numerator: number, denominator: number): number {
  if (!(x > 0)) return 1;
  return betaShare(denominator / (denominator + numerator * x), denominator / 2, numerator / 2);
}

/** P(X > x) for a chi-square distribution; 1 for x <= 0. */
export function chiSquareTail(x: number, degreesOfFreedom: number): number {
  if (!(x > 0)) return 1;
  return gammaTail(degreesOfFreedom / 2, x / 2);
}

/** Regularised incomplete beta function I_x(a, b). */
function betaShare(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  const logFront = a * Math.log(x) + b * Math.log1p(-x) + logGamma(a + b) - logGamma(a) - logGamma(b);
  if (x < (a + 1) / (a + b + 2)) return (Math.exp(logFront) * betaFraction(a, b, x)) / a;
  return 1 - (Math.exp(logFront) * betaFraction(b, a, 1 - x)) / b;
}

/** Regularised upper incomplete gamma function Q(a, x). */
function gammaTail(a: number, x: number): number {
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < TERMS_MAX && term > sum * 1e-16; n++) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - front * sum;
  }
  let b = x + 1 - a;
  let c = 1 / TINY;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < TERMS_MAX; n++) {
    const an = -n * (n - a);
    b += 2;
    d = 1 / nonZero(an * d + b);
    c = nonZero(b + an / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return front * fraction;
}

/** ln Gamma(x) for x > 0 (Lanczos, g = 7, n = 9; about 1e-14 relative). */
function logGamma(x: number): number {
  const at = x - 1;
  let sum = 0.9999999999998099;
  for (const [i, coefficient] of [...LANCZOS, ...LANCZOS_TAIL].entries()) sum += coefficient / (at + i + 1);
  const t = at + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (at + 0.5) * Math.log(t) - t + Math.log(sum);
}
