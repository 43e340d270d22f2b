// The tree of a query. `start` of a node is the offset in the query where it begins: messages and annotations say it as line and column.
import type { LabelMatcher } from "../labels/label-matcher.ts";
import type { FunctionSignature, ValueType } from "./function-table.ts";
import type { Aggregator, BinaryOperator } from "./token.ts";

/** A number; durations outside brackets are seconds. */
export interface NumberLiteral {
  readonly kind: "number";
  start: number;
  value: number;
  readonly isDuration: boolean;
}

interface StringLiteral {
  readonly kind: "string";
  start: number;
  readonly value: string;
  readonly quoted: string;
}

interface ParenExpression {
  readonly kind: "paren";
  start: number;
  readonly inner: Expression;
}

interface UnaryExpression {
  readonly kind: "unary";
  start: number;
  readonly operator: "+" | "-";
  readonly operand: Expression;
}

/** How series of both sides find each other. */
export interface VectorMatching {
  cardinality: "one-to-one" | "many-to-one" | "one-to-many" | "many-to-many";
  labels: readonly string[];
  isOn: boolean;
  /** Labels that the result takes from the side of one. */
  include: readonly string[];
}

/** Two expressions with an operator between them. */
export interface BinaryExpression {
  readonly kind: "binary";
  start: number;
  readonly operator: BinaryOperator;
  readonly operatorStart: number;
  readonly left: Expression;
  readonly right: Expression;
  readonly returnsBool: boolean;
  /** undefined where one side is a scalar. */
  matching: VectorMatching | undefined;
}

/** An aggregation; `parameter` is k, the quantile or the label of count_values. */
export interface AggregateExpression {
  readonly kind: "aggregate";
  start: number;
  readonly operator: Aggregator;
  readonly operand: Expression;
  readonly parameter: Expression | undefined;
  readonly grouping: readonly string[];
  readonly isWithout: boolean;
}

/** A call of a function. */
export interface CallExpression {
  readonly kind: "call";
  start: number;
  readonly signature: FunctionSignature;
  readonly args: readonly Expression[];
}

/** Moment of an `@`: milliseconds, or an end of the query. */
export type AtModifier = number | "start" | "end";

/** A series selector. */
export interface VectorSelector {
  readonly kind: "selector";
  start: number;
  /** Name in front of the braces; empty where there is none. */
  readonly metricName: string;
  readonly matchers: readonly LabelMatcher[];
  offset: DurationNode | undefined;
  at: AtModifier | undefined;
}

/** A selector with a range; its offset and `@` stand in the selector. */
export interface MatrixSelector {
  readonly kind: "matrix";
  start: number;
  readonly selector: VectorSelector;
  readonly range: DurationNode;
}

/** An expression evaluated at steps of a range. */
export interface SubqueryExpression {
  readonly kind: "subquery";
  start: number;
  readonly operand: Expression;
  readonly range: DurationNode;
  readonly step: DurationNode | undefined;
  offset: DurationNode | undefined;
  at: AtModifier | undefined;
}

/** Arithmetic of durations; `operand`s are seconds. */
export interface DurationExpression {
  readonly kind: "duration";
  start: number;
  readonly operator: "+" | "-" | "*" | "/" | "%" | "^" | "step" | "range" | "min_of" | "max_of";
  readonly left: DurationNode | undefined;
  readonly right: DurationNode | undefined;
  readonly isWrapped: boolean;
}

/** A duration: seconds as they stand, or arithmetic. */
export type DurationNode = NumberLiteral | DurationExpression;

/** A node of a query. */
export type Expression =
  | NumberLiteral
  | StringLiteral
  | ParenExpression
  | UnaryExpression
  | BinaryExpression
  | AggregateExpression
  | CallExpression
  | VectorSelector
  | MatrixSelector
  | SubqueryExpression;

/** Type of an expression's value. */
export function typeOf(expression: Expression): ValueType {
  switch (expression.kind) {
    case "number":
      return "scalar";
    case "string":
      return "string";
    case "paren":
      return typeOf(expression.inner);
    case "unary":
      return typeOf(expression.operand);
    case "binary":
      return typeOf(expression.left) === "scalar" && typeOf(expression.right) === "scalar" ? "scalar" : "vector";
    case "call":
      return expression.signature.returns;
    case "matrix":
    case "subquery":
      return "matrix";
    case "aggregate":
    case "selector":
      return "vector";
  }
}

/** An expression without the parentheses around it. */
export function withoutParens(expression: Expression): Expression {
  return expression.kind === "paren" ? withoutParens(expression.inner) : expression;
}

/** The selectors of an expression, those of ranges and subqueries too. */
export function selectorsOf(expression: Expression): VectorSelector[] {
  switch (expression.kind) {
    case "number":
    case "string":
      return [];
    case "paren":
      return selectorsOf(expression.inner);
    case "binary":
      return [...selectorsOf(expression.left), ...selectorsOf(expression.right)];
    case "aggregate":
      return [...(expression.parameter === undefined ? [] : selectorsOf(expression.parameter)), ...selectorsOf(expression.operand)];
    case "call":
      return expression.args.flatMap(selectorsOf);
    case "selector":
      return [expression];
    case "matrix":
      return [expression.selector];
    case "unary":
    case "subquery":
      return selectorsOf(expression.operand);
  }
}
