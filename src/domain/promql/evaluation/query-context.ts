// What all parts of one query share, and the durations and moments that depend on it.
import type { Annotations } from "../annotations.ts";
import type { AtModifier, DurationNode } from "../parser/expression.ts";
import type { QueryBudget } from "../query-budget.ts";
import { QueryError } from "../query-error.ts";
import type { SeriesStorage } from "../series-storage.ts";
import type { Steps } from "./steps.ts";

/** One query as a whole. */
export interface QueryContext {
  readonly storage: SeriesStorage;
  readonly budget: QueryBudget;
  readonly annotations: Annotations;
  /** Steps of the query itself; those of a subquery are others. */
  readonly steps: Steps;
  readonly isRange: boolean;
  readonly lookbackMs: number;
  /** Step of subqueries that name none. */
  readonly subqueryStepMs: number;
}

/** Seconds of a duration (evaluateDurationExpr in promql/durations.go of Prometheus). */
function secondsOf(node: DurationNode, context: QueryContext): number {
  if (node.kind === "number") return node.value;
  const { steps } = context;
  if (node.operator === "step") return context.isRange ? steps.stepMs / 1_000 : 0;
  if (node.operator === "range") return (steps.endMs - steps.startMs) / 1_000;
  const right = secondsOf(node.right as DurationNode, context);
  if (node.left === undefined) return node.operator === "-" ? -right : right;
  const left = secondsOf(node.left, context);
  switch (node.operator) {
    case "+":
      return left + right;
    case "-":
      return left - right;
    case "*":
      return left * right;
    case "^":
      return left ** right;
    case "min_of":
      return Math.min(left, right);
    case "max_of":
      return Math.max(left, right);
    default:
      if (right === 0) throw new QueryError(node.operator === "/" ? "division by zero" : "modulo by zero");
      return node.operator === "/" ? left / right : left % right;
  }
}

/** Milliseconds of an offset; 0 where there is none. */
export function offsetMs(node: DurationNode | undefined, context: QueryContext): number {
  return node === undefined ? 0 : Math.trunc(Math.round(secondsOf(node, context) * 1e9) / 1e6);
}

/** Milliseconds of a range or step, which is more than nothing. */
export function rangeMs(node: DurationNode, context: QueryContext): number {
  const ms = offsetMs(node, context);
  if (node.kind === "duration" && !(ms > 0)) throw new QueryError("duration must be greater than 0");
  return Math.max(1, ms);
}

/** The moment of an `@`; undefined where there is none. */
export function atMs(at: AtModifier | undefined, { steps }: QueryContext): number | undefined {
  if (at === "start") return steps.startMs;
  return at === "end" ? steps.endMs : at;
}
