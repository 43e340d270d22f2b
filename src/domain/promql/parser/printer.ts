// The canonical text of a query, as Prometheus prints it (promql/parser/printer.go).

import { formatPlain } from "../../../core/text/plain-number.ts";
import { labelNameText } from "../labels/label-matcher.ts";
import { formatDuration } from "./duration-text.ts";
import type {
  AggregateExpression,
  AtModifier,
  BinaryExpression,
  DurationExpression,
  DurationNode,
  Expression,
  MatrixSelector,
  SubqueryExpression,
  VectorSelector,
} from "./expression.ts";
import { quote } from "./quoted-text.ts";

export function printExpression(expression: Expression): string {
  switch (expression.kind) {
    case "number":
      return expression.isDuration ? durationText(expression.value) : formatPlain(expression.value);
    case "string":
      return quote(expression.value);
    case "paren":
      return `(${printExpression(expression.inner)})`;
    case "unary":
      return expression.operator + printExpression(expression.operand);
    case "binary":
      return printBinary(expression);
    case "aggregate":
      return printAggregation(expression);
    case "call":
      return `${expression.signature.name}(${expression.args.map(printExpression).join(", ")})`;
    case "selector":
      return selectorText(expression) + atText(expression.at) + offsetText(expression.offset);
    case "matrix":
      return printMatrix(expression);
    case "subquery":
      return printSubquery(expression);
  }
}

function durationText(seconds: number): string {
  return (seconds < 0 ? "-" : "") + formatDuration(Math.abs(Math.round(seconds * 1_000)));
}

function labelsText(labels: readonly string[]): string {
  return labels.map(labelNameText).join(", ");
}

function printAggregation({ operator, grouping, isWithout, parameter, operand }: AggregateExpression): string {
  const groups = isWithout ? ` without (${labelsText(grouping)}) ` : grouping.length > 0 ? ` by (${labelsText(grouping)}) ` : "";
  const first = parameter === undefined ? "" : `${printExpression(parameter)}, `;
  return `${operator}${groups}(${first}${printExpression(operand)})`;
}

function printBinary(expression: BinaryExpression): string {
  const bool = expression.returnsBool ? " bool" : "";
  return `${printExpression(expression.left)} ${expression.operator}${bool}${matchingText(expression)} ${printExpression(expression.right)}`;
}

function matchingText({ matching }: BinaryExpression): string {
  if (matching === undefined) return "";
  const { labels, isOn, cardinality, include } = matching;
  const isGrouped = cardinality === "many-to-one" || cardinality === "one-to-many";
  if (labels.length === 0 && !isOn && !isGrouped) return "";
  const on = ` ${isOn ? "on" : "ignoring"} (${labelsText(labels)})`;
  return isGrouped ? `${on} group_${cardinality === "many-to-one" ? "left" : "right"} (${labelsText(include)})` : on;
}

function selectorText({ metricName, matchers }: VectorSelector): string {
  const isName = ({ name, operator, value }: VectorSelector["matchers"][number]) =>
    name === "__name__" && operator === "=" && value === metricName && value !== "";
  const texts = matchers.filter((matcher) => !isName(matcher)).map(String);
  return metricName + (texts.length > 0 ? `{${texts.sort().join(",")}}` : "");
}

function atText(at: AtModifier | undefined): string {
  if (at === undefined) return "";
  return typeof at === "number" ? ` @ ${(at / 1_000).toFixed(3)}` : ` @ ${at}()`;
}

function offsetText(offset: DurationNode | undefined): string {
  return offset === undefined ? "" : ` offset ${printDuration(offset)}`;
}

/** Durations as literals are printed as such, whatever they were written as. */
function printDuration(node: DurationNode): string {
  return node.kind === "number" ? durationText(node.value) : printArithmetic(node);
}

function printArithmetic(node: DurationExpression): string {
  const text = arithmeticText(node);
  return node.isWrapped ? `(${text})` : text;
}

function arithmeticText({ operator, left, right }: DurationExpression): string {
  if (operator === "step" || operator === "range") return `${operator}()`;
  const second = operandText(right as DurationNode);
  if (left === undefined) return operator === "-" ? `-${second}` : second;
  const first = operandText(left);
  return operator === "min_of" || operator === "max_of" ? `${operator}(${first}, ${second})` : `${first} ${operator} ${second}`;
}

/** Within arithmetic a number stays a number. */
function operandText(node: DurationNode): string {
  return node.kind === "number" ? printExpression(node) : printArithmetic(node);
}

function printMatrix({ selector, range }: MatrixSelector): string {
  return `${selectorText(selector)}[${printDuration(range)}]${atText(selector.at)}${offsetText(selector.offset)}`;
}

function printSubquery({ operand, range, step, at, offset }: SubqueryExpression): string {
  const stepText = step === undefined ? "" : printDuration(step);
  return `${printExpression(operand)}[${printDuration(range)}:${stepText}]${atText(at)}${offsetText(offset)}`;
}
