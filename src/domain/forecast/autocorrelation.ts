// Autocorrelation and the augmented Dickey-Fuller test (Box & Jenkins; MacKinnon 1994 and 2010 for its p-value).
import { logNormalTail } from "../detection/tail-probability.ts";
import { leastSquares } from "./linear-system.ts";

/** Result of the Dickey-Fuller test with a constant: small p speaks against a unit root. */
export interface UnitRootTest {
  readonly statistic: number;
  readonly p: number;
  readonly rows: number;
}

/** MacKinnon's p for a constant, one series: polynomials in the statistic below and above the turning point. */
const TURNING_STATISTIC = -1.61;
const STATISTIC_MIN = -18.83;
const STATISTIC_MAX = 2.74;
const SMALL_P = [2.1659, 1.4412, 0.038269];
const LARGE_P = [1.7339, 0.93202, -0.12745, -0.010368];

/** Augmented Dickey-Fuller test with a constant and `lags` differences. Undefined for a series that is too short or constant. */
export function unitRootTest(values: ArrayLike<number>, lags: number): UnitRootTest | undefined {
  const n = values.length;
  const rows = n - 1 - lags;
  const size = lags + 2;
  if (rows <= size) return undefined;
  const difference = Float64Array.from({ length: n - 1 }, (_, t) => (values[t + 1] as number) - (values[t] as number));
  const level = Float64Array.from({ length: rows }, (_, t) => values[t + lags] as number);
  const columns = [
    level,
    ...Array.from({ length: lags }, (_, k) => difference.subarray(lags - k - 1, n - 2 - k)),
    new Float64Array(rows).fill(1),
  ];
  const fit = leastSquares(columns, difference.subarray(lags));
  if (fit === undefined || !(fit.rss > 0)) return undefined;
  const error = Math.sqrt((fit.rss / (rows - size)) * (fit.inverseDiagonal[0] as number));
  const statistic = (fit.coefficients[0] as number) / error;
  return { statistic, p: unitRootProbability(statistic), rows };
}

function unitRootProbability(statistic: number): number {
  if (statistic > STATISTIC_MAX) return 1;
  if (statistic < STATISTIC_MIN) return 0;
  const coefficients = statistic <= TURNING_STATISTIC ? SMALL_P : LARGE_P;
  const z = coefficients.reduce((sum, coefficient, power) => sum + coefficient * statistic ** power, 0);
  const twoSided = Math.exp(logNormalTail(z));
  return z < 0 ? twoSided / 2 : 1 - twoSided / 2;
}
