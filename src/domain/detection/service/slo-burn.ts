// How fast an SLO's error budget burns: multi-window, multi-burn-rate alerts of the SRE workbook (chapter 5, table 5-8; budget of 30 days).
// A pair fires where both its windows burn at its rate: the long one says that it matters, the short one that it still goes on.
// One ring of 4,320 minutes (3 days), 35 KB per SLO; an evaluation adds up 4,320 minutes, about 10 us.
import { MINUTE_MS } from "../../../core/time/durations.ts";
import type { Tier } from "../anomaly-score.ts";
import { atLeast, firstFailed, type GateResult } from "../gates/gate-result.ts";
import { isRatio } from "./slo-record.ts";

/** Where a record names none. */
export const OBJECTIVE_DEFAULT = 0.999;
const MINUTES_RETAINED = 4320;
/** Requests of the long window, or errors, below which a burn rate is chance. */
const REQUESTS_MIN = 100;
const ERRORS_MIN = 5;
/** Where only ratios are told, their number stands in for the requests: values of the long window. */
const RATIOS_MIN = 12;
/** A serialised ring: newest minute, whether requests were counted, bad, total. */
const SLO_BURN_VALUES = 2 + 2 * MINUTES_RETAINED;

interface BurnPair {
  readonly rate: number;
  readonly longMinutes: number;
  readonly shortMinutes: number;
  readonly tier: Tier;
}

/** Fastest first. 2 % of the budget in an hour, 5 % in six, 10 % in three days. */
export const BURN_PAIRS: readonly BurnPair[] = [
  { rate: 14.4, longMinutes: 60, shortMinutes: 5, tier: "high" },
  { rate: 6, longMinutes: 360, shortMinutes: 30, tier: "medium" },
  { rate: 1, longMinutes: 4320, shortMinutes: 360, tier: "low" },
];

export interface BurnFinding {
  readonly tier: Tier;
  readonly rate: number;
  readonly longBurn: number;
  readonly shortBurn: number;
  readonly longMinutes: number;
  readonly shortMinutes: number;
}

export interface BurnEvaluation {
  /** The fastest pair that fires. */
  readonly finding: BurnFinding | null;
  /** Gates of the pair that fires; of the fastest where none does. */
  readonly gates: readonly GateResult[];
}

interface WindowSum {
  readonly bad: number;
  readonly total: number;
}

export class SloBurn {
  private readonly bad = new Float32Array(MINUTES_RETAINED);
  private readonly total = new Float32Array(MINUTES_RETAINED);
  private minute = -1;
  private counted = false;

  /** Requests of a moment, of which `good` met the objective; 0 <= good <= total. What is older than three days is passed over. */
  observe(timeMs: number, good: number, total: number): void {
    if (!(total > 0) || !(good >= 0) || good > total) return;
    if (this.add(timeMs, total - good, total)) this.counted = true;
  }

  /** A record that tells the good ratio (0..1) of its period alone. */
  observeRatio(timeMs: number, ratio: number): void {
    if (isRatio(ratio)) this.add(timeMs, 1 - ratio, 1);
  }

  /** Burn rates against an objective in (0, 1). */
  evaluate(nowMs: number, objective: number = OBJECTIVE_DEFAULT): BurnEvaluation {
    if (!(objective > 0 && objective < 1)) throw new Error(`an objective lies between 0 and 1, got ${objective}`);
    let fastest: readonly GateResult[] = [];
    for (const pair of BURN_PAIRS) {
      const { finding, gates } = this.judge(pair, nowMs, objective);
      if (finding !== null) return { finding, gates };
      if (fastest.length === 0) fastest = gates;
    }
    return { finding: null, gates: fastest };
  }

  serialise(): Float64Array {
    const values = new Float64Array(SLO_BURN_VALUES);
    values.set([this.minute, this.counted ? 1 : 0]);
    values.set(this.bad, 2);
    values.set(this.total, 2 + MINUTES_RETAINED);
    return values;
  }

  static restore(values: Float64Array): SloBurn {
    if (values.length !== SLO_BURN_VALUES) throw new Error(`an SLO burn has ${SLO_BURN_VALUES} values, got ${values.length}`);
    const burn = new SloBurn();
    burn.minute = values[0] as number;
    burn.counted = values[1] === 1;
    burn.bad.set(values.subarray(2, 2 + MINUTES_RETAINED));
    burn.total.set(values.subarray(2 + MINUTES_RETAINED));
    return burn;
  }

  private judge(pair: BurnPair, nowMs: number, objective: number): BurnEvaluation {
    const long = this.sum(nowMs, pair.longMinutes);
    const longBurn = burnOf(long, objective);
    const shortBurn = burnOf(this.sum(nowMs, pair.shortMinutes), objective);
    const gates = [...this.traffic(long), atLeast("long_burn", longBurn, pair.rate), atLeast("short_burn", shortBurn, pair.rate)];
    if (firstFailed(gates) !== undefined) return { finding: null, gates };
    const { tier, rate, longMinutes, shortMinutes } = pair;
    return { finding: { tier, rate, longBurn, shortBurn, longMinutes, shortMinutes }, gates };
  }

  private traffic({ bad, total }: WindowSum): GateResult[] {
    if (!this.counted) return [atLeast("minimum_values", total, RATIOS_MIN)];
    return [bad >= ERRORS_MIN ? atLeast("minimum_errors", bad, ERRORS_MIN) : atLeast("minimum_requests", total, REQUESTS_MIN)];
  }

  private add(timeMs: number, bad: number, total: number): boolean {
    const minute = Math.floor(timeMs / MINUTE_MS);
    if (minute <= this.minute - MINUTES_RETAINED) return false;
    for (let i = Math.max(this.minute + 1, minute - MINUTES_RETAINED + 1); i <= minute; i++) {
      this.bad[i % MINUTES_RETAINED] = 0;
      this.total[i % MINUTES_RETAINED] = 0;
    }
    this.minute = Math.max(this.minute, minute);
    const at = minute % MINUTES_RETAINED;
    this.bad[at] = (this.bad[at] as number) + bad;
    this.total[at] = (this.total[at] as number) + total;
    return true;
  }

  /** Minutes (now - minutes, now], of what is kept. */
  private sum(nowMs: number, minutes: number): WindowSum {
    const now = Math.floor(nowMs / MINUTE_MS);
    let bad = 0;
    let total = 0;
    const from = Math.max(now - minutes + 1, this.minute - MINUTES_RETAINED + 1, 0);
    for (let i = from; i <= Math.min(now, this.minute); i++) {
      bad += this.bad[i % MINUTES_RETAINED] as number;
      total += this.total[i % MINUTES_RETAINED] as number;
    }
    return { bad, total };
  }
}

/** Share of errors over the share that the objective allows; 0 without requests. */
function burnOf({ bad, total }: WindowSum, objective: number): number {
  return total === 0 ? 0 : bad / total / (1 - objective);
}
