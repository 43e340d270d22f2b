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
  #id = 0;

  constructor(dependencies: SummaryWordingDependencies) {
    this.#dependencies = dependencies;
  }

  /** The summary; never rejects. */
  word(analysis: RcaReport["analysis"]): Promise<string> {
    const { isOn, emit, counters } = this.#dependencies;
    const byRule = summaryOf(analysis);
    if (!isOn || !analysis.enough) return Promise.resolve(byRule);
    if (this.#requests.size >= SUMMARIES_WORDED_AT_ONCE_MAX) {
      counters.add("summariesByRule", 1);
      return Promise.resolve(byRule);
    }
    const id = ++this.#id;
    return new Promise((resolve) => {
      const byRuleAfterAll = () => {
        counters.add("summariesByRule", 1);
        resolve(byRule);
      };
      const answered = ({ text }: SummaryWorded) => {
        if (text === null) return byRuleAfterAll();
        counters.add("summariesWorded", 1);
        resolve(text);
      };
      this.#requests.add(id, SUMMARY_MS_MAX, { answered, late: byRuleAfterAll });
      emit({ type: "summary-wanted", id, facts: factsOf(analysis) });
    });
  }

  /** An answer of the model. */
  take(worded: SummaryWorded): void {
    this.#requests.settle(worded);
  }
}
