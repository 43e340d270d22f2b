// The PCA companion: what a vector leaves over when the main directions of a service's history are taken out (Q), and how far it lies along them
// (T2). Jackson & Mudholkar 1979 (Q), Hotelling 1947 (T2); both also as means of magnitudes, which one broken metric cannot rule alone.
import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";
import type { EigenSolver } from "./symmetric-eigen.ts";

const VARIANCE_RETAINED = 0.9;
const EIGENVALUE_MIN = 1e-6;
/** Least spread of a residual, in standard deviations of its column: finer is rounding. */
const RESIDUAL_SPREAD_MIN = 0.05;
/** Least variance of what the components leave, in that of a column: finer is rounding. */
const REST_VARIANCE_MIN = 1e-3;
const FILL_ITERATIONS = 16;

/** Distance of a vector to the components. */
export interface ComponentDistance {
  /** Sum of squares of the residual. */
  q: number;
  /** Mean magnitude of the residual's coordinates. */
  residual: number;
  /** Mean magnitude of the scores, each in its own standard deviations: the robust form of T2. */
  score: number;
}

/** Vectors as rows of one array. */
export interface Rows {
  readonly values: Float64Array;
  /** Numbers a row. */
  readonly width: number;
}

/** Components as they are stored. */
export interface ComponentParts {
  /** Mean of each column. */
  readonly means: Float64Array;
  readonly scales: Float64Array;
  /** Kept eigenvectors, row by row. */
  readonly components: Float32Array;
  /** Standard deviation along each of them. */
  readonly deviations: Float32Array;
}

/** Components of standardised vectors. */
export class PrincipalComponents {
  readonly parts: ComponentParts;
  readonly #means: Float64Array;
  readonly #scales: Float64Array;
  readonly #components: Float32Array;
  readonly #deviations: Float32Array;
  /** Residual of the vector that was measured last, in standard deviations of each coordinate. */
  readonly residuals: Float64Array;
  readonly #least: Float64Array;
  readonly #spreads: Float64Array;
  readonly #distance: ComponentDistance = { q: 0, residual: 0, score: 0 };

  /** Over parts that `learn` has made. */
  constructor(parts: ComponentParts) {
    this.parts = parts;
    this.#means = parts.means;
    this.#scales = parts.scales;
    this.#components = parts.components;
    this.#deviations = parts.deviations;
    this.residuals = new Float64Array(parts.means.length);
    this.#least = new Float64Array(parts.means.length);
    this.#spreads = this.#residualSpreads();
  }

  /** Standard deviations of the residuals: what the components leave of each column's variance. */
  #residualSpreads(): Float64Array {
    const width = this.residuals.length;
    return Float64Array.from({ length: width }, (_, j) => {
      let left = 1;
      for (let k = 0; k < this.#deviations.length; k++) {
        left -= ((this.#components[k * width + j] as number) * (this.#deviations[k] as number)) ** 2;
      }
      return Math.max(Math.sqrt(Math.max(0, left)), RESIDUAL_SPREAD_MIN);
    });
  }

  /** Learns from rows, of which there must be at least 2. */
  static learn({ values, width }: Rows, eigen: EigenSolver): PrincipalComponents {
    const count = values.length / width;
    const means = columnMeans(values, width);
    const scales = columnScales(values, width, means);
    const { values: eigenvalues, vectors } = eigen(covariance(values, means, scales, count), width);
    const retained = componentsFor(eigenvalues);
    const components = Float32Array.from(vectors.subarray(0, retained * width));
    const deviations = Float32Array.from(eigenvalues.subarray(0, retained), (value) => Math.sqrt(Math.max(value, EIGENVALUE_MIN)));
    return new PrincipalComponents({ means, scales, components, deviations });
  }

  /** Measures the vector that stands in `values` from `start` on. The object is used again. */
  measure(values: Float64Array, start: number): ComponentDistance {
    const { residuals } = this;
    const width = residuals.length;
    for (let j = 0; j < width; j++) residuals[j] = this.#standard(values[start + j] as number, j);
    let score = 0;
    // The components are orthonormal: taking them out one after the other leaves the same as taking them out at once.
    for (let k = 0; k < this.#deviations.length; k++) score += Math.abs(this.#takeOut(k)) / (this.#deviations[k] as number);
    let q = 0;
    let magnitude = 0;
    for (let j = 0; j < width; j++) {
      q += (residuals[j] as number) ** 2;
      magnitude += Math.abs(residuals[j] as number);
    }
    this.#distance.q = q;
    this.#distance.residual = magnitude / width;
    this.#distance.score = score / Math.max(1, this.#deviations.length);
    return this.#distance;
  }

  /** Value that the components make of the other coordinates for this one, of the vector that was measured last. */
  expected(value: number, column: number): number {
    return value - (this.residuals[column] as number) * (this.#scales[column] as number);
  }

  /**
   * The value in this column that fits the others of the row: its mean where they are as they are, by the components and what is usual beside them
   * (Tipping & Bishop 1999). What the components make of a row holds the row's own value, all of it where they leave nothing out.
   */
  fitting(row: Float64Array, column: number): number {
    const width = this.residuals.length;
    const rest = 1 / this.#restVariance();
    let precision = rest;
    let pull = rest * this.#standard(row[column] as number, column);
    for (let k = 0; k < this.#deviations.length; k++) {
      let along = 0;
      for (let j = 0; j < width; j++) along += (this.#components[k * width + j] as number) * this.#standard(row[j] as number, j);
      const own = this.#components[k * width + column] as number;
      const more = own * ((this.#deviations[k] as number) ** -2 - rest);
      precision += more * own;
      pull += more * along;
    }
    const standard = this.#standard(row[column] as number, column) - pull / precision;
    return (this.#means[column] as number) + standard * (this.#scales[column] as number);
  }

  /** Variance along each direction that is no component, of columns whose variance is 1. */
  #restVariance(): number {
    const width = this.residuals.length;
    const retained = this.#deviations.reduce((sum, deviation) => sum + deviation ** 2, 0);
    return Math.max(REST_VARIANCE_MIN, (width - retained) / Math.max(1, width - this.#deviations.length));
  }

  /**
   * Puts what the components make of the others in the place of coordinates that are NaN, of which up to half may be: begins with the mean and goes on with
   * what was expected (Dempster, Laird & Rubin 1977, for a subspace); with half of them missing each round halves the error at least on average.
   */
  fillGaps(values: Float64Array): void {
    const gaps = Array.from(values.keys()).filter((j) => Number.isNaN(values[j]));
    for (const j of gaps) values[j] = this.#means[j] as number;
    for (let iteration = 0; gaps.length > 0 && iteration < FILL_ITERATIONS; iteration++) {
      this.measure(values, 0);
      for (const j of gaps) values[j] = this.expected(values[j] as number, j);
    }
  }

  /**
   * How far the column that does so most lies off what the others make of it in all of so many rows, the last of which begins at `start`, and on one side: the
   * least of its residuals, in their own standard deviations.
   */
  lastingResidual(values: Float64Array, start: number, rows: number): number {
    const { residuals } = this;
    const width = residuals.length;
    const least = this.#least.fill(Number.NaN);
    for (let row = rows - 1; row >= 0; row--) {
      this.measure(values, start - row * width);
      for (let j = 0; j < width; j++) {
        const residual = (residuals[j] as number) / (this.#spreads[j] as number);
        const before = least[j] as number;
        if (Number.isNaN(before)) least[j] = residual;
        else least[j] = residual * before <= 0 ? 0 : Math.sign(before) * Math.min(Math.abs(before), Math.abs(residual));
      }
    }
    let most = 0;
    for (let j = 0; j < width; j++) most = Math.max(most, Math.abs(least[j] as number));
    return most;
  }

  #standard(value: number, column: number): number {
    return (value - (this.#means[column] as number)) / (this.#scales[column] as number);
  }

  #takeOut(component: number): number {
    const { residuals } = this;
    const width = residuals.length;
    let along = 0;
    for (let j = 0; j < width; j++) along += (this.#components[component * width + j] as number) * (residuals[j] as number);
    for (let j = 0; j < width; j++) residuals[j] = (residuals[j] as number) - along * (this.#components[component * width + j] as number);
    return along;
  }
}

function covariance(values: Float64Array, means: Float64Array, scales: Float64Array, count: number): Float64Array {
  const width = means.length;
  const products = new Float64Array(width * width);
  const row = new Float64Array(width);
  for (let i = 0; i < count; i++) {
    for (let j = 0; j < width; j++) row[j] = ((values[i * width + j] as number) - (means[j] as number)) / (scales[j] as number);
    for (let j = 0; j < width; j++) {
      const factor = row[j] as number;
      for (let k = j; k < width; k++) products[j * width + k] = (products[j * width + k] as number) + factor * (row[k] as number);
    }
  }
  for (let j = 0; j < width; j++) {
    for (let k = j; k < width; k++) {
      const value = (products[j * width + k] as number) / (count - 1);
      products[j * width + k] = value;
      products[k * width + j] = value;
    }
  }
  return products;
}

function columnMeans(values: Float64Array, width: number): Float64Array {
  const means = new Float64Array(width);
  for (let i = 0; i < values.length; i++) means[i % width] = (means[i % width] as number) + (values[i] as number);
  return means.map((sum) => (sum * width) / values.length);
}

/** Standard deviations, at least a thousandth of the largest magnitude; 1 for a column of zeros. */
function columnScales(values: Float64Array, width: number, means: Float64Array): Float64Array {
  const squares = new Float64Array(width);
  const largest = new Float64Array(width);
  for (let i = 0; i < values.length; i++) {
    const j = i % width;
    squares[j] = (squares[j] as number) + ((values[i] as number) - (means[j] as number)) ** 2;
    largest[j] = Math.max(largest[j] as number, Math.abs(values[i] as number));
  }
  return squares.map((sum, j) => {
    const scale = Math.max(Math.sqrt((sum * width) / values.length), SD_RELATIVE_MIN * (largest[j] as number));
    return scale <= SD_MIN ? 1 : scale;
  });
}

/** Number of components that hold VARIANCE_RETAINED of the variance. */
function componentsFor(eigenvalues: Float64Array): number {
  const total = eigenvalues.reduce((sum, value) => sum + Math.max(0, value), 0);
  let explained = 0;
  for (let k = 0; k < eigenvalues.length; k++) {
    explained += Math.max(0, eigenvalues[k] as number);
    if (explained >= VARIANCE_RETAINED * total) return k + 1;
  }
  return eigenvalues.length;
}
