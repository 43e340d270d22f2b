// A range query in one go, where the server takes it in slices.
import { finish } from "../../src/domain/promql/evaluation/sliced-evaluation.ts";
import { evaluateRange, type QueryResult } from "../../src/domain/promql/query-engine.ts";

export function queryRange(...query: Parameters<typeof evaluateRange>): QueryResult {
  return finish(evaluateRange(...query));
}
