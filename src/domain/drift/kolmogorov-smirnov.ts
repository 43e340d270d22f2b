// Kolmogorov-Smirnov's distance of two samples. Its p is that of the one-sample test with n m / (n + m) values, as in scipy.stats.ks_2samp's "asymp": exact
// by Marsaglia, Tsang & Wang (2003) in the middle, twice Smirnov's one-sided tail (Birnbaum & Tingey 1951) where that is small.

export interface DistanceTest {
  /** Largest distance of the two distribution functions, 0..1. */
  readonly statistic: number;
  readonly p: number;
}

/** From n d^2 = 2.2 on (p about 0.02) both tails together are twice one of them to seven digits and more. */
const TAIL_FROM = 2.2;
/** Above so many values the limiting distribution serves: the exact one takes (n d)^3 steps. */
const EXACT_MAX = 1000;
const TERMS_MAX = 100;

export function kolmogorovSmirnov(a: ArrayLike<number>, b: ArrayLike<number>): DistanceTest {
  const [x, y] = [Float64Array.from(a).sort(), Float64Array.from(b).sort()];
  let [i, j, statistic] = [0, 0, 0];
  while (i < x.length && j < y.length) {
    const at = Math.min(x[i] as number, y[j] as number);
    while (i < x.length && (x[i] as number) <= at) i++;
    while (j < y.length && (y[j] as number) <= at) j++;
    statistic = Math.max(statistic, Math.abs(i / x.length - j / y.length));
  }
  const n = Math.round((x.length * y.length) / (x.length + y.length));
  return { statistic, p: distanceTail(statistic, n) };
}

function distanceTail(distance: number, n: number): number {
  if (n < 1 || distance <= 0) return 1;
  if (n * distance * distance > TAIL_FROM) return Math.min(1, 2 * smirnovTail(distance, n));
  return n <= EXACT_MAX ? 1 - exactShare(distance, n) : limitTail(Math.sqrt(n) * distance);
}

/** P(D+ >= d) = d sum_j C(n, j) (1 - d - j/n)^(n-j) (d + j/n)^(j-1). */
function smirnovTail(distance: number, n: number): number {
  let sum = 0;
  let logChoose = 0;
  for (let j = 0; j <= Math.floor(n * (1 - distance)); j++) {
    const left = 1 - distance - j / n;
    if (left > 0) sum += Math.exp(logChoose + (n - j) * Math.log(left) + (j - 1) * Math.log(distance + j / n));
    logChoose += Math.log((n - j) / (j + 1));
  }
  return distance * sum;
}

/** P(D < d): n! / n^n times the middle of the n-th power of a matrix of size 2 ceil(n d) - 1. */
function exactShare(distance: number, n: number): number {
  const k = Math.floor(n * distance) + 1;
  const size = 2 * k - 1;
  const h = k - n * distance;
  const matrix = new Float64Array(size * size);
  for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) matrix[i * size + j] = i - j + 1 < 0 ? 0 : 1;
  for (let i = 0; i < size; i++) {
    matrix[i * size] = (matrix[i * size] as number) - h ** (i + 1);
    matrix[(size - 1) * size + i] = (matrix[(size - 1) * size + i] as number) - h ** (size - i);
  }
  const corner = (size - 1) * size;
  matrix[corner] = (matrix[corner] as number) + (2 * h - 1 > 0 ? (2 * h - 1) ** size : 0);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j < size; j++) for (let g = 1; g <= i - j + 1; g++) matrix[i * size + j] = (matrix[i * size + j] as number) / g;
  }
  const power = raised(matrix, size, n);
  let logShare = Math.log(power.matrix[(k - 1) * size + k - 1] as number) + power.logScale;
  for (let i = 1; i <= n; i++) logShare += Math.log(i / n);
  return Math.exp(logShare);
}

/** matrix^exponent = result e^logScale, rescaled on the way so that nothing overflows. */
function raised(matrix: Float64Array, size: number, exponent: number): { matrix: Float64Array; logScale: number } {
  let result: Float64Array = Float64Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0));
  let base: Float64Array = matrix;
  let [resultLog, baseLog] = [0, 0];
  for (let rest = exponent; rest > 0; rest >>= 1) {
    if (rest & 1) {
      result = multiplied(result, base, size);
      resultLog += baseLog + rescale(result);
    }
    base = multiplied(base, base, size);
    baseLog = 2 * baseLog + rescale(base);
  }
  return { matrix: result, logScale: resultLog };
}

/** Divides by the largest entry, whose logarithm it returns. */
function rescale(matrix: Float64Array): number {
  const largest = matrix.reduce((max, value) => Math.max(max, Math.abs(value)), 0);
  for (let i = 0; i < matrix.length; i++) matrix[i] = (matrix[i] as number) / largest;
  return Math.log(largest);
}

function multiplied(a: Float64Array, b: Float64Array, size: number): Float64Array {
  const result = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) {
      const weight = a[i * size + k] as number;
      for (let j = 0; j < size; j++) result[i * size + j] = (result[i * size + j] as number) + weight * (b[k * size + j] as number);
    }
  }
  return result;
}

/** Kolmogorov's limit: 2 sum (-1)^(k-1) exp(-2 k^2 x^2). */
function limitTail(x: number): number {
  if (x < 0.2) return 1;
  let sum = 0;
  for (let k = 1; k <= TERMS_MAX; k++) sum += 2 * (-1) ** (k - 1) * Math.exp(-2 * k * k * x * x);
  return Math.min(1, Math.max(0, sum));
}
