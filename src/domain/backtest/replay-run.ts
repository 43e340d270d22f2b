// Files replayed: the run of a backtest, once, from samples to pages, with a score, the state of the alert and whether people were told for each of the times at
// which samples came.
import { lowerBound } from "../../core/collections/sorted-search.ts";
import { HOUR_MS } from "../../core/time/durations.ts";
import type { PageDecision } from "../alerting/paging/page-decision.ts";
import { runOnce } from "./backtest.ts";
import type { BacktestFacts, BacktestOptions, BacktestSeries, BacktestVariant, ScoreLayer } from "./history.ts";

/** A page so long after the newest row belongs to none: it tells that nothing has come. */
const BETWEEN_MS = 6 * HOUR_MS;

/** By time: the highest score of the layers; whether an alert fires that people know of; pages sent by the evaluation. */
export interface ReplayedRows {
  readonly scores: Float64Array;
  readonly alerts: Uint8Array;
  readonly pages: Uint8Array;
  /** Of rows whose first page was sent long after them, when that was. */
  readonly betweenMs: ReadonlyMap<number, number>;
  readonly decisions: readonly PageDecision[];
}

/** `times` are those of the rows, ascending; a row has the score that was known when it had been evaluated, or that of the row before it. */
export async function replayRun(
  series: readonly BacktestSeries[],
  times: Float64Array,
  facts: BacktestFacts,
  variant: BacktestVariant,
  options: BacktestOptions,
): Promise<ReplayedRows> {
  const rows = new ScoredRows(times);
  const decisions = await runOnce(series, facts, variant, options, (layer, timeMs, score) => rows.take(layer, timeMs, score));
  const alerts = new Uint8Array(times.length);
  const pages = new Uint8Array(times.length);
  const betweenMs = new Map<number, number>();
  const reported = new Set<string>();
  let from = 0;
  for (const { outcome, atMs, alertId } of decisions) {
    if (alertId === null || (outcome !== "paged" && outcome !== "resolved")) continue;
    const row = rowAt(times, atMs);
    if (reported.size > 0) alerts.fill(1, from, row);
    from = row;
    if (outcome === "resolved") reported.delete(alertId);
    else {
      reported.add(alertId);
      if (pages[row] === 0 && atMs - (times[row] as number) > BETWEEN_MS) betweenMs.set(row, atMs);
      pages[row] = 1;
      alerts[row] = 1;
    }
  }
  if (reported.size > 0) alerts.fill(1, from);
  return { scores: rows.scores, alerts, pages, betweenMs, decisions };
}

/** The newest row that an evaluation at this moment has seen. */
function rowAt(times: Float64Array, atMs: number): number {
  return Math.max(0, lowerBound(times, atMs + 1) - 1);
}

/** The newest score of the service's metrics together, where there is one, else the highest of its metrics. */
class ScoredRows {
  readonly #times: Float64Array;
  readonly #pairs: Float64Array;
  readonly #services: Float64Array;

  constructor(times: Float64Array) {
    this.#times = times;
    this.#pairs = new Float64Array(times.length).fill(Number.NaN);
    this.#services = new Float64Array(times.length).fill(Number.NaN);
  }

  take(layer: ScoreLayer, timeMs: number, score: number): void {
    const scores = layer === "service" ? this.#services : this.#pairs;
    const row = rowAt(this.#times, timeMs);
    const known = scores[row] as number;
    if (!(known >= score)) scores[row] = score;
  }

  get scores(): Float64Array {
    const scores = new Float64Array(this.#times.length);
    let [pair, service] = [0, Number.NaN];
    for (let row = 0; row < scores.length; row++) {
      const [newPair, newService] = [this.#pairs[row] as number, this.#services[row] as number];
      if (!Number.isNaN(newPair)) pair = newPair;
      if (!Number.isNaN(newService)) service = newService;
      scores[row] = Number.isNaN(service) ? pair : service;
    }
    return scores;
  }
}
