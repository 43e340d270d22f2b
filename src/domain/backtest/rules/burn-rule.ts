// SLOs that burn their error budgets, from their stored records (modules/watchdog/slo does so live).
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import { type BurningSlo, DETECTOR_BURN, WorstBurns } from "../../detection/service/burn-finding.ts";
import { RuleEpisodeSet } from "../../detection/service/rule-episode-set.ts";
import { SloBurn } from "../../detection/service/slo-burn.ts";
import type { SloRecord } from "../../detection/service/slo-record.ts";
import type { BacktestRule, RuleCycle } from "./rule.ts";

/** Time of one SLO. */
const EVALUATION_US = 30;

export class BurnRule implements BacktestRule {
  readonly costUs: number;
  readonly #records: readonly SloRecord[];
  readonly #windows = new Map<string, BurningSlo & { objective: number | null; newestMs: number }>();
  readonly #episodes = new RuleEpisodeSet(DETECTOR_BURN);
  #next = 0;

  /** Ascending by time. */
  constructor(records: readonly SloRecord[]) {
    this.#records = records;
    this.costUs = EVALUATION_US * slosOf(records);
  }

  cycle({ nowMs }: RuleCycle): readonly EpisodeFrame[] {
    for (; this.#next < this.#records.length; this.#next++) {
      const record = this.#records[this.#next] as SloRecord;
      if (record.timeMs > nowMs) break;
      this.#take(record);
    }
    if (this.#windows.size === 0) return [];
    const worst = new WorstBurns((scope) => this.#episodes.isOpen(scope));
    for (const window of this.#windows.values()) worst.add(window, nowMs);
    const { frames, apply } = this.#episodes.settle(worst.findings, nowMs, (scope) => worst.fateOf(scope));
    apply();
    return frames;
  }

  #take({ timeMs, ratio, objective, ...of }: SloRecord): void {
    const key = keyOf(of);
    const window = this.#windows.get(key) ?? { ...of, burn: new SloBurn(), objective: null, newestMs: 0 };
    this.#windows.set(key, window);
    window.burn.observeRatio(timeMs, ratio);
    Object.assign(window, { objective, newestMs: timeMs });
  }
}

/** Distinct SLOs. */
export function slosOf(records: readonly SloRecord[]): number {
  return new Set(records.map(keyOf)).size;
}

function keyOf({ tenant, environment, serviceId, metricName }: Omit<SloRecord, "timeMs" | "ratio" | "objective">): string {
  return JSON.stringify([tenant, environment, serviceId, metricName]);
}
