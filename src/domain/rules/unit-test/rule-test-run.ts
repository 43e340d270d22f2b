// Runs a test of rules as promtool does: its groups are evaluated step by step over the input, alerts are compared on the way, expressions at the end.
import { PROMQL_LOOKBACK_MS } from "../../../core/config/promql-limits.ts";
import { RULE_TEST_EVALUATIONS_MAX } from "../../../core/config/rule-limits.ts";
import { Labels } from "../../promql/labels/labels.ts";
import { formatDuration } from "../../promql/parser/duration-text.ts";
import { withoutParens } from "../../promql/parser/expression.ts";
import { parseExpression } from "../../promql/parser/parser.ts";
import { ParseError } from "../../promql/parser/position.ts";
import { quote } from "../../promql/parser/quoted-text.ts";
import { QueryBudget } from "../../promql/query-budget.ts";
import { type QueryValue, queryInstant } from "../../promql/query-engine.ts";
import { QueryError } from "../../promql/query-error.ts";
import { parseSeriesDescription, SeriesDescriptionError } from "../../promql/series-description.ts";
import { type CompiledGroup, compileGroup, evaluateGroup, NEW_RULE_STATE, type RuleState } from "../evaluation/group-evaluation.ts";
import type { RuleGroup } from "../file/rule-group.ts";
import { histogramText, parseHistogram } from "./described-histogram.ts";
import { alertFailure, type ComparedAlert, type ComparedSample, sampleFailure } from "./expectation-text.ts";
import { readInputSeries } from "./input-series.ts";
import type { AlertExpectation, ExpectedSample, ExpressionExpectation, RuleTest } from "./rule-test-file.ts";
import { TestStorage } from "./test-storage.ts";

/** What the tests of a file have in common. */
export interface RuleTestOptions {
  readonly evaluationIntervalMs: number;
  readonly isFuzzy: boolean;
  /** A monotonic clock, for the time that a query may take. */
  readonly nowMs: () => number;
}

/** Runs one test over groups in their order; what failed, each as one text. */
export function runRuleTest(test: RuleTest, groups: readonly RuleGroup[], options: RuleTestOptions): string[] {
  let storage: TestStorage;
  try {
    storage = new TestStorage(test.input.map((series) => readInputSeries(series, test.startMs, test.intervalMs)));
  } catch (error) {
    if (error instanceof SeriesDescriptionError) return [error.message];
    throw error;
  }
  return new RuleTestRun(test, groups, storage, options).run();
}

/** A group with the states of its rules. */
interface RunningGroup {
  readonly compiled: CompiledGroup;
  states: readonly RuleState[];
}

class RuleTestRun {
  readonly #test: RuleTest;
  readonly #groups: readonly RunningGroup[];
  readonly #storage: TestStorage;
  readonly #options: RuleTestOptions;

  constructor(test: RuleTest, groups: readonly RuleGroup[], storage: TestStorage, options: RuleTestOptions) {
    this.#test = test;
    // Nothing is restored in a test: series of alerts are made from the first evaluation on.
    const restored = { ...NEW_RULE_STATE, isRestored: true };
    this.#groups = groups.map((group) => ({ compiled: compileGroup(group), states: group.rules.map(() => restored) }));
    this.#storage = storage;
    this.#options = options;
  }

  run(): string[] {
    const { alerts, expressions } = this.#test;
    const endMs = Math.max(0, ...alerts.map(({ timeMs }) => timeMs), ...expressions.map(({ timeMs }) => timeMs));
    const stepMs = this.#options.evaluationIntervalMs;
    const rules = this.#groups.reduce((sum, { states }) => sum + states.length, 0);
    if ((endMs / stepMs) * Math.max(1, rules) > RULE_TEST_EVALUATIONS_MAX) {
      return [`    a test evaluates rules at most ${RULE_TEST_EVALUATIONS_MAX} times`];
    }
    const failures: string[] = [];
    for (let ms = 0; ms <= endMs; ms += stepMs) {
      const errors = this.#evaluate(ms);
      if (errors.length > 0) return [...failures, ...errors];
      const due = alerts.filter(({ timeMs }) => ms <= timeMs && timeMs < ms + stepMs).sort((a, b) => a.timeMs - b.timeMs);
      failures.push(...due.flatMap((expectation) => this.#compareAlerts(expectation) ?? []));
    }
    return [...failures, ...expressions.flatMap((expectation) => this.#compareSamples(expectation) ?? [])];
  }

  #query(text: string, timeMs: number): QueryValue {
    const { nowMs, evaluationIntervalMs } = this.#options;
    const budget = new QueryBudget(nowMs);
    return queryInstant(text, timeMs, { storage: this.#storage, budget, subqueryStepMs: evaluationIntervalMs }).value;
  }

  /** Evaluates all groups; errors of rules. */
  #evaluate(sinceStartMs: number): string[] {
    const { startMs, externalLabels, externalUrl } = this.#test;
    const timeMs = startMs + sinceStartMs;
    this.#storage.advance(timeMs);
    const world = {
      externalLabels,
      externalUrl,
      query: (text: string, ms: number) => this.#query(text, ms),
      record: this.#storage.record.bind(this.#storage),
    };
    return this.#groups.flatMap((group) => {
      group.states = evaluateGroup(group.compiled, group.states, timeMs, world);
      return group.states.flatMap(({ lastError }, index) => {
        const { name } = group.compiled.group.rules[index] ?? { name: "" };
        return lastError === undefined ? [] : [`    rule: ${name}, time: ${formatDuration(sinceStartMs)}, err: ${lastError}`];
      });
    });
  }

  #compareAlerts({ alertName, timeMs, alerts }: AlertExpectation): string | undefined {
    const found = this.#groups.flatMap(({ compiled, states }) =>
      states.flatMap(({ alerts: active }, index) =>
        compiled.rules[index]?.rule.kind === "alerting" && compiled.rules[index]?.rule.name === alertName
          ? [...active.values()].filter(({ state }) => state === "firing")
          : [],
      ),
    );
    const expected = alerts.map(({ labels, annotations }) => ({ labels: labels.with("alertname", alertName), annotations }));
    const [wanted, got] = [expected, found].map((list: readonly ComparedAlert[]) => [...list].sort(compareAlerts));
    const isSame = (wanted as ComparedAlert[]).map(alertKey).join("\n") === (got as ComparedAlert[]).map(alertKey).join("\n");
    if (isSame) return undefined;
    return alertFailure(this.#test.name, { name: alertName, timeMs }, wanted as ComparedAlert[], got as ComparedAlert[]);
  }

  #compareSamples(expectation: ExpressionExpectation): string | undefined {
    const { expression, timeMs, samples } = expectation;
    const head = `    expr: ${quote(expression)}, time: ${formatDuration(timeMs)}`;
    try {
      const found = this.#samples(expression, this.#test.startMs + timeMs);
      const expected = samples.map(expectedSample);
      const [wanted, got] = [expected, found].map((list) => [...list].sort((a, b) => Labels.compare(a.labels, b.labels)));
      const isSame = this.#areSame(wanted as ComparedSample[], got as ComparedSample[]);
      return isSame ? undefined : sampleFailure(expression, timeMs, wanted as ComparedSample[], got as ComparedSample[]);
    } catch (error) {
      if (!(error instanceof ParseError || error instanceof QueryError || error instanceof SeriesDescriptionError)) throw error;
      return `${head}, err: ${error.message}`;
    }
  }

  #samples(expression: string, timeMs: number): readonly ComparedSample[] {
    const parsed = withoutParens(parseExpression(expression));
    const histograms =
      parsed.kind === "selector" && parsed.offset === undefined && parsed.at === undefined
        ? this.#storage.selectHistograms(parsed.matchers, timeMs, PROMQL_LOOKBACK_MS)
        : undefined;
    if (histograms !== undefined) return histograms.map(({ labels, text }) => ({ labels, value: 0, histogram: text }));
    const value = this.#query(expression, timeMs);
    if (value.type === "scalar") return [{ labels: Labels.of([]), value: value.value, histogram: "" }];
    if (value.type !== "vector") throw new QueryError("rule result is not a vector or scalar");
    return value.samples.map(({ labels, value: number }) => ({ labels, value: number, histogram: "" }));
  }

  #areSame(expected: readonly ComparedSample[], found: readonly ComparedSample[]): boolean {
    return (
      expected.length === found.length &&
      expected.every((sample, index) => {
        const { labels, value, histogram } = found[index] as ComparedSample;
        return sample.labels.key === labels.key && sample.histogram === histogram && this.#isSameValue(sample.value, value);
      })
    );
  }

  #isSameValue(a: number, b: number): boolean {
    if (a === b) return true;
    return this.#options.isFuzzy && (nextFloat(a, 1) === b || nextFloat(a, -1) === b);
  }
}

function expectedSample({ labels, value, histogram }: ExpectedSample): ComparedSample {
  const parsed = labels.trim() === "" ? Labels.of([]) : parseSeriesDescription(`${labels} _`).labels;
  return {
    labels: parsed,
    value: histogram === "" ? value : 0,
    histogram: histogram === "" ? "" : histogramText(parseHistogram(histogram)),
  };
}

function alertKey({ labels, annotations }: ComparedAlert): string {
  return `${labels.key}\u0000${annotations.key}`;
}

function compareAlerts(a: ComparedAlert, b: ComparedAlert): number {
  return Labels.compare(a.labels, b.labels) || Labels.compare(a.annotations, b.annotations);
}

/** The next float above or below. */
function nextFloat(value: number, direction: 1 | -1): number {
  if (!Number.isFinite(value)) return value;
  if (value === 0) return direction * Number.MIN_VALUE;
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  view.setBigInt64(0, view.getBigInt64(0) + BigInt(value > 0 === direction > 0 ? 1 : -1));
  return view.getFloat64(0);
}
