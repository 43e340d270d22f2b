// Operators between scalars, and between a scalar and series (scalarBinop and VectorscalarBinop in promql/engine.go of Prometheus).
import type { BinaryOperator } from "../parser/token.ts";
import { arithmeticOf, comparisonOf } from "./operators.ts";
import { hasValues, merge, type StepSeries } from "./step-series.ts";

/** Both sides are scalars: a number at each step. */
export function combineScalars(operator: BinaryOperator, left: Float64Array, right: Float64Array): Float64Array {
  const comparison = comparisonOf(operator);
  const compute = arithmeticOf(operator) ?? ((a: number, b: number) => Number(comparison(a, b)));
  return left.map((value, step) => compute(value, right[step] as number));
}

/** How a scalar meets series. */
export interface ScalarOperation {
  readonly operator: BinaryOperator;
  readonly scalar: Float64Array;
  readonly isScalarLeft: boolean;
  readonly returnsBool: boolean;
}

/** One side is a scalar; the series are changed in place. A comparison leaves the values of the series that fulfil it. */
export function combineWithScalar(series: readonly StepSeries[], operation: ScalarOperation): StepSeries[] {
  const compute = arithmeticOf(operation.operator);
  for (const one of series) {
    if (compute === undefined) compareWithScalar(one, operation);
    else computeWithScalar(one, operation, compute);
  }
  return compute === undefined && !operation.returnsBool ? series.filter(hasValues) : merge(series);
}

function computeWithScalar(series: StepSeries, { scalar, isScalarLeft }: ScalarOperation, compute: (a: number, b: number) => number): void {
  const { values } = series;
  series.labels = series.labels.withoutMetricName();
  for (let i = 0; i < values.length; i++) {
    const [value, other] = [values[i] as number, scalar[i] as number];
    values[i] = isScalarLeft ? compute(other, value) : compute(value, other);
  }
}

function compareWithScalar(series: StepSeries, { operator, scalar, isScalarLeft, returnsBool }: ScalarOperation): void {
  const { values, present } = series;
  const compare = comparisonOf(operator);
  if (returnsBool) series.labels = series.labels.withoutMetricName();
  for (let i = 0; i < values.length; i++) {
    const [value, other] = [values[i] as number, scalar[i] as number];
    const holds = isScalarLeft ? compare(other, value) : compare(value, other);
    if (returnsBool) values[i] = Number(holds);
    else if (!holds) present[i] = 0;
  }
}
