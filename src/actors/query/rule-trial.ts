/**
 * A trial of a group: its rules at each moment of the past, from no state on, and the alerts that would have fired.
 *
 * A rule's query is evaluated over the whole range at once, then the rule moment by moment over its values, then the next rule over what this one has recorded. Where a
 * rule reads what itself or a rule behind it makes, the group goes on moment by moment.
 */
import { RULE_TRIAL_ALERTS_MAX, RULE_TRIAL_MS_MAX, RULE_TRIAL_VALUES_MAX } from "../../core/config/rule-limits.ts";
import type { TriedAlert, TriedGroup, TriedRule, TryRules } from "../../core/protocol/rule-work.ts";
import { Steps } from "../../domain/promql/evaluation/steps.ts";
import { METRIC_NAME } from "../../domain/promql/labels/labels.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import type { VectorSample } from "../../domain/promql/query-engine.ts";
import { QueryError } from "../../domain/promql/query-error.ts";
import type { RuleAlert, RuleSample } from "../../domain/rules/evaluation/alerting-evaluation.ts";
import { firingChanges } from "../../domain/rules/evaluation/firing-changes.ts";
import { type CompiledGroup, type CompiledRule, NEW_RULE_STATE, type RuleState } from "../../domain/rules/evaluation/group-evaluation.ts";
import type { CallContext } from "./query-call.ts";
import { boundedGroup, compiledGroup, outcomeOf } from "./rule-evaluation.ts";
import { KnownValues, queryOf, RuleQueries, type ValueQuery } from "./rule-queries.ts";
import { matchersOf } from "./selected-streams.ts";

/** Tries a group. Rejects where the streams cannot be selected at all. */
export function triedGroup(context: CallContext, work: TryRules): Promise<TriedGroup> {
  return RuleQueries.with(context, (queries) => new GroupTrial(context, queries, work).run());
}

/** A trial that takes more than it may. */
class TrialTooLongError extends Error {
  override readonly name = "TrialTooLongError";
}

/** A rule on its way through the moments. */
interface RuleTrial {
  readonly index: number;
  readonly rule: CompiledRule;
  state: RuleState;
  failures: number;
}

/** An alert that fires, until its end is known. */
type OpenAlert = { -readonly [K in keyof TriedAlert]: TriedAlert[K] };

class GroupTrial {
  readonly #queries: RuleQueries;
  readonly #work: TryRules;
  readonly #group: CompiledGroup;
  readonly #trials: readonly RuleTrial[];
  readonly #alerts: OpenAlert[] = [];
  /** Those that fire, by rule and labels. */
  readonly #open = new Map<string, OpenAlert>();
  readonly #endMs: number;
  readonly #monotonicMs: () => number;
  #values = 0;
  #done = 0;

  constructor({ monotonicMs }: Pick<CallContext, "monotonicMs">, queries: RuleQueries, work: TryRules) {
    this.#queries = queries;
    this.#work = work;
    this.#group = compiledGroup(work.document);
    const state = { ...NEW_RULE_STATE, isRestored: true };
    this.#trials = this.#group.rules.map((rule, index) => ({ index, rule, state, failures: 0 }));
    this.#monotonicMs = monotonicMs;
    this.#endMs = monotonicMs() + RULE_TRIAL_MS_MAX;
  }

  async run(): Promise<TriedGroup> {
    await this.#queries.selectAll(this.#group.rules.map(({ rule }) => rule.expression));
    try {
      for (const steps of this.#windows()) for (const trial of this.#trials) await this.#tryRule(trial, steps);
      return this.#result(null);
    } catch (error) {
      if (!(error instanceof TrialTooLongError)) throw error;
      const share = Math.floor((100 * this.#done) / (this.#trials.length * this.#work.steps));
      return this.#result(`${error.message}; ${share} % of the evaluations were done: give a shorter time, or fewer rules`);
    }
  }

  #result(problem: string | null): TriedGroup {
    const rules: TriedRule[] = this.#trials.map(({ failures, state }) => ({ failures, lastError: state.lastError ?? null }));
    return { problem, rules, alerts: this.#alerts };
  }

  *#windows(): Generator<Steps> {
    const { firstMs, stepMs, steps } = this.#work;
    const size = this.#readsBack() ? 1 : steps;
    for (let from = 0; from < steps; from += size) {
      yield new Steps(firstMs + from * stepMs, firstMs + (from + size - 1) * stepMs, stepMs);
    }
  }

  /** Whether a rule reads what itself or a rule behind it makes. */
  #readsBack(): boolean {
    const made = this.#group.rules.map(({ rule }) => (rule.kind === "recording" ? [rule.name] : ["ALERTS", "ALERTS_FOR_STATE"]));
    return this.#group.rules.some(({ rule }, index) => {
      const names = made.slice(index).flat();
      return matchersOf(queryOf(rule.expression)).some((matchers) => {
        const ofName = matchers.filter(({ name }) => name === METRIC_NAME);
        return names.some((name) => ofName.every((matcher) => matcher.matches(name)));
      });
    });
  }

  async #tryRule(trial: RuleTrial, steps: Steps): Promise<void> {
    const leftMs = this.#endMs - this.#monotonicMs();
    try {
      await this.#queries.withBudget(leftMs, (budget) => this.#tryMoments(trial, steps, budget));
    } catch (error) {
      if (!(error instanceof QueryError)) throw error;
      if (error.kind === "timeout" || error.kind === "canceled")
        throw new TrialTooLongError(`the trial took ${RULE_TRIAL_MS_MAX / 1_000} s`);
      trial.state = { ...trial.state, lastError: error.message };
      trial.failures += steps.count;
      this.#done += steps.count;
    }
  }

  async #tryMoments(trial: RuleTrial, steps: Steps, budget: QueryBudget): Promise<void> {
    const samples: RuleSample[] = [];
    const vectors = await this.#vectors(trial.rule, steps, budget);
    for (let step = 0; step < steps.count; step++) {
      await this.#queries.pause(budget);
      budget.check();
      const before = trial.state;
      const made = await this.#evaluated(trial, steps.timeMs(step), vectors.get(step) ?? [], budget);
      if (trial.state.lastError !== undefined) trial.failures++;
      for (const sample of made) samples.push(sample);
      this.#takeChanges(trial, before, steps.timeMs(step));
      this.#done++;
    }
    this.#queries.record(samples);
  }

  /** The values of a rule's query, by step. */
  async #vectors({ rule }: CompiledRule, steps: Steps, budget: QueryBudget): Promise<ReadonlyMap<number, readonly VectorSample[]>> {
    const offsetMs = this.#group.group.queryOffsetMs ?? 0;
    const asked = new Steps(steps.startMs - offsetMs, steps.endMs - offsetMs, steps.stepMs);
    const value = await this.#queries.range(rule.expression, asked, budget);
    const vectors = new Map<number, VectorSample[]>();
    for (const { labels, timesMs, values } of value.type === "matrix" ? value.series : []) {
      this.#values += values.length;
      if (this.#values > RULE_TRIAL_VALUES_MAX) throw new TrialTooLongError(`its rules answer more than ${RULE_TRIAL_VALUES_MAX} values`);
      for (const [at, timeMs] of timesMs.entries()) {
        const step = Math.round((timeMs - asked.startMs) / asked.stepMs);
        const of = vectors.get(step) ?? [];
        of.push({ labels, value: values[at] as number });
        vectors.set(step, of);
      }
    }
    return vectors;
  }

  /** Evaluates a rule at a moment; the series that it makes. */
  async #evaluated(trial: RuleTrial, timeMs: number, vector: readonly VectorSample[], budget: QueryBudget): Promise<readonly RuleSample[]> {
    const { rule, state: before } = trial;
    const known = new KnownValues();
    known.set(rule.rule.expression, timeMs - (this.#group.group.queryOffsetMs ?? 0), { type: "vector", samples: vector });
    const group = boundedGroup(this.#group, rule);
    const { externalUrl } = this.#work;
    const attempt = (query: ValueQuery) => outcomeOf(rule, before, group, { timeMs, externalUrl, query });
    const { state, samples } = await this.#queries.answered(known, budget, attempt);
    trial.state = state;
    return samples;
  }

  #takeChanges({ index, state }: RuleTrial, before: RuleState, timeMs: number): void {
    const { began, ended } = firingChanges(before.alerts, state.alerts, timeMs);
    const keyOf = ({ labels }: RuleAlert) => `${index} ${labels.key}`;
    for (const alert of ended) {
      const open = this.#open.get(keyOf(alert));
      if (open !== undefined) open.endedMs = timeMs;
      this.#open.delete(keyOf(alert));
    }
    for (const alert of began) {
      if (this.#alerts.length === RULE_TRIAL_ALERTS_MAX) throw new TrialTooLongError(`more than ${RULE_TRIAL_ALERTS_MAX} alerts fire`);
      const { labels, annotations, activeAtMs: activeMs } = alert;
      const texts = { labels: labels.toObject(), annotations: annotations.toObject() };
      const opened: OpenAlert = { rule: index, ...texts, activeMs, firedMs: timeMs, endedMs: null };
      this.#alerts.push(opened);
      this.#open.set(keyOf(alert), opened);
    }
  }
}
