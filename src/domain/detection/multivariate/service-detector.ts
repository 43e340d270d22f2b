// The joint detector of one service: a model of its metrics, retrained as history grows, and the model's evidence against its own drifting history.
// Score and alert ask different things: the score how rare a vector is in training, the alert whether strangeness itself has left its usual range, so
// that a service that has drifted since training is not one long alert.
import { ACCEPTED_MS } from "../../../core/layout/episode-ends.ts";
import { anomalyScore } from "../anomaly-score.ts";
import { OWN_TAIL_LENGTH, OwnTail } from "../departure/own-tail.ts";
import { pagesPerValue } from "../departure/page-budget.ts";
import { FIRING_LENGTH, FiringState, type FiringStep } from "../gates/firing-state.ts";
import { DriftingMoments, MOMENTS_LENGTH } from "../rolling/drifting-moments.ts";
import { RECENT_LENGTH, RecentValues } from "../rolling/recent-values.ts";
import { INTERVAL_LENGTH, UsualInterval } from "../rolling/usual-interval.ts";
import { normalQuantile, Z_MAX } from "../tail-probability.ts";
import { areFewEvents } from "./few-events.ts";
import type { Random } from "./isolation-forest.ts";
import { FEATURE_ROWS } from "./service-features.ts";
import { isWhole, ServiceModel, SMOOTHED_VECTORS, type TimedRows } from "./service-model.ts";
import { countsOfColumn, type NamedColumns } from "./service-vector.ts";
import type { EigenSolver } from "./symmetric-eigen.ts";

/** Rows that the evidence's history remembers. */
const LONG_MEMORY = 6400;
/** Rows over which evidence is also taken as a mean. */
const SMOOTHED = 3;
/**
 * Of the pages that a series may cost for nothing, how many a service's metrics together may: what opens an alert of theirs is seldom already, and is asked to be
 * among the highest only.
 */
const PAGES_SHARE = 15;
/** z of a vector by its model alone that needs no tail of the service's own evidence. Five was not enough where noise has heavy tails: 8 pages in 750 service-days. */
const SURE_Z = 6.5;
/** Evidence that opens an alert, in standard deviations of its own history. */
export const EVIDENCE_BAR = 5;
/** Standard deviations for which a value that is further out is learned: a drift is learned within a day, and incidents do not hide the next one. */
const LEARNED_SDS_MAX = EVIDENCE_BAR;
/** Values from which on it is known what is far out. */
const LEARNED_FROM = 256;

/** Statistics of the model with a history of their own: residual, jump, isolation, and one metric that leaves the others. */
const CHANNELS = 4;
/** Least spread of each: the first and the last are 0 for most vectors of a few metrics. */
const SPREADS_MIN = [0.01, 0, 0, 0.1];
const CHANNEL_LENGTH = RECENT_LENGTH + 2 * MOMENTS_LENGTH;
/** Vectors taken so far; time of the newest one; which of the newest were over the bar, a bit each. */
const HEAD_LENGTH = 3;
const ROWS_SEEN = 0;
const NEWEST_MS = 1;
const OVER = 2;
/**
 * What one metric has most of is declared when two of the newest three vectors are each near the bar, or one is twice as far: alone it is mostly noise of that
 * metric. The means over three, and the step there and back, would still be over the bar, so that the vectors themselves are asked. What several metrics
 * share is declared at once.
 */
const OVER_BITS = 0b111;
const NEAR = 0.8;
const OWN_SHARE = 0.5;
const SEVERE = 2;
const FIRING_INDEX = HEAD_LENGTH + 2 * RECENT_LENGTH + CHANNELS * CHANNEL_LENGTH + INTERVAL_LENGTH;
const FIXED_LENGTH = HEAD_LENGTH + 2 * RECENT_LENGTH + CHANNELS * CHANNEL_LENGTH + INTERVAL_LENGTH + FIRING_LENGTH + OWN_TAIL_LENGTH;

/** Numbers of state of a detector for so many metrics: 122 and three rows. */
export function serviceDetectorFloats(width: number): number {
  return FIXED_LENGTH + FEATURE_ROWS * width;
}

/** Takes the alert of one detector's state over into another's: whether it is open, since when, and how high its bar is. The metrics may differ. */
export function carryAlert(from: Float64Array, into: Float64Array): void {
  into.set(from.subarray(FIRING_INDEX, FIRING_INDEX + FIRING_LENGTH), FIRING_INDEX);
}

/** Another model goes on with a detector's state: what the one before put in the place of missing values is nothing that they move from. */
export function changeModel(floats: Float64Array): void {
  floats[ROWS_SEEN] = 0;
}

/** Verdict of the detector on a vector; the object is used again for the next one. */
export interface ServiceVerdict {
  /** 0..1 from the tail probability; 0 without a model. */
  score: number;
  z: number;
  /** Standard deviations of the strongest evidence from its history. */
  evidence: number;
  /** Level that the service's own evidence passes by chance as seldom as people are told for nothing; 0 where too little is known. */
  tail: number;
  firing: Omit<FiringStep, "suppressedBy"> & { readonly suppressedBy: FiringStep["suppressedBy"] | "not_persistent" };
}

/** Share of a metric in the last vector. */
export interface MetricShare {
  readonly feature: string;
  /** Its place in the vector. */
  readonly column: number;
  /** 0..1; all sum to 1. */
  readonly share: number;
  readonly value: number;
  /** Value that the other metrics would have it be. */
  readonly usual: number;
}

type Channels = readonly [EvidenceChannel, EvidenceChannel, EvidenceChannel, EvidenceChannel];

const NOT_PERSISTENT: ServiceVerdict["firing"] = { isFiring: false, opened: false, suppressedBy: "not_persistent" };
const NO_STEP: FiringStep = { isFiring: false, opened: false, suppressedBy: null };

/** One service with a fixed list of metrics, over caller-owned state of serviceDetectorFloats(width) numbers, all 0 at the start. */
export class ServiceDetector {
  readonly #width: number;
  readonly #columns: NamedColumns | undefined;
  readonly #head: Float64Array;
  /** The newest FEATURE_ROWS vectors, oldest first. */
  readonly #rows: Float64Array;
  readonly #components: RecentValues;
  readonly #isolations: RecentValues;
  readonly #channels: readonly EvidenceChannel[];
  readonly #interval: UsualInterval;
  readonly firing: FiringState;
  readonly #tail: OwnTail;
  #model: ServiceModel | null;
  readonly #verdict: ServiceVerdict = { score: 0, z: 0, evidence: 0, tail: 0, firing: NO_STEP };

  /** Of `columns` that are not known nothing is taken for a count of single events. */
  constructor(
    width: number,
    floats = new Float64Array(serviceDetectorFloats(width)),
    model: ServiceModel | null = null,
    columns?: NamedColumns,
  ) {
    if (floats.length !== serviceDetectorFloats(width)) throw new Error(`${floats.length} numbers are no state for ${width} metrics`);
    this.#width = width;
    this.#model = model;
    this.#columns = columns;
    let used = 0;
    const take = (count: number): Float64Array => {
      used += count;
      return floats.subarray(used - count, used);
    };
    this.#head = take(HEAD_LENGTH);
    this.#components = new RecentValues(take(RECENT_LENGTH));
    this.#isolations = new RecentValues(take(RECENT_LENGTH));
    this.#channels = Array.from({ length: CHANNELS }, (_, channel) => {
      return new EvidenceChannel(take(CHANNEL_LENGTH), SPREADS_MIN[channel] as number);
    });
    this.#interval = new UsualInterval(take(INTERVAL_LENGTH));
    this.firing = new FiringState(take(FIRING_LENGTH));
    this.#tail = new OwnTail(take(OWN_TAIL_LENGTH));
    this.#rows = take(FEATURE_ROWS * width);
  }

  get isFiring(): boolean {
    return this.firing.isFiring;
  }

  /** Throws where there is none. */
  get model(): ServiceModel {
    if (this.#model === null) throw new Error("the detector has no model");
    return this.#model;
  }

  get hasModel(): boolean {
    return this.#model !== null;
  }

  /** Time of the newest vector, ms; 0 before the first. */
  get newestMs(): number {
    return this.#head[NEWEST_MS] as number;
  }

  /** Usual time between vectors, ms. */
  get intervalMs(): number {
    return this.#interval.ms;
  }

  /** The newest vector, or one of the FEATURE_ROWS - 1 before it. A view. */
  row(before = 0): Float64Array {
    const start = (FEATURE_ROWS - 1 - before) * this.#width;
    return this.#rows.subarray(start, start + this.#width);
  }

  /** Trains on consecutive vectors of the past. The first model also reads them as the history of its evidence; later ones go on with theirs. */
  train(rows: TimedRows, random: Random, eigen: EigenSolver): void {
    const isFirst = this.#model === null;
    this.#model = ServiceModel.train(rows, random, eigen);
    if (isFirst) this.#readHistory(this.#model, rows);
  }

  /** Judges a vector of finite values by what came before it. Times must not go back. */
  observe(timeMs: number, values: Float64Array): ServiceVerdict {
    const verdict = this.#verdict;
    this.#interval.add(timeMs);
    this.#take(timeMs, values);
    if (this.#model !== null) {
      verdict.evidence = this.#weigh(this.#model, this.#rows, (FEATURE_ROWS - 1) * this.#width, timeMs);
      verdict.firing = this.#step(timeMs, verdict.evidence / EVIDENCE_BAR);
      const tail = verdict.firing.isFiring ? this.#tail.exceededWith(PAGES_SHARE * pagesPerValue(this.#interval.ms)) : 0;
      verdict.tail = verdict.z >= SURE_Z ? Math.min(tail, verdict.evidence) : tail;
      if (!verdict.firing.isFiring) this.#tail.add(Math.max(0, verdict.evidence));
    }
    return verdict;
  }

  /** Metrics by their part in the residuals of the last vector and step, largest first; shares sum to 1. */
  contributions(names: readonly string[]): MetricShare[] {
    const parts = this.#model?.contributions() ?? new Float64Array(this.#width);
    const total = parts.reduce((sum, part) => sum + part, 0) || 1;
    const row = this.row();
    return names
      .map((feature, j) => {
        const value = row[j] as number;
        return {
          feature,
          column: j,
          share: (parts[j] as number) / total,
          value,
          usual: this.#model?.parts.levels.fitting(row, j) ?? value,
        };
      })
      .sort((a, b) => b.share - a.share);
  }

  #readHistory(model: ServiceModel, { times, values, width, breaks }: TimedRows): void {
    const count = times.length;
    for (let row = Math.max(FEATURE_ROWS - 1, count - LONG_MEMORY); row < count; row++) {
      if (!isWhole(breaks, row)) continue;
      this.#tail.add(Math.max(0, this.#weigh(model, values, row * width, times[row] as number)));
    }
    this.#rows.set(values.subarray((count - FEATURE_ROWS) * width));
    this.#head[ROWS_SEEN] = count;
    this.#head[NEWEST_MS] = times[count - 1] as number;
  }

  #step(timeMs: number, evidence: number): ServiceVerdict["firing"] {
    const [levels, jumps, places, leavings] = this.#channels as Channels;
    const standing = Math.max(levels.alone, places.alone) / EVIDENCE_BAR;
    const over = ((((this.#head[OVER] as number) << 1) | (standing >= NEAR ? 1 : 0)) & OVER_BITS) >>> 0;
    this.#head[OVER] = over;
    const isJoint = evidence >= 1 && this.#largestShare() < OWN_SHARE;
    const isDeclared =
      isJoint || leavings.alone >= EVIDENCE_BAR || Math.max(standing, jumps.alone / EVIDENCE_BAR) >= SEVERE || (over & (over - 1)) !== 0;
    if (this.isFiring || evidence < 1 || (isDeclared && !this.#isOfFewEvents()))
      return this.firing.step(timeMs, evidence, this.#interval.ms, false);
    this.firing.step(timeMs, 0, this.#interval.ms, false);
    return NOT_PERSISTENT;
  }

  /** Whether one metric has most of it, and that counts no more events than come by chance where as many are usual as fit the others, in the newest vectors. */
  #isOfFewEvents(): boolean {
    if (this.#largestShare() < OWN_SHARE) return false;
    const parts = this.model.contributions();
    const column = parts.indexOf(Math.max(...parts));
    const rows = Array.from({ length: FEATURE_ROWS }, (_, before) => this.row(before));
    const counts = this.#columns === undefined ? 0 : countsOfColumn(this.#columns, column);
    const usual = rows.map((row) => Math.max(0, this.model.parts.levels.fitting(row, column)));
    return areFewEvents(
      rows.map((row) => row[column] as number),
      usual,
      counts,
    );
  }

  /** Largest share of one metric in the residuals of the newest vector and step. */
  #largestShare(): number {
    const parts = this.model.contributions();
    let [sum, largest] = [0, 0];
    for (const part of parts) {
      sum += part;
      largest = Math.max(largest, part);
    }
    return sum > 0 ? largest / sum : 1;
  }

  /** A vector before which there are too few stands in their place too: it has not moved. */
  #take(timeMs: number, values: Float64Array): void {
    const width = this.#width;
    const seen = this.#head[ROWS_SEEN] as number;
    this.#rows.copyWithin(0, width);
    this.#rows.set(values, (FEATURE_ROWS - 1) * width);
    for (let row = 0; seen === 0 && row < FEATURE_ROWS - 1; row++) this.#rows.set(values, row * width);
    this.#head[ROWS_SEEN] = seen + 1;
    this.#head[NEWEST_MS] = timeMs;
  }

  #weigh(model: ServiceModel, values: Float64Array, start: number, timeMs: number): number {
    const leaving = model.leaving(values, start);
    const strangeness = model.measure(values, start, timeMs);
    this.#components.add(strangeness.shape + strangeness.step);
    this.#isolations.add(strangeness.isolation);
    const means = { components: this.#components.mean(SMOOTHED_VECTORS), isolation: this.#isolations.mean(SMOOTHED_VECTORS) };
    const z = Math.min(Z_MAX, normalQuantile(model.logP(strangeness, means)));
    this.#verdict.z = z;
    this.#verdict.score = anomalyScore(z);
    const { level, jump, isolation } = strangeness;
    const [levels, jumps, places, leavings] = this.#channels as Channels;
    // While an alert is open nothing is learned of it, up to when it is accepted.
    const learns = !this.isFiring || timeMs - this.firing.openedMs >= ACCEPTED_MS;
    const weighed = [
      levels.weigh(level, learns),
      jumps.weigh(jump, learns),
      places.weigh(isolation, learns),
      leavings.weigh(leaving, learns),
    ];
    return Math.max(...weighed);
  }
}

/** One statistic of the model, alone and as a short mean, against its own drifting history. */
class EvidenceChannel {
  readonly #recent: RecentValues;
  readonly #single: DriftingMoments;
  readonly #smooth: DriftingMoments;
  readonly #spreadMin: number;
  /** Evidence of the newest value alone. */
  alone = 0;

  constructor(floats: Float64Array, spreadMin: number) {
    this.#spreadMin = spreadMin;
    this.#recent = new RecentValues(floats.subarray(0, RECENT_LENGTH));
    this.#single = new DriftingMoments(floats.subarray(RECENT_LENGTH, RECENT_LENGTH + MOMENTS_LENGTH));
    this.#smooth = new DriftingMoments(floats.subarray(RECENT_LENGTH + MOMENTS_LENGTH));
  }

  weigh(value: number, learns: boolean): number {
    this.#recent.add(value);
    const mean = this.#recent.mean(SMOOTHED);
    this.alone = this.#z(this.#single, value);
    const evidence = Math.max(this.alone, this.#z(this.#smooth, mean));
    if (learns) {
      learn(this.#single, value);
      learn(this.#smooth, mean);
    }
    return evidence;
  }

  #z(moments: DriftingMoments, value: number): number {
    return moments.isScored ? (value - moments.mean) / Math.max(moments.sd, this.#spreadMin) : 0;
  }
}

/** Takes a value in, one far out for no more than LEARNED_SDS_MAX standard deviations. */
function learn(moments: DriftingMoments, value: number): void {
  moments.add(moments.count >= LEARNED_FROM ? Math.min(value, moments.mean + LEARNED_SDS_MAX * moments.sd) : value, LONG_MEMORY);
}
