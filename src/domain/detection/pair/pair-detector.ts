// The slow detector of one pair of service and metric: long baselines beside the two hours of the streaming window. Each observation costs O(1).
// Two families of evidence: the mean of the last hour against its own long history and against the hour of the day (shifts, ramps), and the
// value, its short mean and its step against medians (spikes, in a past that holds anomalies itself).
import { anomalyScore } from "../anomaly-score.ts";
import { AlertGate, GATE_WORDS, type GateStep } from "../gate/alert-gate.ts";
import { DriftingMoments, MOMENTS_WORDS } from "../rolling/drifting-moments.ts";
import { RECENT_VALUES, RECENT_WORDS, RecentValues } from "../rolling/recent-values.ts";
import { SAMPLE_VALUES, SAMPLE_WORDS, ThinnedSample } from "../rolling/thinned-sample.ts";
import { INTERVAL_WORDS, UsualInterval } from "../rolling/usual-interval.ts";
import { HOUR_PROFILE_WORDS, HourProfile } from "../seasonal/hour-profile.ts";
import { type OffsetMs, UTC_OFFSET } from "../seasonal/time-zone-hours.ts";
import { equivalentZ, normalQuantile, studentQuantile } from "../tail-probability.ts";
import { CONFIRMATION_WORDS, PairConfirmation } from "./pair-confirmation.ts";

const HOUR_MS = 3_600_000;
/** Values that the long baselines remember: 4 days of minutes, 22 of five minutes. */
const LONG_MEMORY = 6400;
/** Width of the short mean of the spike family. */
const SPIKE_WIDTH = 3;
/** Values before which nothing opens (young baseline). */
export const LEARNING_VALUES = 24;
/**
 * Levels that a pair of ordinary noise passes so many times a day, were its means and values normal and Student: the more often a pair is looked at,
 * the further out they lie. At five minutes and slower a level of 3.5 standard deviations opens alone, one of 2.5 with a spike.
 */
const LEVELS_A_DAY = 0.01117;
const SUPPORTED_LEVEL = 2.5 / 3.5;
const SPIKES_A_DAY = 0.0508;
const DAY_MS = 24 * HOUR_MS;
/**
 * Scatter of a short mean relative to that of its values: as if of four independent ones. Means of white noise scatter less, and a shift of one
 * standard deviation would be an alert; such a shift is seldom worth a page.
 */
const MEAN_SCATTER_MIN = 0.5;
/** A mean of n independent groups has Student's tail; at 3.5 its quantile is wider than the normal one by this / n (Cornish & Fisher). */
const SMALL_SAMPLE = 3.3;
/** Robust z of telemetry has Student's tail with so many degrees of freedom: 10 is an equivalent z of 3.1, 100 of 4.8. */
const SPIKE_FREEDOM = 3;

/** Samples hold single precision; larger values are taken as this. */
const VALUE_MAX = 1e38;

/** A deployment raises the bar of levels for this long, and longer until the short mean lies wholly behind it. */
const DEPLOYMENT_MS = 30 * 60_000;
const DEPLOYMENT_BAR = 3;
/** Values that the histories of levels count for after it: eight short means find the new level soon, and a shift that comes then is still told. */
const DEPLOYMENT_VALUES = 8 * RECENT_VALUES;
const DEPLOYMENT_WORDS = 2;
const DEPLOYED = 0;
const IS_SETTLING = 1;

/** The hours learn nothing of an incident for this long; what lasts longer is the new normal. */
const INCIDENT_MS = 6 * HOUR_MS;

const SAMPLES = 3;
const WORDS =
  INTERVAL_WORDS +
  2 * RECENT_WORDS +
  4 * MOMENTS_WORDS +
  SAMPLES * SAMPLE_WORDS +
  GATE_WORDS +
  HOUR_PROFILE_WORDS +
  DEPLOYMENT_WORDS +
  CONFIRMATION_WORDS;
/** Bytes of a pair's state, everything included. */
export const PAIR_STATE_BYTES = 8 * WORDS + 4 * SAMPLES * SAMPLE_VALUES;

/** What the detector says of an observation; the object is used again for the next one. */
export class PairVerdict {
  /** Sign of the value's departure from what it was compared with. */
  sign = 0;
  /** What the value was compared with. */
  expected = 0;
  /** Standard deviations of the short mean from its history, whichever of `usual` is further off. */
  level = 0;
  /** 1 where the level lies above what is usual, else -1. */
  side: 1 | -1 = 1;
  /** Mean of the newest `width` values; what is usual for it, and the width in value of one of its standard deviations. */
  mean = 0;
  width = 1;
  usual = 0;
  scale = 0;
  /** Whether `usual` is that of the hour, else that of the whole history. */
  isSeasonal = false;
  /** Levels from here on open an alert by themselves. */
  levelBar = 0;
  /** Level or level with spike, in units of their bars: from 1 on an excursion; and what it must reach while the stream pages often. */
  evidence = 0;
  bar = 1;
  /** Robust standard deviations of the value, its short mean or its step. */
  spike = 0;
  gate: GateStep = { isFiring: false, opened: false, suppressedBy: null };

  /** 0..1, comparable over time and between pairs; made when it is asked for. */
  get score(): number {
    return anomalyScore(this.z);
  }

  /** Signed equivalent z behind the score; made when it is asked for. */
  get z(): number {
    return this.sign * equivalentZ(this.spike, SPIKE_FREEDOM);
  }
}

/** One pair. Its whole state is `state`: store its bytes, and give them to the constructor to go on. */
export class PairDetector {
  readonly state: ArrayBuffer;
  readonly #interval: UsualInterval;
  readonly #values: RecentValues;
  readonly #residuals: RecentValues;
  readonly #valueMoments: DriftingMoments;
  readonly #levelMoments: DriftingMoments;
  readonly #residualMoments: DriftingMoments;
  readonly #residualMeanMoments: DriftingMoments;
  readonly #valueSample: ThinnedSample;
  readonly #meanSample: ThinnedSample;
  readonly #stepSample: ThinnedSample;
  readonly #gate: AlertGate;
  readonly #profile: HourProfile;
  readonly #deployment: Float64Array;
  /** Whether the departure at hand holds: of the value observed last. */
  readonly confirmation: PairConfirmation;
  readonly #offsetMs: OffsetMs;
  readonly #verdict = new PairVerdict();

  /** `state` of PAIR_STATE_BYTES bytes is used in place. Hours of the day are UTC's plus `offsetMs`. */
  constructor(state: ArrayBuffer = new ArrayBuffer(PAIR_STATE_BYTES), offsetMs: OffsetMs = UTC_OFFSET) {
    if (state.byteLength !== PAIR_STATE_BYTES) throw new Error(`state of a pair has ${PAIR_STATE_BYTES} bytes, got ${state.byteLength}`);
    this.state = state;
    let word = 0;
    const take = (words: number): Float64Array => {
      const view = new Float64Array(state, 8 * word, words);
      word += words;
      return view;
    };
    const sample = (which: number): ThinnedSample =>
      new ThinnedSample(new Float32Array(state, 8 * WORDS + 4 * which * SAMPLE_VALUES, SAMPLE_VALUES), take(SAMPLE_WORDS));
    this.#interval = new UsualInterval(take(INTERVAL_WORDS));
    this.#values = new RecentValues(take(RECENT_WORDS));
    this.#residuals = new RecentValues(take(RECENT_WORDS));
    this.#valueMoments = new DriftingMoments(take(MOMENTS_WORDS));
    this.#levelMoments = new DriftingMoments(take(MOMENTS_WORDS));
    this.#residualMoments = new DriftingMoments(take(MOMENTS_WORDS));
    this.#residualMeanMoments = new DriftingMoments(take(MOMENTS_WORDS));
    this.#valueSample = sample(0);
    this.#meanSample = sample(1);
    this.#stepSample = sample(2);
    this.#gate = new AlertGate(take(GATE_WORDS));
    this.#profile = new HourProfile(take(HOUR_PROFILE_WORDS));
    this.#deployment = take(DEPLOYMENT_WORDS);
    this.confirmation = new PairConfirmation(take(CONFIRMATION_WORDS), this.#values);
    this.#offsetMs = offsetMs;
  }

  /** Values taken in; fewer than LEARNING_VALUES are too few to open anything. */
  get count(): number {
    return this.#valueMoments.count;
  }

  /** What the values so far were: sd before its floors are of no more than 0.1 %. */
  get baseline(): { readonly n: number; readonly mean: number; readonly sd: number; readonly median: number } {
    const { count, mean, sd } = this.#valueMoments;
    return { n: count, mean, sd, median: this.#valueSample.median };
  }

  /** Whether an alert is firing. */
  get isFiring(): boolean {
    return this.#gate.isFiring;
  }

  /**
   * Judges a finite value (within +-VALUE_MAX) by what came before it, and takes it in. Times must not go back. `deployedMs` is when the service was
   * last deployed, 0 for never.
   */
  observe(timeMs: number, observed: number, deployedMs = 0): PairVerdict {
    const value = Math.min(VALUE_MAX, Math.max(-VALUE_MAX, observed));
    this.#interval.add(timeMs);
    const verdict = this.#verdict;
    const isLearning = this.#valueMoments.count < LEARNING_VALUES;
    const localMs = timeMs + this.#offsetMs(timeMs);
    verdict.expected = this.#profile.expected(localMs, this.#valueMoments.count === 0 ? value : this.#valueMoments.mean);
    verdict.spike = this.#observeSpike(value);
    this.confirmation.observe(this.#valueMoments.count === 0 ? 0 : this.#valueMoments.sd);
    this.#observeLevel(value, value - verdict.expected);
    const isIncident = this.#gate.isFiring && timeMs - this.#gate.openedMs < INCIDENT_MS;
    if (!isIncident) this.#profile.add(localMs, value, this.#interval.ms);
    verdict.sign = Math.sign(value - verdict.expected);
    const bars = barsOf(this.#interval.ms);
    verdict.levelBar = bars.level * (this.#settles(timeMs, deployedMs) ? DEPLOYMENT_BAR : 1);
    const level = verdict.level / verdict.levelBar;
    verdict.evidence = Math.max(level, Math.min(level / SUPPORTED_LEVEL, verdict.spike / bars.spike));
    verdict.bar = this.#gate.bar;
    verdict.gate = this.#gate.step(timeMs, verdict.evidence, this.#interval.ms, isLearning);
    return verdict;
  }

  /** Whether a deployment settles; at its end the histories go on from the level that it has left. */
  #settles(timeMs: number, deployedMs: number): boolean {
    const words = this.#deployment;
    if (deployedMs > (words[DEPLOYED] as number) && timeMs >= deployedMs) {
      words[DEPLOYED] = deployedMs;
      words[IS_SETTLING] = 1;
    }
    if (words[IS_SETTLING] === 0) return false;
    const { ms } = this.#interval;
    const width = widthOf(ms);
    if (timeMs - (words[DEPLOYED] as number) < Math.max(DEPLOYMENT_MS, width * ms)) return true;
    words[IS_SETTLING] = 0;
    const [mean, residual] = [this.#values.mean(width), this.#residuals.mean(width)];
    for (const moments of [this.#valueMoments, this.#levelMoments]) moments.rebase(mean, DEPLOYMENT_VALUES);
    for (const moments of [this.#residualMoments, this.#residualMeanMoments]) moments.rebase(residual, DEPLOYMENT_VALUES);
    return true;
  }

  #observeSpike(value: number): number {
    const step = this.#values.count === 0 ? 0 : Math.abs(value - this.#values.newest);
    this.#values.add(value);
    const mean = this.#values.mean(SPIKE_WIDTH);
    const spike = Math.max(Math.abs(this.#valueSample.z(value)), Math.abs(this.#meanSample.z(mean)), this.#stepSample.ratio(step));
    this.#valueSample.add(value);
    this.#meanSample.add(mean);
    if (this.#values.count > 1) this.#stepSample.add(step);
    return spike;
  }

  #observeLevel(value: number, residual: number): void {
    const verdict = this.#verdict;
    const width = widthOf(this.#interval.ms);
    this.#residuals.add(residual);
    const mean = this.#values.mean(width);
    const residualMean = this.#residuals.mean(width);
    const freedom = Math.max(1, Math.min(this.#levelMoments.count, LONG_MEMORY) / width);
    const shift = shiftOf(mean, this.#levelMoments, this.#valueMoments);
    const seasonal = shiftOf(residualMean, this.#residualMeanMoments, this.#residualMoments);
    const isSeasonal = Math.abs(seasonal) > Math.abs(shift);
    const spread = 1 + SMALL_SAMPLE / freedom;
    verdict.level = Math.abs(isSeasonal ? seasonal : shift) / spread;
    verdict.side = (isSeasonal ? seasonal : shift) < 0 ? -1 : 1;
    verdict.isSeasonal = isSeasonal;
    verdict.mean = mean;
    verdict.width = width;
    verdict.usual = isSeasonal ? mean - residualMean + this.#residualMeanMoments.mean : this.#levelMoments.mean;
    verdict.scale =
      spread * (isSeasonal ? scaleOf(this.#residualMeanMoments, this.#residualMoments) : scaleOf(this.#levelMoments, this.#valueMoments));
    this.#levelMoments.add(mean, LONG_MEMORY);
    this.#residualMeanMoments.add(residualMean, LONG_MEMORY);
    this.#residualMoments.add(residual, LONG_MEMORY);
    this.#valueMoments.add(value, LONG_MEMORY);
  }
}

interface Bars {
  readonly level: number;
  readonly spike: number;
}

/** Bars by interval: many pairs have the same few. */
const BARS_HELD_MAX = 4_096;
const bars = new Map<number, Bars>();

function barsOf(intervalMs: number): Bars {
  const known = bars.get(intervalMs);
  if (known !== undefined) return known;
  const made = {
    level: normalQuantile(Math.log(LEVELS_A_DAY * Math.min(1, (intervalMs * widthOf(intervalMs)) / DAY_MS))),
    spike: studentQuantile(Math.log(SPIKES_A_DAY * Math.min(1, intervalMs / DAY_MS)), SPIKE_FREEDOM),
  };
  if (bars.size >= BARS_HELD_MAX) bars.clear();
  bars.set(intervalMs, made);
  return made;
}

/** Values of the short mean: an hour of them, at most RECENT_VALUES. */
function widthOf(intervalMs: number): number {
  return Math.max(1, Math.min(RECENT_VALUES, Math.round(HOUR_MS / intervalMs)));
}

/** Standard deviations of a short mean from its own history, which is taken to scatter at least by MEAN_SCATTER_MIN of what its values do. */
function shiftOf(mean: number, history: DriftingMoments, values: DriftingMoments): number {
  return history.z(mean) * Math.min(1, history.sd / (MEAN_SCATTER_MIN * values.sd));
}

/** What one of these standard deviations is in the unit of the values. */
function scaleOf(history: DriftingMoments, values: DriftingMoments): number {
  return Math.max(history.sd, MEAN_SCATTER_MIN * values.sd);
}
