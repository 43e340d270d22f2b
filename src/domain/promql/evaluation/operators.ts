// Arithmetic and comparisons of two numbers as Go computes them (scalarBinop and vectorElemBinop in promql/engine.go of Prometheus).
import type { BinaryOperator } from "../parser/token.ts";

type ArithmeticFunction = (left: number, right: number) => number;
type Comparison = (left: number, right: number) => boolean;

/** Go's power of 1 is 1 whatever the exponent, as is that of -1 to an infinite one. */
function power(base: number, exponent: number): number {
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1;
  return base ** exponent;
}

const ARITHMETIC: Partial<Record<BinaryOperator, ArithmeticFunction>> = {
  "+": (left, right) => left + right,
  "-": (left, right) => left - right,
  "*": (left, right) => left * right,
  "/": (left, right) => left / right,
  "%": (left, right) => left % right,
  "^": power,
  atan2: Math.atan2,
};

const COMPARISONS: Partial<Record<BinaryOperator, Comparison>> = {
  "==": (left, right) => left === right,
  "!=": (left, right) => left !== right,
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
};

/** A number of two; undefined for comparisons. */
export function arithmeticOf(operator: BinaryOperator): ArithmeticFunction | undefined {
  return ARITHMETIC[operator];
}

/** Whether two numbers compare so; only for comparisons. */
export function comparisonOf(operator: BinaryOperator): Comparison {
  return COMPARISONS[operator] as Comparison;
}
