// ARIMA and seasonal ARIMA: exact Gaussian likelihood by the Kalman filter (Harvey 1989; Gardner, Harvey & Phillips 1980), and forecasts by psi weights.
// Parameters are searched as partial autocorrelations within (-1, 1) (Monahan 1984), so that every fit is stationary and invertible.
import { simplexSearch } from "./simplex-search.ts";

export interface ArimaOrder {
  readonly p: number;
  readonly d: number;
  readonly q: number;
  readonly seasonal?: { readonly p: number; readonly d: number; readonly q: number; readonly period: number };
  /** Whether the differenced series has a mean of its own. */
  readonly hasMean: boolean;
}

export interface ArimaParameters {
  readonly ar: readonly number[];
  readonly ma: readonly number[];
  readonly seasonalAr: readonly number[];
  readonly seasonalMa: readonly number[];
  readonly mean: number;
}

export interface ArimaFit {
  readonly order: ArimaOrder;
  readonly parameters: ArimaParameters;
  readonly sigma2: number;
  readonly logLikelihood: number;
  /** Akaike's criterion with its correction for small samples. */
  readonly aicc: number;
}

export interface ArimaForecast {
  readonly mean: Float64Array;
  readonly se: Float64Array;
}

const EVALUATIONS_PER_PARAMETER = 120;
const STEP = 0.3;
/** The filter's covariance has settled below this change: from there the recursion is that of the innovations alone. */
const SETTLED = 1e-9;

/** Maximum likelihood. Undefined where too few values are left after differencing. `evaluationsMax` bounds the search. */
export function fitArima(values: ArrayLike<number>, order: ArimaOrder, evaluationsMax = Number.POSITIVE_INFINITY): ArimaFit | undefined {
  const differenced = differencedSeries(values, order);
  const count = order.p + order.q + (order.seasonal?.p ?? 0) + (order.seasonal?.q ?? 0);
  if (differenced.length < count + 5) return undefined;
  const mean = order.hasMean ? average(differenced) : 0;
  const spread = Math.sqrt(average(differenced.map((value) => (value - mean) ** 2))) || 1;
  const start = [...new Array(count).fill(0.1), ...(order.hasMean ? [0] : [])];
  const parametersOf = (at: readonly number[]) => unpack(at, order, { mean, spread });
  const cost = (at: readonly number[]) => -likelihood(differenced, order, parametersOf(at)).logLikelihood;
  const limit = Math.min(evaluationsMax, EVALUATIONS_PER_PARAMETER * (start.length + 1));
  let best = start.length === 0 ? start : simplexSearch(cost, start, STEP, limit);
  if (start.length > 1 && evaluationsMax === Number.POSITIVE_INFINITY) best = simplexSearch(cost, best, STEP / 3, limit);
  const parameters = parametersOf(best);
  const { logLikelihood, sigma2 } = likelihood(differenced, order, parameters);
  const free = start.length + 1;
  const n = differenced.length;
  return { order, parameters, sigma2, logLikelihood, aicc: -2 * logLikelihood + (2 * free * n) / Math.max(1, n - free - 1) };
}

/** The next `horizon` values. */
export function forecastArima(values: ArrayLike<number>, fit: ArimaFit, horizon: number): ArimaForecast {
  const { order, parameters, sigma2 } = fit;
  const series = Float64Array.from(values);
  const differenced = differencedSeries(series, order);
  const { ar, ma } = expanded(order, parameters);
  const { state } = filterInnovations(
    differenced.map((value) => value - parameters.mean),
    ar,
    ma,
  );
  const ahead = Float64Array.from({ length: horizon }, () => {
    const next = state[0] as number;
    for (let i = 0; i < state.length; i++) state[i] = (ar[i] ?? 0) * next + (state[i + 1] ?? 0);
    return next + parameters.mean;
  });
  const difference = differencePolynomial(order);
  const psi = psiWeights(multiply([1, ...ar.map((value) => -value)], difference), ma, horizon);
  let sum = 0;
  const se = psi.map((weight) => {
    sum += weight * weight;
    return Math.sqrt(sigma2 * sum);
  });
  return { mean: integrated(series, ahead, difference), se };
}

/** Weights of past innovations in a value: psi(B) = ma(B) / ar(B), for a polynomial `ar` with leading 1. */
export function psiWeights(ar: ArrayLike<number>, ma: ArrayLike<number>, count: number): Float64Array {
  const psi = new Float64Array(count);
  for (let k = 0; k < count; k++) {
    let weight = k === 0 ? 1 : ((ma[k - 1] as number | undefined) ?? 0);
    for (let i = 1; i < ar.length && i <= k; i++) weight -= (ar[i] as number) * (psi[k - i] as number);
    psi[k] = weight;
  }
  return psi;
}

function likelihood(differenced: Float64Array, order: ArimaOrder, parameters: ArimaParameters): { logLikelihood: number; sigma2: number } {
  const { ar, ma } = expanded(order, parameters);
  const { squares, logs } = filterInnovations(
    differenced.map((value) => value - parameters.mean),
    ar,
    ma,
  );
  const n = differenced.length;
  const sigma2 = Math.max(squares / n, 1e-300);
  return { logLikelihood: -0.5 * (n * Math.log(2 * Math.PI * sigma2) + logs + n), sigma2 };
}

/** A stationary ARMA process with innovations of variance 1: its state after the last value, the sum of squared one-step errors by variance, and the sum of log variances. */
function filterInnovations(values: Float64Array, ar: readonly number[], ma: readonly number[]) {
  const size = Math.max(ar.length, ma.length + 1);
  const phi = Float64Array.from({ length: size }, (_, i) => ar[i] ?? 0);
  const theta = Float64Array.from({ length: size }, (_, i) => (i === 0 ? 1 : (ma[i - 1] ?? 0)));
  let covariance: Float64Array = stationaryCovariance(phi, theta);
  let spare: Float64Array = new Float64Array(size * size);
  const state = new Float64Array(size);
  const gain = new Float64Array(size);
  let variance = 1;
  let isSettled = false;
  let squares = 0;
  let logs = 0;
  for (let t = 0; t < values.length; t++) {
    const error = (values[t] as number) - (state[0] as number);
    if (!isSettled) {
      variance = Math.max(covariance[0] as number, 1e-12);
      for (let i = 0; i < size; i++)
        gain[i] = ((phi[i] as number) * (covariance[0] as number) + (i + 1 < size ? (covariance[(i + 1) * size] as number) : 0)) / variance;
      predictCovariance(covariance, spare, { phi, theta, gain, variance });
      [covariance, spare] = [spare, covariance];
      isSettled = Math.abs(variance - 1) < SETTLED;
    }
    squares += (error * error) / variance;
    logs += Math.log(variance);
    const first = state[0] as number;
    for (let i = 0; i < size; i++)
      state[i] = (phi[i] as number) * first + (i + 1 < size ? (state[i + 1] as number) : 0) + (gain[i] as number) * error;
  }
  return { state, squares, logs };
}

/** next = T P T' + R R' - K F K' for the companion form, in place of `next`. */
function predictCovariance(
  covariance: Float64Array,
  next: Float64Array,
  {
    phi,
    theta,
    gain,
    variance,
  }: { readonly phi: Float64Array; readonly theta: Float64Array; readonly gain: Float64Array; readonly variance: number },
): void {
  const size = phi.length;
  const at = (i: number, j: number) => (i < size && j < size ? (covariance[i * size + j] as number) : 0);
  const corner = covariance[0] as number;
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      const moved =
        (phi[i] as number) * (phi[j] as number) * corner +
        (phi[i] as number) * at(0, j + 1) +
        (phi[j] as number) * at(i + 1, 0) +
        at(i + 1, j + 1);
      const value = moved + (theta[i] as number) * (theta[j] as number) - (gain[i] as number) * (gain[j] as number) * variance;
      next[i * size + j] = value;
      next[j * size + i] = value;
    }
  }
}

/** Covariance of the state before any value, by iterating the process without observing it until it no longer changes. */
function stationaryCovariance(phi: Float64Array, theta: Float64Array): Float64Array {
  const size = phi.length;
  let power: Float64Array = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    power[i * size] = phi[i] as number;
    if (i + 1 < size) power[i * size + i + 1] = 1;
  }
  const sum: Float64Array = new Float64Array(size * size);
  for (let i = 0; i < size; i++) for (let j = 0; j < size; j++) sum[i * size + j] = (theta[i] as number) * (theta[j] as number);
  // Doubling (Smith 1968): P = Q + A Q A' + A^2 Q A'^2 + ...
  for (let iteration = 0; iteration < 40; iteration++) {
    const added = product(product(power, sum, size), transposed(power, size), size);
    let largest = 0;
    for (let k = 0; k < sum.length; k++) {
      largest = Math.max(largest, Math.abs(added[k] as number));
      sum[k] = (sum[k] as number) + (added[k] as number);
    }
    if (largest <= 1e-12 * (sum[0] as number)) break;
    power = product(power, power, size);
  }
  return sum;
}

function product(a: Float64Array, b: Float64Array, size: number): Float64Array {
  const result = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let k = 0; k < size; k++) {
      const weight = a[i * size + k] as number;
      if (weight === 0) continue;
      for (let j = 0; j < size; j++) result[i * size + j] = (result[i * size + j] as number) + weight * (b[k * size + j] as number);
    }
  }
  return result;
}

function transposed(a: Float64Array, size: number): Float64Array {
  return Float64Array.from({ length: size * size }, (_, k) => a[(k % size) * size + Math.floor(k / size)] as number);
}

function unpack(at: readonly number[], order: ArimaOrder, scale: { readonly mean: number; readonly spread: number }): ArimaParameters {
  let from = 0;
  const take = (count: number) => {
    from += count;
    return at.slice(from - count, from);
  };
  const { seasonal } = order;
  return {
    ar: stationaryCoefficients(take(order.p)),
    ma: stationaryCoefficients(take(order.q)).map((value) => -value),
    seasonalAr: stationaryCoefficients(take(seasonal?.p ?? 0)),
    seasonalMa: stationaryCoefficients(take(seasonal?.q ?? 0)).map((value) => -value),
    mean: order.hasMean ? scale.mean + scale.spread * (take(1)[0] as number) : 0,
  };
}

/** Coefficients of a stationary autoregression from any real numbers: tanh gives partial autocorrelations, Durbin-Levinson the rest. */
function stationaryCoefficients(at: readonly number[]): number[] {
  let phi: number[] = [];
  for (const x of at) {
    const last = Math.tanh(x);
    phi = [...phi.map((value, j) => value - last * (phi[phi.length - 1 - j] as number)), last];
  }
  return phi;
}

/** Coefficients of the whole autoregression and moving average, the seasonal polynomials multiplied in. */
function expanded({ seasonal }: ArimaOrder, { ar, ma, seasonalAr, seasonalMa }: ArimaParameters): { ar: number[]; ma: number[] } {
  const period = seasonal?.period ?? 1;
  const spaced = (coefficients: readonly number[]) => coefficients.flatMap((value) => [...new Array(period - 1).fill(0), value]);
  const minus = (coefficients: readonly number[]) => coefficients.map((value) => -value);
  const left = multiply([1, ...minus(ar)], [1, ...minus(spaced(seasonalAr))]);
  const right = multiply([1, ...ma], [1, ...spaced(seasonalMa)]);
  return { ar: minus(left.slice(1)), ma: right.slice(1) };
}

function differencePolynomial({ d, seasonal }: ArimaOrder): number[] {
  let polynomial = [1];
  for (let i = 0; i < d; i++) polynomial = multiply(polynomial, [1, -1]);
  for (let i = 0; i < (seasonal?.d ?? 0); i++)
    polynomial = multiply(polynomial, [1, ...new Array((seasonal?.period ?? 1) - 1).fill(0), -1]);
  return polynomial;
}

function differencedSeries(values: ArrayLike<number>, order: ArimaOrder): Float64Array {
  const polynomial = differencePolynomial(order);
  const lost = polynomial.length - 1;
  return Float64Array.from({ length: Math.max(0, values.length - lost) }, (_, t) =>
    polynomial.reduce((sum, weight, k) => sum + weight * (values[t + lost - k] as number), 0),
  );
}

/** Values from forecasts of their differences. */
function integrated(series: Float64Array, ahead: Float64Array, difference: readonly number[]): Float64Array {
  const whole = [...series.subarray(Math.max(0, series.length - difference.length + 1))];
  const known = whole.length;
  for (const value of ahead) {
    let next = value;
    for (let k = 1; k < difference.length; k++) next -= (difference[k] as number) * (whole[whole.length - k] as number);
    whole.push(next);
  }
  return Float64Array.from(whole.slice(known));
}

function multiply(a: readonly number[], b: readonly number[]): number[] {
  const result: number[] = new Array(a.length + b.length - 1).fill(0);
  for (const [i, x] of a.entries()) for (const [j, y] of b.entries()) result[i + j] = (result[i + j] as number) + x * y;
  return result;
}

function average(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
