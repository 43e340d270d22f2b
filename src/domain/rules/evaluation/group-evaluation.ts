// One evaluation of a group: its rules one after the other, so that each sees what those before it have recorded; a rule that fails ends nothing but itself
// (rules/group.go of Prometheus). What a rule made before and makes no more ends with a stale marker.
// One evaluation of a recording rule: its query's answer under the rule's name and labels (rules/recording.go of Prometheus).
import { Labels, METRIC_NAME, NO_LABELS } from "../../promql/labels/labels.ts";
import { ParseError } from "../../promql/parser/position.ts";
import type { QueryValue, VectorSample } from "../../promql/query-engine.ts";
import { QueryError } from "../../promql/query-error.ts";
import type { RecordingRule, Rule, RuleGroup } from "../file/rule-group.ts";
import { CompiledAlertingRule, type RuleAlerts, RuleError, type RuleSample } from "./alerting-evaluation.ts";

/** What a group's rules ask and where their samples go. */
export interface GroupWorld {
  readonly externalLabels: Labels;
  readonly externalUrl: string;
  /** Throws QueryError and ParseError. */
  readonly query: (text: string, timeMs: number) => QueryValue;
  readonly record: (samples: readonly RuleSample[]) => void;
}

/** What a rule has come to. */
export interface RuleState {
  readonly alerts: RuleAlerts;
  /** Whether `for` has been restored. */
  readonly isRestored: boolean;
  /** Series of the last evaluation that did not fail, by key. */
  readonly series: ReadonlyMap<string, Labels>;
  /** Why the last evaluation failed. */
  readonly lastError: string | undefined;
  /** Of one that took too long when it was evaluated last. */
  readonly late?: LateRule;
}

/** A rule that takes too long: it is tried again with every second, fourth, eighth evaluation, so that rules beside it have their time. */
export interface LateRule {
  readonly expression: string;
  /** How often in a row. */
  readonly timeouts: number;
  /** Evaluations without it before the next try. */
  readonly skips: number;
}

/** A rule of which nothing is known yet. */
export const NEW_RULE_STATE: RuleState = { alerts: new Map(), isRestored: false, series: new Map(), lastError: undefined };

/** A rule with what it needs to be evaluated. */
export interface CompiledRule {
  readonly rule: Rule;
  readonly alerting: CompiledAlertingRule | undefined;
}

/** A group whose templates are read. */
export interface CompiledGroup {
  readonly group: RuleGroup;
  readonly rules: readonly CompiledRule[];
}

/** Reads the templates of a group. */
export function compileGroup(group: RuleGroup): CompiledGroup {
  const rules = group.rules.map((rule) => ({ rule, alerting: rule.kind === "alerting" ? new CompiledAlertingRule(rule) : undefined }));
  return { group, rules };
}

/** Evaluates a group at a moment; `states` are those of its rules, in their order. */
export function evaluateGroup(compiled: CompiledGroup, states: readonly RuleState[], timeMs: number, world: GroupWorld): RuleState[] {
  return compiled.rules.map((rule, index) => evaluateRule(rule, states[index] ?? NEW_RULE_STATE, compiled.group, timeMs, world));
}

/** Evaluates one rule at a moment; what it records goes to the world, and nothing else changes. */
export function evaluateRule(rule: CompiledRule, before: RuleState, group: RuleGroup, timeMs: number, world: GroupWorld): RuleState {
  try {
    const { alerts, samples } = outcomeOf(rule, before, group, timeMs, world);
    const series = new Map(samples.map(({ labels }) => [labels.key, labels]));
    const sampleMs = timeMs - (group.queryOffsetMs ?? 0);
    const ended = [...before.series].filter(([key]) => !series.has(key));
    const markers = ended.map(([, labels]) => ({ labels, timeMs: sampleMs, value: Number.NaN, isStale: true }));
    world.record([...samples, ...markers]);
    return { ...before, alerts, series, lastError: undefined };
  } catch (error) {
    if (!(error instanceof RuleError || error instanceof QueryError || error instanceof ParseError)) throw error;
    return { ...before, alerts: (error instanceof RuleError ? error.alerts : undefined) ?? before.alerts, lastError: error.message };
  }
}

function outcomeOf({ rule, alerting }: CompiledRule, before: RuleState, group: RuleGroup, timeMs: number, world: GroupWorld) {
  const queryOffsetMs = group.queryOffsetMs ?? 0;
  const samples = samplesOf(world.query(rule.expression, timeMs - queryOffsetMs));
  if (rule.kind === "recording") {
    return { alerts: before.alerts, samples: recordedSamples(rule, samples, timeMs - queryOffsetMs, group.limit) };
  }
  const { externalLabels, externalUrl } = world;
  return (alerting as CompiledAlertingRule).evaluate(samples, before.alerts, {
    timeMs,
    queryOffsetMs,
    limit: group.limit,
    externalLabels,
    isRestored: before.isRestored,
    world: { nowMs: timeMs, externalUrl, query: (text) => samplesOf(world.query(text, timeMs)) },
  });
}

/** A number is a sample without labels. */
function samplesOf(value: QueryValue): readonly VectorSample[] {
  if (value.type === "vector") return value.samples;
  if (value.type === "scalar") return [{ labels: NO_LABELS, value: value.value }];
  throw new RuleError("rule result is not a vector or scalar");
}

/** The samples that a rule records. `limit` is 0 for any number of series. Throws RuleError. */
function recordedSamples(rule: RecordingRule, samples: readonly VectorSample[], timeMs: number, limit: number): RuleSample[] {
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
