// One evaluation of a recording rule: its query's answer under the rule's name and labels (rules/recording.go of Prometheus).
import { Labels, METRIC_NAME } from "../../promql/labels/labels.ts";
import type { VectorSample } from "../../promql/query-engine.ts";
import type { RecordingRule } from "../file/rule-group.ts";
import { RuleError, type RuleSample } from "./alerting-evaluation.ts";

/** The samples that a rule records. `limit` is 0 for any number of series. Throws RuleError. */
export function recordedSamples(rule: RecordingRule, samples: readonly VectorSample[], timeMs: number, limit: number): RuleSample[] {
  const recorded = samples.map(({ labels, value }) => ({
    labels: Labels.of([...labels.entries(), [METRIC_NAME, rule.name], ...rule.labels.entries()]),
    timeMs,
    value,
    isStale: false,
  }));
  if (new Set(recorded.map(({ labels }) => labels.key)).size < recorded.length) {
    throw new RuleError("vector contains metrics with the same labelset after applying rule labels");
  }
  if (limit > 0 && recorded.length > limit) throw new RuleError(`exceeded limit of ${limit} with ${recorded.length} series`);
  return recorded;
}
