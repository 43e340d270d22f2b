// What a way to forecast takes and gives.

/** Values at even distances, newest last. */
export interface ForecastTask {
  readonly values: Float64Array;
  /** Lengths of the seasons that may be in them, in values, ascending: 24 and 168 for hours. */
  readonly periods: readonly number[];
  /** Values to foretell. */
  readonly horizon: number;
}

export interface ForecastMethod {
  readonly name: string;
  /** The next values; undefined where there are too few to go by. */
  forecast(task: ForecastTask): Float64Array | undefined;
}

/** Mean of at least one value. */
export function mean(values: ArrayLike<number>): number {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] as number;
  return sum / values.length;
}
