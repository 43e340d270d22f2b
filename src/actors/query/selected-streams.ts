// The streams of a query's selectors, by the texts that its storage finds them by.
import type { LabelMatcher } from "../../domain/promql/labels/label-matcher.ts";
import { selectorsOf } from "../../domain/promql/parser/expression.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import { type ParsedQuery, parseQuery } from "../../domain/promql/query-engine.ts";
import type { CallContext } from "./query-call.ts";
import { selectorKey } from "./stored-series.ts";
import type { SelectedStream } from "./stream-selector.ts";

/** The matchers of a selector. */
export type Matchers = readonly LabelMatcher[];

/** The selectors of a query. Throws where it cannot be read. */
export function matchersOf(query: string | ParsedQuery): Matchers[] {
  const { expression } = typeof query === "string" ? parseQuery(query) : query;
  return selectorsOf(expression).map(({ matchers }) => matchers);
}

/** Selects the streams of selectors with what of their values is in no store, each selector once. */
export async function selectStreams(
  { selector, call }: Pick<CallContext, "selector" | "call">,
  wanted: readonly Matchers[],
  budget: QueryBudget,
): Promise<Map<string, readonly SelectedStream[]>> {
  const byKey = new Map(wanted.map((matchers) => [selectorKey(matchers), matchers]));
  if (byKey.size === 0) return new Map();
  const found = await selector.select({ tenant: call.tenant, selections: [...byKey.values()], budget });
  return new Map([...byKey.keys()].map((key, index) => [key, found[index] ?? []]));
}
