// Has a language model word the summary of an analysis, where one is configured; it changes nothing else. Whoever asks waits SUMMARY_MS_MAX at most, and gets the
// sentences by rule where the model is late, fails, or has too many to word already.
import { Requests } from "../../adapters/threads/requests.ts";
import { SUMMARIES_WORDED_AT_ONCE_MAX, SUMMARY_MS_MAX } from "../../core/config/analysis-limits.ts";
import type { CoordinatorMessage } from "../../core/protocol/query.ts";
import type { SummaryWorded } from "../../core/protocol/summary-wording.ts";
import { factsOf, summaryOf } from "../../domain/rca/advice.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { RcaReport } from "./report-row.ts";

export interface SummaryWordingDependencies {
  readonly isOn: boolean;
  readonly counters: CoordinatorCounters;
  emit(message: CoordinatorMessage): void;
}

export class SummaryWording {
  readonly #dependencies: SummaryWordingDependencies;
  readonly #requests = new Requests<SummaryWorded>();

  constructor(dependencies: SummaryWordingDependencies) {
    this.#dependencies = dependencies;
  }

  /** The summary; never rejects. */
  async word(analysis: RcaReport["analysis"]): Promise<string> {
    const { isOn, emit, counters } = this.#dependencies;
    const byRule = summaryOf(analysis);
    if (!isOn || !analysis.enough) return byRule;
    const isTaken = this.#requests.size < SUMMARIES_WORDED_AT_ONCE_MAX;
    const ask = (id: number) => emit({ type: "summary-wanted", id, facts: factsOf(analysis) });
    const text = (isTaken ? await this.#requests.ask(SUMMARY_MS_MAX, ask) : undefined)?.text ?? null;
    counters.add(text === null ? "summariesByRule" : "summariesWorded", 1);
    return text ?? byRule;
  }

  /** An answer of the model. */
  take(worded: SummaryWorded): void {
    this.#requests.settle(worded);
  }
}
