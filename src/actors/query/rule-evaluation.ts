/**
 * One evaluation of a group of rules over what is stored, and what it comes to: a state for the next one, alerts that begin and end, samples to be written.
 *
 * The streams of all rules are selected together, then the rules are evaluated one after the other, each over what those before it have recorded. What templates ask
 * for is not known before: a rule whose templates have asked for streams that were not selected is evaluated again once they are.
 */
import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { groupBy } from "../../core/collections/grouping.ts";
import {
  RULE_ALERTS_MAX,
  RULE_GROUPS_COMPILED_MAX,
  RULE_OUTAGE_TOLERANCE_MS,
  RULE_QUERY_MS_MAX,
  RULE_SERIES_MAX,
  RULE_TEMPLATE_READS_MAX,
} from "../../core/config/rule-limits.ts";
import { type EvaluatedRule, type EvaluateRules, packEvaluation, type RuleAlertChange } from "../../core/protocol/rule-work.ts";
import { LabelMatcher } from "../../domain/promql/labels/label-matcher.ts";
import { METRIC_NAME, NO_LABELS } from "../../domain/promql/labels/labels.ts";
import { MemoryStorage } from "../../domain/promql/memory-storage.ts";
import { OverlaidStorage } from "../../domain/promql/overlaid-storage.ts";
import { QueryBudget } from "../../domain/promql/query-budget.ts";
import { type QueryValue, queryInstant } from "../../domain/promql/query-engine.ts";
import { QueryError } from "../../domain/promql/query-error.ts";
import type { StoredSeries } from "../../domain/promql/series-storage.ts";
import { isStale, markStale } from "../../domain/promql/stale-marker.ts";
import { type RecordedActivity, restoreAlerts } from "../../domain/rules/evaluation/alert-restoration.ts";
import type { RuleAlert, RuleSample } from "../../domain/rules/evaluation/alerting-evaluation.ts";
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
import { matchersOf, selectStreams } from "./selected-streams.ts";
import { StoredSeriesStorage, selectorKey } from "./stored-series.ts";
import type { SelectedStream } from "./stream-selector.ts";

/** Nobody reads what a rule's query could be told besides its value. */
const UNTOLD = { summed: () => undefined, averaged: () => undefined };
const compiledGroups = new BoundedMap<string, CompiledGroup>(RULE_GROUPS_COMPILED_MAX);

/** Evaluates a group. Rejects where the streams cannot be selected at all. */
export async function evaluatedGroup(context: CallContext, work: EvaluateRules): Promise<Uint8Array<ArrayBuffer>> {
  return new GroupEvaluation(context, work).run();
}

function compiled(document: string): CompiledGroup {
  const known = compiledGroups.get(document);
  if (known !== undefined) return known;
  const group = compileGroup(groupOfDocument(JSON.parse(document) as RuleGroupDocument));
  compiledGroups.set(document, group);
  return group;
}

class GroupEvaluation {
  readonly #context: CallContext;
  readonly #work: EvaluateRules;
  readonly #group: CompiledGroup;
  readonly #streams = new Map<string, readonly SelectedStream[]>();
  readonly #recorded = new MemoryStorage();
  readonly #samples: RuleSample[] = [];
  readonly #changes: RuleAlertChange[] = [];
  readonly #rules: EvaluatedRule[] = [];

  constructor(context: CallContext, work: EvaluateRules) {
    this.#context = context;
    this.#work = work;
    this.#group = compiled(work.document);
  }

  async run(): Promise<Uint8Array<ArrayBuffer>> {
    const { monotonicMs } = this.#context;
    const startMs = monotonicMs();
    await this.#selectAll();
    const before = this.#takeStates();
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
      return text === undefined ? initial : stateOfText(text);
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

  /** Selects the streams of all rules at once; where that is too much, each rule selects its own. */
  async #selectAll(): Promise<void> {
    try {
      await this.#select(
        this.#group.rules.map(({ rule }) => rule.expression),
        this.#budget(),
      );
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      this.#streams.clear();
    }
  }

  async #select(expressions: readonly string[], budget: QueryBudget): Promise<void> {
    const wanted = expressions.flatMap(matchersOf).filter((matchers) => !this.#streams.has(selectorKey(matchers)));
    for (const [key, streams] of await selectStreams(this.#context, wanted, budget)) this.#streams.set(key, streams);
  }

  #budget(): QueryBudget {
    const { options, monotonicMs, budget } = this.#context;
    const bounds = { samplesMax: options.samplesMax, bytesMax: options.memoryBytesMax, durationMsMax: RULE_QUERY_MS_MAX };
    return new QueryBudget(monotonicMs, bounds, () => isOver(budget));
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

  /** Evaluates a rule until everything that it asks for has been selected. */
  async #evaluated(rule: CompiledRule, before: RuleState): Promise<{ readonly state: RuleState; readonly samples: readonly RuleSample[] }> {
    const budget = this.#budget();
    const failed = (error: unknown) => {
      if (!(error instanceof QueryError)) throw error;
      return { state: { ...before, lastError: error.message }, samples: [] };
    };
    try {
      await this.#select([rule.rule.expression], budget);
      for (let reads = 0; ; reads++) {
        const { state, samples, missing } = this.#attempt(rule, before, budget);
        if (missing.size === 0) return { state, samples };
        if (reads === RULE_TEMPLATE_READS_MAX) return failed(new QueryError("queries of its templates follow from each other too often"));
        await this.#select([...missing], budget);
      }
    } catch (error) {
      return failed(error);
    }
  }

  /** One evaluation; `missing` are expressions whose streams have not been selected, which have answered nothing. */
  #attempt(rule: CompiledRule, before: RuleState, budget: QueryBudget) {
    const missing = new Set<string>();
    let samples: readonly RuleSample[] = [];
    const query = (text: string, timeMs: number): QueryValue => {
      if (this.#isSelected(text)) return this.#query(text, timeMs, budget);
      missing.add(text);
      return { type: "vector", samples: [] };
    };
    const record = (made: readonly RuleSample[]) => {
      samples = made;
    };
    const world = { externalLabels: NO_LABELS, externalUrl: this.#work.externalUrl, query, record };
    const state = evaluateRule(rule, before, this.#boundedGroup(rule), this.#work.timeMs, world);
    return { state, samples, missing };
  }

  #isSelected(text: string): boolean {
    return matchersOf(text).every((matchers) => this.#streams.has(selectorKey(matchers)));
  }

  #query(text: string, timeMs: number, budget: QueryBudget): QueryValue {
    const storage = new OverlaidStorage(this.#storage(this.#streams, budget), this.#recorded);
    return queryInstant(text, timeMs, { storage, budget }).value;
  }

  #storage(streams: ReadonlyMap<string, readonly SelectedStream[]>, budget: QueryBudget): StoredSeriesStorage {
    return new StoredSeriesStorage({ reader: this.#context.reader, budget, streams, ...UNTOLD });
  }

  /** A group's limit, and ours. */
  #boundedGroup({ rule }: CompiledRule): RuleGroup {
    const { group } = this.#group;
    const most = rule.kind === "alerting" ? RULE_ALERTS_MAX : RULE_SERIES_MAX;
    return { ...group, limit: group.limit > 0 ? Math.min(group.limit, most) : most };
  }

  /** `for` goes on where it was, once, where the server has evaluated the rule before. */
  async #restored({ rule }: CompiledRule, state: RuleState): Promise<RuleState> {
    if (rule.kind !== "alerting" || state.isRestored || !this.#work.restores) return state;
    const { timeMs } = this.#work;
    const series = await this.#activities(rule.name);
    const activity = ({ labels }: RuleAlert) => series.get(labels.key);
    return { ...state, isRestored: true, alerts: restoreAlerts(state.alerts, rule.holdMs, timeMs, activity) };
  }

  /** The last samples of an alert's series, by the alert's labels. */
  async #activities(name: string): Promise<ReadonlyMap<string, RecordedActivity>> {
    const matchers = [new LabelMatcher(METRIC_NAME, "=", "ALERTS_FOR_STATE"), new LabelMatcher("alertname", "=", name)];
    const budget = this.#budget();
    const storage = this.#storage(await selectStreams(this.#context, [matchers], budget), budget);
    const { timeMs } = this.#work;
    const found = [...storage.select(matchers, timeMs - RULE_OUTAGE_TOLERANCE_MS, timeMs)].filter((series) => series !== undefined);
    return new Map(found.map((series) => [series.labels.withoutMetricName().key, lastActivity(series)]));
  }

  #takeSamples(samples: readonly RuleSample[]): void {
    for (const sample of samples) {
      this.#samples.push(sample);
      const values = Float64Array.of(sample.value);
      if (sample.isStale) markStale(values, 0);
      this.#recorded.add(sample.labels, Float64Array.of(sample.timeMs), values);
    }
  }

  #takeChanges(before: RuleState, after: RuleState): void {
    for (const [key, alert] of after.alerts) {
      const was = before.alerts.get(key)?.state;
      if (alert.state === "pending" && this.#work.sendsAll) this.#changes.push(changeOf(alert, "pending"));
      if (alert.state === "firing" && (was !== "firing" || this.#work.sendsAll)) this.#changes.push(changeOf(alert, "firing"));
      if (alert.state === "inactive" && was === "firing") this.#changes.push(changeOf(alert, "resolved"));
    }
    // Where a limit has been exceeded no alert is left.
    for (const [key, alert] of before.alerts) {
      if (alert.state !== "firing" || after.alerts.has(key)) continue;
      this.#changes.push(changeOf({ ...alert, resolvedAtMs: this.#work.timeMs }, "resolved"));
    }
  }
}

/** Whether the call that an evaluation is of has no time any more, or nobody waits for it. */
function isOver(budget: QueryBudget): boolean {
  try {
    budget.check();
    return false;
  } catch (error) {
    if (error instanceof QueryError) return true;
    throw error;
  }
}

function lastActivity({ timesMs, values }: StoredSeries): RecordedActivity {
  const last = timesMs.length - 1;
  return { timeMs: timesMs[last] as number, value: values[last] as number, isStale: isStale(values, last) };
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
