/**
 * One evaluation of a group of rules over what is stored, and what it comes to: a state for the next one, alerts that begin and end, samples to be written.
 *
 * The streams of all rules are selected together, then the rules are evaluated one after the other, each over what those before it have recorded.
 */

import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { getOrMake } from "../../core/collections/get-or-make.ts";
import { groupBy } from "../../core/collections/grouping.ts";
import {
  RULE_ALERTS_MAX,
  RULE_GROUP_MS_MAX,
  RULE_GROUPS_COMPILED_MAX,
  RULE_LATE_INTERVALS_MAX,
  RULE_OUTAGE_TOLERANCE_MS,
  RULE_SERIES_MAX,
} from "../../core/config/rule-limits.ts";
import { type EvaluatedRule, type EvaluateRules, packEvaluation, type RuleAlertChange } from "../../core/protocol/rule-work.ts";
import { LabelMatcher } from "../../domain/promql/labels/label-matcher.ts";
import { METRIC_NAME, NO_LABELS } from "../../domain/promql/labels/labels.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import { QueryError } from "../../domain/promql/query-error.ts";
import { restoreAlerts } from "../../domain/rules/evaluation/alert-restoration.ts";
import type { RuleAlert, RuleSample } from "../../domain/rules/evaluation/alerting-evaluation.ts";
import { firingChanges } from "../../domain/rules/evaluation/firing-changes.ts";
import {
  type CompiledGroup,
  type CompiledRule,
  compileGroup,
  evaluateRule,
  NEW_RULE_STATE,
  type RuleState,
} from "../../domain/rules/evaluation/group-evaluation.ts";
import { readStateTexts, ruleKeyOf, stateBytes, stateOfText } from "../../domain/rules/evaluation/rule-state-text.ts";
import { sampleRequest } from "../../domain/rules/evaluation/sample-request.ts";
import { groupOfDocument, type RuleGroupDocument } from "../../domain/rules/file/group-document.ts";
import type { RuleGroup } from "../../domain/rules/file/rule-group.ts";
import type { CallContext } from "./query-call.ts";
import { KnownValues, RuleQueries, type ValueQuery } from "./rule-queries.ts";

const compiledGroups = new BoundedMap<string, CompiledGroup>(RULE_GROUPS_COMPILED_MAX);

/** Evaluates a group. Rejects where the streams cannot be selected at all. */
export async function evaluatedGroup(context: CallContext, work: EvaluateRules): Promise<Uint8Array<ArrayBuffer>> {
  return RuleQueries.with(context, (queries) => new GroupEvaluation(context, queries, work).run());
}

/** A group by its document, compiled once. */
export function compiledGroup(document: string): CompiledGroup {
  return getOrMake(compiledGroups, document, () => compileGroup(groupOfDocument(JSON.parse(document) as RuleGroupDocument)));
}

/** A group with its own limit, and ours. */
export function boundedGroup({ group }: CompiledGroup, { rule }: CompiledRule): RuleGroup {
  const most = rule.kind === "alerting" ? RULE_ALERTS_MAX : RULE_SERIES_MAX;
  return { ...group, limit: group.limit > 0 ? Math.min(group.limit, most) : most };
}

interface RuleMoment {
  readonly timeMs: number;
  readonly externalUrl: string;
  readonly query: ValueQuery;
}

/** A rule's state behind a moment, and the samples that it makes there. */
export function outcomeOf(rule: CompiledRule, before: RuleState, group: RuleGroup, { timeMs, externalUrl, query }: RuleMoment) {
  let samples: readonly RuleSample[] = [];
  const record = (made: readonly RuleSample[]) => {
    samples = made;
  };
  const state = evaluateRule(rule, before, group, timeMs, { externalLabels: NO_LABELS, externalUrl, query, record });
  return { state, samples };
}

/** A rule's state behind an evaluation, and the samples that it has made. */
interface RuleOutcome {
  readonly state: RuleState;
  readonly samples: readonly RuleSample[];
}

const GROUP_LATE = `not evaluated: the rules before it took the ${RULE_GROUP_MS_MAX / 1_000} s of the group`;

function failed(before: RuleState, error: unknown): RuleOutcome {
  if (!(error instanceof QueryError)) throw error;
  return { state: { ...before, lastError: error.message }, samples: [] };
}

function isSkipped({ late }: RuleState): boolean {
  return late !== undefined && late.skips > 0;
}

function skippedOnce(state: RuleState): RuleState {
  const { late } = state;
  return late === undefined ? state : { ...state, late: { ...late, skips: late.skips - 1 } };
}

function lateState(state: RuleState, { rule: { expression } }: CompiledRule, timeoutsBefore: number, tookMs: number): RuleState {
  const timeouts = timeoutsBefore + 1;
  const next = Math.min(2 ** timeouts, RULE_LATE_INTERVALS_MAX);
  const lastError = `query timed out in expression evaluation: more than ${tookMs / 1_000} s; it is tried with one evaluation of ${next}`;
  return { ...state, lastError, late: { expression, timeouts, skips: next - 1 } };
}

class GroupEvaluation {
  readonly #context: Pick<CallContext, "budget" | "monotonicMs">;
  readonly #queries: RuleQueries;
  readonly #work: EvaluateRules;
  readonly #group: CompiledGroup;
  readonly #samples: RuleSample[] = [];
  readonly #changes: RuleAlertChange[] = [];
  readonly #rules: EvaluatedRule[] = [];

  constructor(context: Pick<CallContext, "budget" | "monotonicMs">, queries: RuleQueries, work: EvaluateRules) {
    this.#context = context;
    this.#queries = queries;
    this.#work = work;
    this.#group = compiledGroup(work.document);
  }

  async run(): Promise<Uint8Array<ArrayBuffer>> {
    const { monotonicMs } = this.#context;
    const startMs = monotonicMs();
    const before = this.#takeStates();
    const tried = this.#group.rules.filter((_, index) => !isSkipped(before[index] as RuleState));
    await this.#queries.selectAll(tried.map(({ rule }) => rule.expression));
    const states: RuleState[] = [];
    for (const [index, rule] of this.#group.rules.entries()) states.push(await this.#evaluate(rule, before[index] as RuleState));
    const rules = this.#group.rules.map(({ rule }) => rule);
    const seconds = (monotonicMs() - startMs) / 1_000;
    return packEvaluation({
      group: { seconds, rules: this.#rules, changes: this.#changes, samples: this.#samples.length },
      state: stateBytes(rules, states),
      request: sampleRequest(this.#samples),
    });
  }

  /** The states of before, each rule's by what it is known by; what has no rule any more ends. */
  #takeStates(): RuleState[] {
    const { state, isNew } = this.#work;
    const waiting = groupBy(state === null ? [] : readStateTexts(state), ({ key }) => key);
    const initial = { ...NEW_RULE_STATE, isRestored: isNew };
    const states = this.#group.rules.map(({ rule }) => {
      const text = waiting.get(ruleKeyOf(rule))?.shift();
      if (text === undefined) return initial;
      const { late, ...known } = stateOfText(text);
      return late?.expression === rule.expression ? { ...known, late } : known;
    });
    const series = new Set(states.flatMap((one) => [...one.series.keys()]));
    for (const gone of [...waiting.values()].flat()) this.#end(stateOfText(gone), series);
    return states;
  }

  #end({ alerts, series }: RuleState, current: ReadonlySet<string>): void {
    const timeMs = this.#sampleMs;
    for (const [key, labels] of series) {
      if (!current.has(key)) this.#samples.push({ labels, timeMs, value: Number.NaN, isStale: true });
    }
    for (const alert of alerts.values()) {
      if (alert.state === "firing") this.#changes.push(changeOf({ ...alert, resolvedAtMs: this.#work.timeMs }, "resolved"));
    }
  }

  get #sampleMs(): number {
    return this.#work.timeMs - (this.#group.group.queryOffsetMs ?? 0);
  }

  async #evaluate(rule: CompiledRule, before: RuleState): Promise<RuleState> {
    const startMs = this.#context.monotonicMs();
    const { state, samples } = await this.#evaluated(rule, before);
    const restored = await this.#restored(rule, state);
    this.#takeSamples(samples);
    this.#takeChanges(before, restored);
    const states = [...restored.alerts.values()].map((alert) => alert.state);
    this.#rules.push({
      lastError: restored.lastError ?? null,
      seconds: (this.#context.monotonicMs() - startMs) / 1_000,
      pending: states.filter((one) => one === "pending").length,
      firing: states.filter((one) => one === "firing").length,
    });
    return restored;
  }

  /** A rule with the values that its query and its templates ask for; where they cannot be had at all its state stays. */
  async #evaluated(rule: CompiledRule, before: RuleState): Promise<RuleOutcome> {
    if (isSkipped(before)) return { state: skippedOnce(before), samples: [] };
    const { ruleMsMax } = this.#queries;
    return this.#queries.withBudget(ruleMsMax, async (budget) => {
      const { state, samples } = await this.#answered(rule, before, budget).catch((error) => failed(before, error));
      const { late: _, ...current } = state;
      if (state.lastError === undefined) return { state: current, samples };
      if (this.#context.budget.reasonToEnd !== undefined) return { state: { ...current, lastError: GROUP_LATE }, samples };
      const isLate = budget.reasonToEnd?.kind === "timeout";
      return { state: isLate ? lateState(current, rule, before.late?.timeouts ?? 0, ruleMsMax) : current, samples };
    });
  }

  async #answered(rule: CompiledRule, before: RuleState, budget: QueryBudget): Promise<RuleOutcome> {
    const { externalUrl, timeMs } = this.#work;
    const { expression } = rule.rule;
    const known = new KnownValues();
    known.set(expression, this.#sampleMs, await this.#queries.outcome(expression, this.#sampleMs, budget));
    const group = boundedGroup(this.#group, rule);
    return this.#queries.answered(known, budget, (query) => outcomeOf(rule, before, group, { timeMs, externalUrl, query }));
  }

  /** `for` goes on where it was, once, where the server has evaluated the rule before. */
  async #restored({ rule }: CompiledRule, state: RuleState): Promise<RuleState> {
    if (rule.kind !== "alerting" || state.isRestored || !this.#work.restores) return state;
    const { timeMs } = this.#work;
    const series = await this.#activities(rule.name).catch((error) => error);
    // As in Prometheus it is tried once: where it is too much, `for` begins anew.
    if (series instanceof QueryError) return { ...state, isRestored: true, lastError: `"for" is not restored: ${series.message}` };
    const activity = ({ labels }: RuleAlert) => series.get(labels.key);
    return { ...state, isRestored: true, alerts: restoreAlerts(state.alerts, rule.holdMs, timeMs, activity) };
  }

  /** The last samples of an alert's series, by the alert's labels. */
  #activities(name: string) {
    const matchers = [new LabelMatcher(METRIC_NAME, "=", "ALERTS_FOR_STATE"), new LabelMatcher("alertname", "=", name)];
    const { timeMs } = this.#work;
    return this.#queries.withBudget(this.#queries.ruleMsMax, (budget) =>
      this.#queries.lastSamples(matchers, timeMs - RULE_OUTAGE_TOLERANCE_MS, timeMs, budget),
    );
  }

  #takeSamples(samples: readonly RuleSample[]): void {
    this.#samples.push(...samples);
    this.#queries.record(samples);
  }

  #takeChanges(before: RuleState, after: RuleState): void {
    const { sendsAll, timeMs } = this.#work;
    const { began, ended } = firingChanges(before.alerts, after.alerts, timeMs);
    const all = [...after.alerts.values()];
    const sent = sendsAll ? all.filter(({ state }) => state === "firing") : began;
    if (sendsAll) for (const alert of all) if (alert.state === "pending") this.#changes.push(changeOf(alert, "pending"));
    for (const alert of sent) this.#changes.push(changeOf(alert, "firing"));
    for (const alert of ended) this.#changes.push(changeOf(alert, "resolved"));
  }
}

function changeOf(
  { labels, annotations, firedAtMs, activeAtMs, resolvedAtMs }: RuleAlert,
  status: RuleAlertChange["status"],
): RuleAlertChange {
  return {
    status,
    labels: labels.toObject(),
    annotations: annotations.toObject(),
    firedMs: firedAtMs ?? activeAtMs,
    endedMs: status === "resolved" ? (resolvedAtMs ?? null) : null,
  };
}
