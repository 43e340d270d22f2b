// Covariances of standardised series at all lags up to a maximum: what every regression of causal discovery is solved from, so that the values are read
// once. 30 series x 720 values x 15 lags: 20 million products, about 20 ms, and 225 KB.

export class LaggedCovariance {
  readonly series: number;
  readonly rows: number;
  readonly lagMax: number;
  readonly #byLag: Float64Array;

  /** Series of equal length with mean 0; the biased estimate (divided by their length), which makes every matrix of it positive semidefinite. */
  constructor(series: readonly Float64Array[], lagMax: number) {
    this.series = series.length;
    this.rows = series[0]?.length ?? 0;
    this.lagMax = lagMax;
    this.#byLag = new Float64Array(series.length * series.length * (lagMax + 1));
    for (const [i, a] of series.entries()) {
      for (const [j, b] of series.entries()) {
        for (let lag = 0; lag <= lagMax; lag++) this.#byLag[this.#index(i, j, lag)] = laggedProduct(a, b, lag) / this.rows;
      }
    }
  }

  /** Covariance of series i at t - lagI with series j at t - lagJ. */
  at(i: number, lagI: number, j: number, lagJ: number): number {
    const shift = lagJ - lagI;
    return this.#byLag[shift >= 0 ? this.#index(i, j, shift) : this.#index(j, i, -shift)] as number;
  }

  /** Place of a at t with b at t - lag. */
  #index(a: number, b: number, lag: number): number {
    return (a * this.series + b) * (this.lagMax + 1) + lag;
  }
}

function laggedProduct(a: Float64Array, b: Float64Array, lag: number): number {
  let sum = 0;
  for (let t = lag; t < a.length; t++) sum += (a[t] as number) * (b[t - lag] as number);
  return sum;
}
