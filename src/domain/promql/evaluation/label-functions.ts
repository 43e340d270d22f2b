// label_replace and label_join (evalLabelReplace and evalLabelJoin in promql/functions.go of Prometheus).
import { compileGroups, expandTemplate, PatternError } from "../labels/pattern.ts";
import type { QueryBudget } from "../query-budget.ts";
import { QueryError } from "../query-error.ts";
import type { Evaluating } from "./sliced-evaluation.ts";
import { merge, type StepSeries } from "./step-series.ts";

/** Whether a text may be the name of a label: any well-formed text but the empty one. */
export function isLabelName(name: string): boolean {
  return name !== "" && name.isWellFormed();
}

/** Sets a label of each series whose source label matches the pattern as a whole. */
export function* replaceLabels(series: readonly StepSeries[], texts: readonly string[], budget: QueryBudget): Evaluating<StepSeries[]> {
  const [target = "", template = "", source = "", pattern = ""] = texts;
  const groupsOf = compileReplacement(pattern);
  if (!isLabelName(target)) throw new QueryError(`invalid destination label name in label_replace(): ${target}`);
  for (const one of series) {
    budget.check();
    if (budget.isSliceOver) yield;
    const groups = groupsOf(one.labels.get(source));
    if (groups !== undefined) one.labels = one.labels.with(target, expandTemplate(template, groups));
  }
  return merge(series);
}

function compileReplacement(pattern: string): ReturnType<typeof compileGroups> {
  try {
    return compileGroups(pattern);
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new QueryError(`invalid regular expression in label_replace(): ${pattern}`);
  }
}

/** Sets a label of each series to the values of others with a text between. */
export function joinLabels(series: readonly StepSeries[], texts: readonly string[]): StepSeries[] {
  const [target = "", separator = "", ...sources] = texts;
  const wrong = sources.find((source) => !isLabelName(source));
  if (wrong !== undefined) throw new QueryError(`invalid source label name in label_join(): ${wrong}`);
  if (!isLabelName(target)) throw new QueryError(`invalid destination label name in label_join(): ${target}`);
  for (const one of series) one.labels = one.labels.with(target, sources.map((source) => one.labels.get(source)).join(separator));
  return merge(series);
}
