// Least squares by normal equations and Cholesky's decomposition, for systems of up to a few hundred unknowns.

/** Solution of least squares: coefficients, and the sum of squared residuals. */
export interface LeastSquares {
  readonly coefficients: Float64Array;
  readonly rss: number;
  /** Diagonal of the inverse of X'X: a coefficient's variance in units of that of the residual. */
  readonly inverseDiagonal: Float64Array;
}

/**
 * Regression of `y` on columns of equal length. `ridge` is added to the diagonal, in units of it. Undefined where the columns depend on one another.
 */
export function leastSquares(columns: readonly ArrayLike<number>[], y: ArrayLike<number>, ridge = 0): LeastSquares | undefined {
  const size = columns.length;
  const gram = new Float64Array(size * size);
  const right = new Float64Array(size);
  for (let i = 0; i < size; i++) {
    const column = columns[i] as ArrayLike<number>;
    for (let j = i; j < size; j++) {
      const product = dot(column, columns[j] as ArrayLike<number>);
      gram[i * size + j] = product;
      gram[j * size + i] = product;
    }
    gram[i * size + i] = (gram[i * size + i] as number) * (1 + ridge);
    right[i] = dot(column, y);
  }
  const factor = cholesky(gram, size);
  if (factor === undefined) return undefined;
  const coefficients = solveCholesky(factor, right, size);
  return { coefficients, rss: residualSum(columns, y, coefficients), inverseDiagonal: inverseDiagonalOf(factor, size) };
}

/** Lower factor L with L L' = matrix (row-major), or undefined where the matrix is not positive definite to working precision. */
export function cholesky(matrix: Float64Array, size: number): Float64Array | undefined {
  const factor = new Float64Array(size * size);
  for (let i = 0; i < size; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = matrix[i * size + j] as number;
      for (let k = 0; k < j; k++) sum -= (factor[i * size + k] as number) * (factor[j * size + k] as number);
      if (i !== j) factor[i * size + j] = sum / (factor[j * size + j] as number);
      else if (sum > 1e-12 * (matrix[i * size + i] as number)) factor[i * size + i] = Math.sqrt(sum);
      else return undefined;
    }
  }
  return factor;
}

/** x with L L' x = right. */
export function solveCholesky(factor: Float64Array, right: ArrayLike<number>, size: number): Float64Array {
  const x = Float64Array.from(right);
  for (let i = 0; i < size; i++) {
    let sum = x[i] as number;
    for (let k = 0; k < i; k++) sum -= (factor[i * size + k] as number) * (x[k] as number);
    x[i] = sum / (factor[i * size + i] as number);
  }
  for (let i = size - 1; i >= 0; i--) {
    let sum = x[i] as number;
    for (let k = i + 1; k < size; k++) sum -= (factor[k * size + i] as number) * (x[k] as number);
    x[i] = sum / (factor[i * size + i] as number);
  }
  return x;
}

function inverseDiagonalOf(factor: Float64Array, size: number): Float64Array {
  return Float64Array.from({ length: size }, (_, i) => {
    const unit = new Float64Array(size);
    unit[i] = 1;
    return solveCholesky(factor, unit, size)[i] as number;
  });
}

function residualSum(columns: readonly ArrayLike<number>[], y: ArrayLike<number>, coefficients: Float64Array): number {
  let rss = 0;
  for (let t = 0; t < y.length; t++) {
    let rest = y[t] as number;
    for (let i = 0; i < columns.length; i++) rest -= (coefficients[i] as number) * ((columns[i] as ArrayLike<number>)[t] as number);
    rss += rest * rest;
  }
  return rss;
}

function dot(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let sum = 0;
  for (let t = 0; t < a.length; t++) sum += (a[t] as number) * (b[t] as number);
  return sum;
}
