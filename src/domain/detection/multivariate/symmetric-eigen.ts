// Eigenvalues and eigenvectors of a small symmetric matrix: ml-matrix's (Householder, then QL). Only trainings load it: 0.6 MB of heap a thread, which engines
// are spared by being given no solver (EigenSolver is a type). 64 metrics take 2 ms.
import { EigenvalueDecomposition, WrapperMatrix1D } from "ml-matrix";

/** Eigenvalues, largest first, and the eigenvector of each as row i of `vectors` (size x size, row by row). */
export interface SymmetricEigen {
  readonly values: Float64Array;
  readonly vectors: Float64Array;
}

/** Decomposes `matrix` (size x size, row by row), which is not changed. */
export type EigenSolver = (matrix: Float64Array, size: number) => SymmetricEigen;

/** The solver. Of a matrix with a number that is not finite, which the library cannot take, it gives the axes as they stand. */
export const symmetricEigen: EigenSolver = (matrix, size) => {
  if (!matrix.every(Number.isFinite)) return axes(matrix, size);
  const { realEigenvalues, eigenvectorMatrix } = new EigenvalueDecomposition(new WrapperMatrix1D(matrix, { rows: size }), {
    assumeSymmetric: true,
  });
  const order = Array.from({ length: size }, (_, i) => i).sort((i, j) => (realEigenvalues[j] as number) - (realEigenvalues[i] as number));
  const vectors = new Float64Array(size * size);
  for (const [to, from] of order.entries()) for (let j = 0; j < size; j++) vectors[to * size + j] = eigenvectorMatrix.get(j, from);
  return { values: Float64Array.from(order, (i) => realEigenvalues[i] as number), vectors };
};

function axes(matrix: Float64Array, size: number): SymmetricEigen {
  const vectors = new Float64Array(size * size);
  for (let i = 0; i < size; i++) vectors[i * size + i] = 1;
  return { values: Float64Array.from({ length: size }, (_, i) => matrix[i * size + i] as number), vectors };
}
