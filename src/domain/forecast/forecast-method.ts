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
