// Whether the parts of a query fit together, in Prometheus' order and words (checkAST in promql/parser/parse.go). It also settles how set operators match.
import {
  type AggregateExpression,
  type BinaryExpression,
  type CallExpression,
  type Expression,
  typeOf,
  type VectorSelector,
} from "./expression.ts";
import type { ValueType } from "./function-table.ts";
import { quote } from "./quoted-text.ts";

/** Where faults are noted; the first one counts. */
export interface FaultNotes {
  note(start: number, reason: string): void;
}

const DOCUMENTED: Readonly<Record<ValueType, string>> = {
  vector: "instant vector",
  matrix: "range vector",
  scalar: "scalar",
  string: "string",
};

/** Checks an expression and all below it, and returns its type. */
export function checkTypes(expression: Expression, faults: FaultNotes): ValueType {
  switch (expression.kind) {
    case "aggregate":
      checkAggregation(expression, faults);
      break;
    case "binary":
      checkBinary(expression, faults);
      break;
    case "call":
      checkCall(expression, faults);
      break;
    case "paren":
      checkTypes(expression.inner, faults);
      break;
    case "unary": {
      const type = checkTypes(expression.operand, faults);
      if (isScalarOrVector(type)) break;
      const got = quote(DOCUMENTED[type]);
      faults.note(expression.start, `unary expression only allowed on expressions of type scalar or instant vector, got ${got}`);
      break;
    }
    case "subquery": {
      const type = checkTypes(expression.operand, faults);
      if (type !== "vector") faults.note(expression.start, `subquery is only allowed on instant vector, got ${type} instead`);
      break;
    }
    case "matrix":
      checkSelector(expression.selector, faults);
      break;
    case "selector":
      checkSelector(expression, faults);
      break;
  }
  return typeOf(expression);
}

function isScalarOrVector(type: ValueType): boolean {
  return type === "scalar" || type === "vector";
}

function expectType(expression: Expression, want: ValueType, context: string, faults: FaultNotes): void {
  const type = checkTypes(expression, faults);
  if (type !== want) faults.note(expression.start, `expected type ${DOCUMENTED[want]} in ${context}, got ${DOCUMENTED[type]}`);
}

function checkAggregation({ operator, operand, parameter }: AggregateExpression, faults: FaultNotes): void {
  expectType(operand, "vector", "aggregation expression", faults);
  if (parameter !== undefined) expectType(parameter, operator === "count_values" ? "string" : "scalar", "aggregation parameter", faults);
}

const COMPARISONS: ReadonlySet<string> = new Set(["==", "!=", "<=", "<", ">=", ">"]);
const SETS: ReadonlySet<string> = new Set(["and", "or", "unless"]);

function isComparison(operator: string): boolean {
  return COMPARISONS.has(operator);
}

/** Whether an operator takes series of one side by those of the other. */
export function isSetOperator(operator: string): boolean {
  return SETS.has(operator);
}

function checkBinary(expression: BinaryExpression, faults: FaultNotes): void {
  const left = checkTypes(expression.left, faults);
  const right = checkTypes(expression.right, faults);
  checkOperator(expression, [left, right], faults);
  if (!isScalarOrVector(left)) faults.note(expression.left.start, "binary expression must contain only scalar and instant vector types");
  if (!isScalarOrVector(right)) faults.note(expression.right.start, "binary expression must contain only scalar and instant vector types");
  checkMatching(expression, left === "vector" && right === "vector", faults);
  if ((left === "scalar" || right === "scalar") && isSetOperator(expression.operator)) {
    faults.note(expression.start, `set operator ${quote(expression.operator)} not allowed in binary scalar expression`);
  }
}

function checkOperator(expression: BinaryExpression, types: readonly ValueType[], faults: FaultNotes): void {
  const { operator, operatorStart, returnsBool, matching } = expression;
  if (returnsBool && !isComparison(operator)) faults.note(operatorStart, "bool modifier can only be used on comparison operators");
  if (isComparison(operator) && !returnsBool && types.every((type) => type === "scalar")) {
    faults.note(operatorStart, "comparisons between scalars must use BOOL modifier");
  }
  if (matching === undefined) return;
  if (isSetOperator(operator) && matching.cardinality === "one-to-one") matching.cardinality = "many-to-many";
  const both = matching.isOn ? matching.labels.find((label) => matching.include.includes(label)) : undefined;
  if (both !== undefined) faults.note(operatorStart, `label ${quote(both)} must not occur in ON and GROUP clause at once`);
}

function checkMatching(expression: BinaryExpression, areVectors: boolean, faults: FaultNotes): void {
  const { matching, operator, start } = expression;
  if (matching === undefined) return;
  if (!areVectors) {
    if (matching.labels.length > 0) faults.note(start, "vector matching only allowed between instant vectors");
    expression.matching = undefined;
  } else if (isSetOperator(operator) && matching.cardinality !== "many-to-many") {
    faults.note(start, `no grouping allowed for ${quote(operator)} operation`);
  }
}

function checkCall({ signature, args, start }: CallExpression, faults: FaultNotes): void {
  const { name, takes, variadic } = signature;
  const problem = countProblem(takes.length, variadic, args.length);
  if (problem !== undefined) faults.note(start, `expected ${problem} argument(s) in call to ${quote(name)}, got ${args.length}`);
  for (const [index, argument] of args.entries()) {
    if (index >= takes.length && variadic === 0) return;
    const want = takes[Math.min(index, takes.length - 1)] as ValueType;
    expectType(argument, want, `call to function ${quote(name)}`, faults);
  }
}

function countProblem(types: number, variadic: number, input: number): string | undefined {
  if (variadic === 0) return input === types ? undefined : String(types);
  const least = types - 1;
  if (input < least) return `at least ${least}`;
  return variadic > 0 && input > least + variadic ? `at most ${least + variadic}` : undefined;
}

function checkSelector({ metricName, matchers, start }: VectorSelector, faults: FaultNotes): void {
  if (metricName === "") {
    if (matchers.every((matcher) => matcher.matches(""))) {
      faults.note(start, "vector selector must contain at least one non-empty matcher");
    }
    return;
  }
  const second = matchers.slice(0, -1).find(({ name }) => name === "__name__");
  if (second !== undefined) faults.note(start, `metric name must not be set twice: ${quote(metricName)} or ${quote(second.value)}`);
}
