// The slow detector of one pair of service and metric: long baselines beside the two hours of the streaming window. Each observation costs O(1).
// Two families of evidence: the mean of the last hour against its own long history and against the hour of the day (shifts, ramps), and the
// value, its short mean and its step against medians (spikes, in a past that holds anomalies itself).
import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";
import { HOUR_MS } from "../../../core/time/durations.ts";
import { endOfDay, type KnownDays } from "../../calendar/known-days.ts";
import {
  DEPARTING_VALUES,
  DEPARTURE_DETECTOR_LENGTH,
  DepartureDetector,
  MORE_DEPARTURE_DETECTOR_LENGTH,
} from "../departure/departure-detector.ts";
import { OWN_TAIL_LENGTH, type TailEvidence } from "../departure/own-tail.ts";
import { shareOfOne } from "../departure/page-budget.ts";
import type { YoungDeparture } from "../departure/young-departure.ts";
import { FIRING_LENGTH, FiringState } from "../gates/firing-state.ts";
import { DriftingMoments, MOMENTS_LENGTH } from "../rolling/drifting-moments.ts";
import type { PendingGroup } from "../rolling/observation-groups.ts";
import { RECENT_LENGTH, RECENT_VALUES, RecentValues } from "../rolling/recent-values.ts";
import { SAMPLE_LENGTH, SAMPLE_VALUES, ThinnedSample } from "../rolling/thinned-sample.ts";
import { INTERVAL_LENGTH, UsualInterval } from "../rolling/usual-interval.ts";
import { HOUR_PROFILE_LENGTH, HourProfile } from "../seasonal/hour-profile.ts";
import { type OffsetMs, UTC_OFFSET } from "../seasonal/time-zone-hours.ts";
import { FirstValues } from "./first-values.ts";
import { ALIKE_SDS } from "./instance-family.ts";
import { LASTING_LENGTH, LastingEvidence } from "./lasting-evidence.ts";
import { scaleOf, shiftOf } from "./level-shift.ts";
import { barsOf, highLevels, SHARED_VALUES, widthOf } from "./pair-bars.ts";
import { evidenceOf, PairVerdict } from "./pair-finding.ts";
import { lastingMomentOf, momentOf, noteValue } from "./pair-moments.ts";
import { DEPLOYMENT_LENGTH, FIRST_PAIR_STATE_BYTES, PAIR_STATE_BYTES, PAIR_STATE_DOUBLES } from "./pair-state.ts";
import { type NewValues, type PairSurroundings, SURROUNDED_BY_NOTHING, Z_THRESHOLD_DEFAULT } from "./pair-surroundings.ts";
import { StretchTail } from "./stretch-tail.ts";
import { compressedValue, shownValue } from "./value-range.ts";

/** Values that the long baselines remember: 4 days of minutes, 22 of five minutes. */
const LONG_MEMORY = 6400;
/** Width of the short mean of the spike family. */
const SPIKE_WIDTH = 3;
/** A level is that of most of its values where more than a third of them are so much of its bar away. */
const SHARED_LEVEL = 0.3;
/** A level that comes so soon after a departure, in intervals and in time, is what the departure left, and nothing of its own. */
const DEPARTURE_REST_INTERVALS = 60;
const DEPARTURE_REST_MS_MAX = 5 * HOUR_MS;
/** Values before which nothing opens (young baseline). */
export const LEARNING_VALUES = 24;
const SUPPORTED_LEVEL = 2.5 / 3.5;
/** A mean of n independent groups has Student's tail; at 3.5 its quantile is wider than the normal one by this / n (Cornish & Fisher). */
const SMALL_SAMPLE = 3.3;

/** A deployment raises the bar of levels for this long, and longer until the short mean lies wholly behind it. */
const DEPLOYMENT_MS = 30 * 60_000;
const DEPLOYMENT_BAR = 3;
/** Values that the histories of levels count for after it: eight short means find the new level soon, and a shift that comes then is still told. */
const DEPLOYMENT_VALUES = 8 * RECENT_VALUES;
const DEPLOYED = 0;
const IS_SETTLING = 1;

/** Levels and hours learn nothing of an incident for this long; what lasts longer is the new normal. */
const INCIDENT_MS = 6 * HOUR_MS;

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
  readonly #firing: FiringState;
  readonly #profile: HourProfile;
  readonly #deployment: Float64Array;
  /** Whether the value observed last is worth a page by itself. */
  readonly departure: DepartureDetector;
  readonly #levelTail: StretchTail;
  readonly #lasting: LastingEvidence;
  readonly #offsetMs: OffsetMs;
  readonly #verdict = new PairVerdict();
  /** Time before which a departure, unless it goes far, is reported only if it goes on then: a new instance warms up, or the day is known to be unusual. */
  #lenientUntilMs = 0;
  /** Time of the value before the newest one; 0 for none. */
  #lastMs = 0;
  #step = 0; // from that value to the newest one
  /** The newest value is of a finding that goes on, and is no newer level than INCIDENT_MS: the baselines learn nothing of it. */
  #isFrozen = false;
  /** Level that the newest value has made the usual one. */
  #level: DepartureDetector["accepted"];
  #newest = 0;
  #knownDays: KnownDays | undefined;
  /** Contexts of the newest value, written anew for each: a cycle judges millions of values, and an object each was most of what it allocated. */
  readonly #moment: ReturnType<typeof momentOf>;
  readonly #lastingMoment: ReturnType<typeof lastingMomentOf>;
  readonly #first: FirstValues;
  /** The state before values that are foreseen. */
  readonly #retained = new Uint8Array(PAIR_STATE_BYTES);
  readonly #bytes: Uint8Array;

  /** `state` of PAIR_STATE_BYTES bytes is used in place. Hours of the day are UTC's plus `offsetMs`. */
  constructor(state: ArrayBuffer = new ArrayBuffer(PAIR_STATE_BYTES), offsetMs: OffsetMs = UTC_OFFSET) {
    if (state.byteLength !== PAIR_STATE_BYTES) throw new Error(`state of a pair has ${PAIR_STATE_BYTES} bytes, got ${state.byteLength}`);
    this.state = state;
    let word = 0;
    const take = (length: number): Float64Array => {
      const view = new Float64Array(state, 8 * word, length);
      word += length;
      return view;
    };
    const sample = (which: number): ThinnedSample =>
      new ThinnedSample(new Float32Array(state, 8 * PAIR_STATE_DOUBLES + 4 * which * SAMPLE_VALUES, SAMPLE_VALUES), take(SAMPLE_LENGTH));
    this.#interval = new UsualInterval(take(INTERVAL_LENGTH));
    this.#values = new RecentValues(take(RECENT_LENGTH));
    this.#residuals = new RecentValues(take(RECENT_LENGTH));
    this.#valueMoments = new DriftingMoments(take(MOMENTS_LENGTH));
    this.#levelMoments = new DriftingMoments(take(MOMENTS_LENGTH));
    this.#residualMoments = new DriftingMoments(take(MOMENTS_LENGTH));
    this.#residualMeanMoments = new DriftingMoments(take(MOMENTS_LENGTH));
    this.#valueSample = sample(0);
    this.#meanSample = sample(1);
    this.#stepSample = sample(2);
    this.#firing = new FiringState(take(FIRING_LENGTH));
    this.#profile = new HourProfile(take(HOUR_PROFILE_LENGTH));
    this.#deployment = take(DEPLOYMENT_LENGTH);
    const more = new Float64Array(state, FIRST_PAIR_STATE_BYTES, MORE_DEPARTURE_DETECTOR_LENGTH);
    this.departure = new DepartureDetector(take(DEPARTURE_DETECTOR_LENGTH), more);
    this.#levelTail = new StretchTail(take(OWN_TAIL_LENGTH), take(1));
    this.#lasting = new LastingEvidence(take(LASTING_LENGTH), this.#values);
    this.#offsetMs = offsetMs;
    this.#bytes = new Uint8Array(state);
    this.#moment = momentOf(this.#profile, this.#values, (ms) => this.#knownDays?.kindAt(ms) === "weekend");
    this.#first = new FirstValues({
      interval: this.#interval,
      values: this.#values,
      departure: this.departure,
      moment: this.#moment,
      offsetMs,
    });
    this.#lastingMoment = lastingMomentOf(this.departure, this.#values, () => this.#newest);
  }

  /** Values taken in; fewer than LEARNING_VALUES are too few to open anything. */
  get count(): number {
    return this.#valueMoments.count;
  }

  /** Baseline of the values so far: sd before its floors are of no more than 0.1 %. */
  get baseline(): { readonly n: number; readonly mean: number; readonly sd: number; readonly median: number } {
    const { count, mean, sd } = this.#valueMoments;
    return { n: count, mean: shownValue(mean), sd: shownValue(mean + sd) - shownValue(mean), median: shownValue(this.#valueSample.median) };
  }

  /** Level with which the newest value has ended a departure or an alert, as DepartureDetector.accepted. */
  get accepted(): DepartureDetector["accepted"] {
    const level = this.#level;
    return level && { from: shownValue(level.from), to: shownValue(level.to) };
  }

  /** Between what the newest value would have been ordinary. */
  get bounds(): DepartureDetector["bounds"] {
    const { expected, lower, upper } = this.departure.bounds;
    return { expected: shownValue(expected), lower: shownValue(lower), upper: shownValue(upper) };
  }

  /** Whether an alert is firing. */
  get isFiring(): boolean {
    return this.#firing.isFiring || this.departure.isOpen;
  }

  /** Nothing departs, and no alert fires: what the state holds is the series' own ordinary. */
  get isAtRest(): boolean {
    return !this.#firing.isFiring && this.departure.isAtRest;
  }

  /** Judges a finite value by what came before it, and takes it in. Times must not go back. */
  observe(timeMs: number, observed: number, around: PairSurroundings = SURROUNDED_BY_NOTHING): PairVerdict {
    const { deployedMs, acceptedMs = 0, changedMs = 0, knownDays } = around;
    const value = compressedValue(observed);
    this.#lastMs = this.#interval.lastMs;
    this.#interval.add(timeMs);
    const verdict = this.#verdict;
    const isLearning = this.#valueMoments.count < LEARNING_VALUES;
    const wasFiring = this.isFiring;
    const localMs = timeMs + this.#offsetMs(timeMs);
    const day = knownDays?.kindAt(localMs) ?? null;
    const isHoliday = day === "weekend";
    this.#lenientUntilMs = Math.max(around.warmUntilMs ?? 0, day === "unusual" ? endOfDay(localMs) - localMs + timeMs : 0);
    verdict.expected = this.#profile.expected(localMs, this.#valueMoments.count === 0 ? value : this.#valueMoments.mean, isHoliday);
    verdict.isOfKnownDay = this.#profile.knowsKindOfDay(localMs, this.#interval.ms, isHoliday);
    verdict.spike = this.#observeSpike(value);
    const hour = this.#profile.between(localMs, this.#interval.ms, isHoliday);
    const isSettling = this.#settles(timeMs, Math.max(deployedMs, changedMs), hour);
    if (changedMs > 0 && changedMs >= this.#lastMs) this.#moveTo(value, value - verdict.expected, hour);
    const caution = isSettling || timeMs < this.#lenientUntilMs ? DEPLOYMENT_BAR : 1;
    const moment = this.#moment;
    noteValue(moment, this.#interval, timeMs, this.#lastMs, around);
    moment.localMs = localMs;
    moment.hour = hour;
    if (isSettling) moment.caution *= DEPLOYMENT_BAR;
    moment.lenientUntilMs = this.#lenientUntilMs;
    moment.acceptedMs = acceptedMs > 0 ? acceptedMs + this.#offsetMs(acceptedMs) : 0;
    this.#knownDays = knownDays;
    this.#newest = value;
    this.departure.observe(timeMs, value, moment);
    this.#level = this.departure.accepted;
    this.#isFrozen = this.departure.isOpen || (this.#firing.isFiring && timeMs - this.#firing.openedMs < INCIDENT_MS);
    this.#learnSpike(value);
    if (this.#level !== undefined) this.#takeLevel();
    if (this.departure.rejoins) this.#rejoin(value, value - verdict.expected);
    this.#lasting.observe(this.#valueMoments.count === 0 ? 0 : this.#valueMoments.sd, this.departure.leastSd);
    this.#observeLevel(value, value - verdict.expected);
    if (!this.#isFrozen && !this.departure.isBrief && day !== "unusual") this.#profile.add(localMs, value, this.#interval.ms, isHoliday);
    verdict.sign = Math.sign(value - verdict.expected);
    const bars = barsOf(this.#interval.ms);
    verdict.levelBar = bars.level * caution;
    const level = verdict.level / verdict.levelBar;
    verdict.evidence = Math.max(level, Math.min(level / SUPPORTED_LEVEL, verdict.spike / bars.spike));
    if (acceptedMs > 0 && timeMs >= acceptedMs) this.#acceptAlert(acceptedMs, hour);
    verdict.bar = this.#firing.bar;
    verdict.firing = this.#firing.step(timeMs, verdict.evidence, this.#interval.ms, isLearning);
    this.#conclude(timeMs, value, wasFiring, around, !Number.isNaN(hour));
    return verdict;
  }

  /** Whether a value could be this series' own: its level is near, and so is what is expected now. It is not taken in. */
  isLike(timeMs: number, value: number, around: PairSurroundings): boolean {
    const { mean, sd } = this.#valueMoments;
    const off = Math.abs(compressedValue(value) - mean);
    if (!(off <= ALIKE_SDS * Math.max(sd, SD_RELATIVE_MIN * Math.abs(mean), SD_MIN))) return false;
    this.#retained.set(this.#bytes);
    this.observe(Math.max(timeMs, this.#interval.lastMs), value, around);
    this.#bytes.set(this.#retained);
    return Math.abs(this.departure.size) <= ALIKE_SDS;
  }

  /** For how long the series has been known by its values, ms. */
  get ageMs(): number {
    return this.count * this.#interval.ms;
  }

  /** Whether nobody was told of a departure of a series that is too young to judge single values: its newest ones are to be looked at together. */
  get isYoung(): boolean {
    return !this.departure.isOpen && this.departure.isYoung(this.#interval.ms);
  }

  /** Takes that values of a young series depart together. The verdict is the one that observe() gives. */
  depart(of: YoungDeparture): PairVerdict {
    const verdict = this.#verdict;
    const wasFiring = this.isFiring;
    const expected = compressedValue(of.expected);
    const observed = compressedValue(of.observed);
    const sd = compressedValue(of.expected + of.sd) - expected;
    this.departure.beginYoung({ ...of, observed, expected, sd });
    this.#valueMoments.restart(expected, sd);
    verdict.level = 0;
    verdict.spike = 0;
    verdict.evidence = 0;
    verdict.sign = of.side;
    verdict.side = of.side;
    verdict.opened = !wasFiring;
    verdict.reports = true;
    verdict.shares = false;
    this.#reportDeparture(observed);
    return verdict;
  }

  /** Puts the departure at hand into the verdict. */
  #reportDeparture(value: number): void {
    const verdict = this.#verdict;
    const { departure } = this;
    verdict.isFiring = this.isFiring;
    verdict.known = departure.known;
    verdict.departure = departure.isOpen ? departure.size : 0;
    verdict.departedValue = value;
    verdict.departedFrom = departure.expected;
    verdict.departedSd = departure.sd;
    verdict.departedBar = departure.bar;
    verdict.departs = departure.opened;
    verdict.departedChance = departure.chance;
  }

  /** Report that the first `count` of these values would lead to on a side, each as the next cycle would judge it; none of them is taken in. */
  foresee(newest: NewValues, around: PairSurroundings, side: 1 | -1): TailEvidence | undefined {
    const { times, values, count, pending } = newest;
    this.#retained.set(this.#bytes);
    const isQuiet = this.count === 0 && this.#first.areQuiet(newest, around);
    this.#bytes.set(this.#retained);
    if (isQuiet) return undefined;
    let evidence: TailEvidence | undefined;
    for (let i = 0; i < count; i++) evidence = evidenceOf(this.observe(times[i] as number, values[i] as number, around), side) ?? evidence;
    if (pending !== undefined && this.count >= DEPARTING_VALUES) evidence = this.#foreseePending(pending, around, side) ?? evidence;
    this.#bytes.set(this.#retained);
    return evidence;
  }

  /** A part of a minute scatters more than the whole, as independent values do: it has to depart by as much more. */
  #foreseePending({ timeMs, mean, share }: PendingGroup, around: PairSurroundings, side: 1 | -1): TailEvidence | undefined {
    const verdict = this.observe(timeMs, mean, around);
    const evidence = this.departure.opened ? evidenceOf(verdict, side) : undefined;
    if (evidence === undefined) return undefined;
    const bar = evidence.bar / Math.sqrt(share);
    return evidence.size >= bar ? { size: evidence.size, bar } : undefined;
  }

  /** Conclusion from level and departure together. */
  #conclude(timeMs: number, value: number, wasFiring: boolean, around: PairSurroundings, isHourKnown: boolean): void {
    const verdict = this.#verdict;
    const { departure } = this;
    verdict.opened = this.isFiring && !wasFiring;
    this.#reportDeparture(value);
    if (departure.opened) verdict.side = departure.size < 0 ? -1 : 1;
    const isYoung = departure.isYoung(this.#interval.ms);
    verdict.reports = departure.opened || (!isYoung && verdict.firing.isFiring && this.#isShared(timeMs, value, around, isHourKnown));
    const intervalMs = this.#interval.ms;
    const lasting = this.#lasting;
    const moment = this.#lastingMoment;
    moment.timeMs = timeMs;
    moment.intervalMs = intervalMs;
    moment.count = this.count;
    moment.streams = around.streams;
    moment.caution = timeMs < this.#lenientUntilMs ? DEPLOYMENT_BAR : 1;
    moment.strictness = around.zThreshold / Z_THRESHOLD_DEFAULT;
    moment.isReported = verdict.reports || isYoung || this.#isBusy(timeMs, lasting.side);
    moment.isIncident = departure.isOpen;
    lasting.judge(moment);
    verdict.shares = lasting.shares;
    if (lasting.side !== 0 && (lasting.reports || lasting.shares)) verdict.side = lasting.side;
    // Where the level has followed a row, how far that goes is not known.
    const begins = departure.isFar ? lasting.reports || lasting.comesAgain : lasting.reports && !this.isFiring;
    if (begins && lasting.side !== 0) this.#beginLasting(timeMs, value, lasting.side, wasFiring);
    verdict.reports ||= lasting.reports;
    // The highest level of each short mean's stretch is what levels do by themselves.
    this.#levelTail.learn(verdict.level, this.count % verdict.width === 0);
  }

  /** What lasts is a departure, known when it comes again, and told of an anomaly: where there is none, as of a series whose windows hold farther values, it begins with this. */
  #beginLasting(timeMs: number, value: number, side: 1 | -1, wasFiring: boolean): void {
    const verdict = this.#verdict;
    this.departure.beginLasting(timeMs, side, value);
    verdict.opened = this.isFiring && !wasFiring;
    this.#reportDeparture(value);
  }

  /** Whether a departure is on, or has been lately: what else is found to its side belongs to it. */
  #isBusy(timeMs: number, side: -1 | 0 | 1): boolean {
    const busyMs = this.departure.busyMs(side);
    return busyMs !== 0 && timeMs - busyMs <= Math.min(DEPARTURE_REST_INTERVALS * this.#interval.ms, DEPARTURE_REST_MS_MAX);
  }

  /** Whether a level that has come into excursion lately is that of most of its values, and not of a few far ones. */
  #isShared(timeMs: number, value: number, { streams, zThreshold }: PairSurroundings, isHourKnown: boolean): boolean {
    if (this.#verdict.isSeasonal && !isHourKnown) return false;
    const { side, usual, scale, levelBar, width, evidence } = this.#verdict;
    const { ms } = this.#interval;
    if (evidence < 1 || timeMs - this.#firing.openedMs > RECENT_VALUES * ms) return false;
    if (this.#isBusy(timeMs, side) || this.departure.isSmallMove || this.departure.hasHadLevel(value)) return false;
    const tail = this.#levelTail.exceededWith(highLevels(width * ms, width) * shareOfOne(streams));
    if (this.#verdict.level < (tail * zThreshold) / Z_THRESHOLD_DEFAULT) return false;
    const bar = SHARED_LEVEL * levelBar * scale;
    let near = 0;
    for (let back = 0; back < width; back++) if (side * (this.#values.before(back) - usual) < bar) near++;
    return near < width - Math.floor(width / SHARED_VALUES);
  }

  /** Whether a deployment settles; at its end the histories go on from the level that it has left. */
  #settles(timeMs: number, deployedMs: number, hour: number): boolean {
    const floats = this.#deployment;
    if (deployedMs > (floats[DEPLOYED] as number) && timeMs >= deployedMs) {
      floats[DEPLOYED] = deployedMs;
      floats[IS_SETTLING] = 1;
    }
    if (floats[IS_SETTLING] === 0) return false;
    const { ms } = this.#interval;
    const width = widthOf(ms);
    if (timeMs - (floats[DEPLOYED] as number) < Math.max(DEPLOYMENT_MS, width * ms)) return true;
    floats[IS_SETTLING] = 0;
    const mean = this.#values.mean(width);
    this.#rebase(mean, this.#residuals.mean(width));
    this.departure.settle(mean, hour);
    return true;
  }

  /** A departure has become the new level: what was held aside while it was on is learned at once. */
  #takeLevel(): void {
    const width = Math.min(widthOf(this.#interval.ms), Math.max(1, this.departure.levelValues));
    this.#rebase(this.#values.mean(width), this.#residuals.mean(width));
  }

  /** Somebody has taken the level of an alert that began by then for the usual one: it ends with the next value of it. */
  #acceptAlert(acceptedMs: number, hour: number): void {
    const verdict = this.#verdict;
    if (!this.#firing.isFiring || this.#firing.openedMs > acceptedMs || this.departure.isOpen) return;
    if (this.#level === undefined) {
      if (verdict.evidence < 1) return;
      this.#level = { from: verdict.usual, to: verdict.mean };
      this.departure.levelValues = verdict.width;
      this.departure.settle(verdict.mean, hour);
      this.#takeLevel();
    }
    this.#firing.end();
    this.#lasting.moveTo(this.#level.to);
    verdict.evidence = 0;
  }

  /** The histories of levels go on from here. */
  #rebase(mean: number, residual: number): void {
    for (const moments of [this.#valueMoments, this.#levelMoments]) moments.rebase(mean, DEPLOYMENT_VALUES);
    for (const moments of [this.#residualMoments, this.#residualMeanMoments]) moments.rebase(residual, DEPLOYMENT_VALUES);
  }

  /** What came before a gap is not what this value came from. */
  #rejoin(value: number, residual: number): void {
    this.#values.fill(value);
    this.#residuals.fill(residual);
    this.#lasting.moveTo(this.departure.expected);
  }

  /** A stream has joined those that the values are of, or has left: this one is at their level. */
  #moveTo(value: number, residual: number, hour: number): void {
    this.#rejoin(value, residual);
    this.#rebase(value, residual);
    this.departure.moveTo(value, hour);
    this.#lasting.moveTo(value);
  }

  #observeSpike(value: number): number {
    this.#step = this.#values.count === 0 ? 0 : Math.abs(value - this.#values.newest);
    this.#values.add(value);
    const mean = this.#values.mean(SPIKE_WIDTH);
    const least = this.departure.countSd(this.#valueSample.median);
    const ofValue = Math.abs(this.#valueSample.z(value, value > this.#valueSample.median ? least : 0));
    const ofMean = Math.abs(this.#meanSample.z(mean, mean > this.#meanSample.median ? least / Math.sqrt(SPIKE_WIDTH) : 0));
    return Math.max(ofValue, ofMean, this.#stepRatio(this.#step, value, least));
  }

  /** Nothing of a departure that people were told of is what the series does. */
  #learnSpike(value: number): void {
    if (this.#isFrozen) return;
    this.#valueSample.add(value);
    this.#meanSample.add(this.#values.mean(SPIKE_WIDTH));
    if (this.#values.count > 1) this.#stepSample.add(this.#step);
  }

  /** A step in usual ones, of no less than a thousandth of the level, or than what counts stray by: series that hardly move have hardly any. */
  #stepRatio(step: number, value: number, least: number): number {
    const floor = Math.max(SD_RELATIVE_MIN * Math.abs(value), least);
    return floor > 0 ? Math.min(this.#stepSample.ratio(step), step / floor) : this.#stepSample.ratio(step);
  }

  #observeLevel(value: number, residual: number): void {
    const verdict = this.#verdict;
    const width = widthOf(this.#interval.ms);
    this.#residuals.add(residual);
    const mean = this.#values.mean(width);
    const residualMean = this.#residuals.mean(width);
    const freedom = Math.max(1, Math.min(this.#levelMoments.count, LONG_MEMORY) / width);
    // What is left of a value without its hour has the floor of the value itself, though it lies about nothing.
    const floor = SD_RELATIVE_MIN * Math.abs(this.#valueMoments.mean);
    const { mean: usual } = this.#levelMoments;
    const counted = mean > usual ? this.departure.countSd(usual) : 0;
    const shift = shiftOf(mean, this.#levelMoments, this.#valueMoments, counted);
    const seasonal = shiftOf(residualMean, this.#residualMeanMoments, this.#residualMoments, Math.max(floor, counted));
    const isSeasonal = Math.abs(seasonal) > Math.abs(shift);
    const spread = 1 + SMALL_SAMPLE / freedom;
    verdict.level = Math.abs(isSeasonal ? seasonal : shift) / spread;
    verdict.side = (isSeasonal ? seasonal : shift) < 0 ? -1 : 1;
    verdict.isSeasonal = isSeasonal;
    verdict.mean = mean;
    verdict.width = width;
    verdict.usual = isSeasonal ? mean - residualMean + this.#residualMeanMoments.mean : this.#levelMoments.mean;
    verdict.scale =
      spread *
      (isSeasonal
        ? scaleOf(this.#residualMeanMoments, this.#residualMoments, Math.max(floor, counted))
        : scaleOf(this.#levelMoments, this.#valueMoments, counted));
    this.#learnLevel(this.#levelMoments, mean);
    this.#learnLevel(this.#residualMeanMoments, residualMean);
    this.#learnLevel(this.#residualMoments, residual);
    this.#learnLevel(this.#valueMoments, value);
  }

  /** What is found is not the level of what is usual; that the series strays so far is known from then on. */
  #learnLevel(moments: DriftingMoments, value: number): void {
    if (this.#isFrozen) moments.hold(value, LONG_MEMORY);
    else moments.add(value, LONG_MEMORY);
  }
}
