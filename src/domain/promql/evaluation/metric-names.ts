// What a query's text says of its metrics: whether a name is a counter's, and the labels that a missing series would have had.
import { Labels, METRIC_NAME, NO_LABELS } from "../labels/labels.ts";
import type { Expression } from "../parser/expression.ts";

/** Whether a name ends as those of counters do. */
export function isCounterName(name: string): boolean {
  return /_(?:total|sum|count|bucket)$/.test(name);
}

/** Labels that a selector says with `=`; one that it says in several ways is left out (createLabelsForAbsentFunction in promql/functions.go of Prometheus). */
export function absentLabels(expression: Expression): Labels {
  const selector = expression.kind === "matrix" ? expression.selector : expression;
  if (selector.kind !== "selector") return NO_LABELS;
  const labels = new Map<string, string>();
  for (const { name, operator, value } of selector.matchers) {
    if (name === METRIC_NAME) continue;
    labels.set(name, operator === "=" && !labels.has(name) ? value : "");
  }
  return Labels.of(labels);
}
