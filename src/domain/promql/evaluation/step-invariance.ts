// Which parts of a query have the same value at every step: those are evaluated once (PreprocessExpr in promql/engine.go of Prometheus).
import type { Expression } from "../parser/expression.ts";

/** Functions of the moment of evaluation, whatever their arguments are. */
const OF_THE_MOMENT: ReadonlySet<string> = new Set([
  "days_in_month",
  "day_of_month",
  "day_of_week",
  "day_of_year",
  "hour",
  "minute",
  "month",
  "year",
  "predict_linear",
  "time",
  "timestamp",
]);

/** Whether all of an expression's selectors and subqueries say their own moment. */
export function isStepInvariant(expression: Expression): boolean {
  switch (expression.kind) {
    case "number":
    case "string":
      return true;
    case "paren":
      return isStepInvariant(expression.inner);
    case "unary":
      return isStepInvariant(expression.operand);
    case "binary":
      return isStepInvariant(expression.left) && isStepInvariant(expression.right);
    case "aggregate":
      return isStepInvariant(expression.operand) && (expression.parameter === undefined || isStepInvariant(expression.parameter));
    case "call":
      return !OF_THE_MOMENT.has(expression.signature.name) && expression.args.every(isStepInvariant);
    case "matrix":
      return expression.selector.at !== undefined;
    case "selector":
    case "subquery":
      return expression.at !== undefined;
  }
}
