// Plays promqltest scripts in this process against a storage in memory. Evals over native histograms, which are not stored here, and of what stands behind a flag are left out.
import { MemoryStorage } from "../../src/domain/promql/memory-storage.ts";
import { ParseError } from "../../src/domain/promql/parser/position.ts";
import { QueryBudget } from "../../src/domain/promql/query-budget.ts";
import { type QueryResult, queryInstant, rangeSteps } from "../../src/domain/promql/query-engine.ts";
import { QueryError } from "../../src/domain/promql/query-error.ts";
import { storeDescribed } from "../../src/domain/promql/series-description.ts";
import { queryRange } from "../support/query-range.ts";
import { annotationProblem, isExpectedText, valueProblem } from "./comparison.ts";
import { type Command, type Evaluation, readScript } from "./script.ts";

/** What became of an eval: `note` is what is wrong with its messages alone. */
export interface Outcome {
  readonly line: number;
  readonly expression: string;
  readonly class: "stable" | "native" | "flagged";
  readonly problem: string | undefined;
  readonly hasNote: boolean;
  readonly note: string | undefined;
}

const FLAGGED = /is not enabled$|and not enabled$|must be enabled with --enable-feature/;

/** Plays one script. */
export function playScript(text: string): Outcome[] {
  const player = new ScriptPlayer();
  return readScript(text).flatMap((command) => player.play(command) ?? []);
}

class ScriptPlayer {
  #storage = new MemoryStorage();
  #natives = new Set<string>();
  #isFlagged = false;

  play(command: Command): Outcome | undefined {
    if (command.kind === "eval") return this.#evaluate(command);
    if (command.kind === "unknown") {
      const { line, text, reason } = command;
      return { line, expression: text, class: "stable", problem: reason, hasNote: false, note: undefined };
    }
    if (command.kind === "clear") {
      this.#storage = new MemoryStorage();
      this.#natives = new Set();
      this.#isFlagged = false;
      return undefined;
    }
    this.#isFlagged ||= command.isFlagged;
    for (const series of command.series) {
      const { metricName } = series.labels;
      if (series.values.includes("histogram")) this.#natives.add(metricName);
      else if (command.makesHistograms) this.#natives.add(metricName.replace(/_bucket$/, ""));
      storeDescribed(series, command.stepMs, this.#storage);
    }
    return undefined;
  }

  /** Native: a histogram is expected, or a metric is named that has one, or any metric may be meant. */
  #isNative({ expression, series }: Evaluation): boolean {
    if (this.#isFlagged || series.some(({ values }) => values.includes("histogram"))) return true;
    const names = [...this.#natives].map((name) => new RegExp(`(?<![\\w:])${name}(?![\\w:])`));
    return names.some((name) => name.test(expression)) || (names.length > 0 && /__name__|(?<![\w:]\s*)\{/.test(expression));
  }

  #evaluate(evaluation: Evaluation): Outcome {
    const { line, expression, failure } = evaluation;
    const kind = this.#isNative(evaluation) ? "native" : "stable";
    const base = { line, expression, class: kind, hasNote: false, note: undefined, problem: undefined } as const;
    const result = this.#query(evaluation);
    if (typeof result === "string") {
      if (FLAGGED.test(result)) return { ...base, class: "flagged" };
      if (failure === undefined) return { ...base, problem: result };
      const bare = result.replace(/^[^:]*:[^:]*: parse error: /, "");
      const isExpected = isExpectedText(failure, result) || isExpectedText(failure, bare);
      const hasNote = failure.text !== undefined || failure.pattern !== undefined;
      return { ...base, hasNote, note: isExpected ? undefined : `fails with ${result}, expected ${JSON.stringify(failure)}` };
    }
    if (failure !== undefined) return { ...base, problem: "has a result where an error is expected" };
    const hasNote = evaluation.warnings.length + evaluation.infos.length > 0 || evaluation.hasNoInfo || evaluation.hasNoWarning;
    return { ...base, hasNote, note: annotationProblem(evaluation, result), problem: valueProblem(evaluation, result.value) };
  }

  #query({ expression, range, timeMs }: Evaluation): QueryResult | string {
    const options = { storage: this.#storage, budget: new QueryBudget(() => 0) };
    try {
      if (range === undefined) return queryInstant(expression, timeMs, options);
      return queryRange(expression, rangeSteps(range.startMs, range.endMs, range.stepMs), options);
    } catch (error) {
      if (error instanceof ParseError || error instanceof QueryError) return error.message;
      return `${error instanceof Error ? error.stack : error}`;
    }
  }
}
