// Slow twin of the library behind symmetric-eigen.ts: cyclic Jacobi rotations (Golub & Van Loan, Matrix Computations, 8.5).
import type { SymmetricEigen } from "../../src/domain/detection/multivariate/symmetric-eigen.ts";

const SWEEPS_MAX = 60;
const TOLERANCE = 1e-22;

/** Decomposes `matrix` (size x size, row by row), which is not changed. O(size^3) a sweep, about 8 sweeps. */
export function jacobiEigen(matrix: Float64Array, size: number): SymmetricEigen {
  const a = Float64Array.from(matrix);
  const rows = identity(size);
  const total = a.reduce((sum, value) => sum + value * value, 0);
  for (let sweep = 0; sweep < SWEEPS_MAX && offDiagonal(a, size) > TOLERANCE * total; sweep++) {
    for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) rotate(a, rows, size, p, q);
  }
  const order = Array.from({ length: size }, (_, i) => i).sort((i, j) => (a[j * size + j] as number) - (a[i * size + i] as number));
  const vectors = new Float64Array(size * size);
  for (const [to, from] of order.entries()) vectors.set(rows.subarray(from * size, (from + 1) * size), to * size);
  return { values: Float64Array.from(order, (i) => a[i * size + i] as number), vectors };
}

function identity(size: number): Float64Array {
  const rows = new Float64Array(size * size);
  for (let i = 0; i < size; i++) rows[i * size + i] = 1;
  return rows;
}

function offDiagonal(a: Float64Array, size: number): number {
  let sum = 0;
  for (let p = 0; p < size; p++) for (let q = p + 1; q < size; q++) sum += 2 * (a[p * size + q] as number) ** 2;
  return sum;
}

/** One rotation in the plane of p and q that makes a[p][q] zero. */
function rotate(a: Float64Array, rows: Float64Array, size: number, p: number, q: number): void {
  const apq = a[p * size + q] as number;
  if (apq === 0) return;
  const theta = ((a[q * size + q] as number) - (a[p * size + p] as number)) / (2 * apq);
  const t = (theta < 0 ? -1 : 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
  const c = 1 / Math.sqrt(t * t + 1);
  const s = t * c;
  for (let k = 0; k < size; k++) turn(a, k * size + p, k * size + q, c, s);
  for (let k = 0; k < size; k++) turn(a, p * size + k, q * size + k, c, s);
  for (let k = 0; k < size; k++) turn(rows, p * size + k, q * size + k, c, s);
}

function turn(values: Float64Array, i: number, j: number, c: number, s: number): void {
  const x = values[i] as number;
  const y = values[j] as number;
  values[i] = c * x - s * y;
  values[j] = s * x + c * y;
}
