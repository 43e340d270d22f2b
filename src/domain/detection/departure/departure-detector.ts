// Whether a value is worth a page: how improbable it is for this series, by the series' own tail at its own interval, how large in units that matter, and whether the
// series does so as a rule. One value is enough where the noise is known. A departure goes on until it is over, or has lasted so long that it is the new level.
import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time/durations.ts";
import { SD_PER_MEAN_DEVIATION } from "../robust.ts";
import { RECENT_VALUES } from "../rolling/recent-values.ts";
import { areFewByChance } from "./counted-values.ts";
import { COUNT, DEPARTURE_MIN, Deviation, LONG_VARIANCE } from "./deviation.ts";
import { FarOnsets } from "./far-onsets.ts";
import { type Departure, KNOWN_DEPARTURES_LENGTH, KnownDepartures, type KnownReason, MORE_DEPARTURES_LENGTH } from "./known-departures.ts";
import { LEARNED_SEASON_LENGTH, LearnedSeason } from "./learned-season.ts";
import { LOCAL_LEVELS_LENGTH, LocalLevels, mix } from "./local-levels.ts";
import { hasLasted, hasShownLevel, hasStayed, isTaken } from "./new-level.ts";
import { OWN_TAIL_LENGTH } from "./own-tail.ts";
import { OwnTails } from "./own-tails.ts";
import { pagesPerValue, shareOfOne } from "./page-budget.ts";
import { PAIRED_SEASONS_DOUBLES, PairedSeasons } from "./paired-seasons.ts";
import { isFallToNothing, isHourEdge } from "./recurrence.ts";
import { isBurstLong } from "./short-departures.ts";
import type { ValueMoment } from "./value-moment.ts";
import { ValueSteps } from "./value-steps.ts";
import { isYoung, YOUNG_CHANCE, type YoungDeparture } from "./young-departure.ts";

export const DEPARTING_VALUES = 14; // before which nothing departs
/** A departure is over after so many values in a row that are nearer than this share of the bar. */
const NEAR_SHARE = 0.5;
const NEAR_VALUES = 3;
const LONG_WEIGHT = 1 / 3000;
const LONG_CLIP = 6;
const STEP_SPREAD_SHARE = 0.1; // of a step to a level that it has had: its values may stray so there until they have shown what they do
const BRIEF_MS_MAX = 1.5 * HOUR_MS; // a habit of an hour may last so long, as `longer` says of minutes
const LENIENT_BAR = 3; // bars from which on a departure is reported at once while a new instance warms up, or on an unusual day
const PEAK_VALUES = 30;

const STATE = 6; // of the head, which begins with what its deviation reads
const NEAR = 7;
const VALUES = 8;
const STARTED = 9; // by the clock on the wall, as KNOWN_UNTIL
const PEAK = 10;
const PEAK_VALUE = 11;
const FROM = 12;
const TO = 13;
const SIDE = 14;
const BUSY = 15;
const KNOWN_UNTIL = 16; // one that is no news may last until then
const ONSETS = 18;
const HEAD_LENGTH = 20;
const [AT_REST, DEPARTED, KNOWN] = [0, 1, 2] as const; // what is known is as the series does: it is no news

/** Numbers of state. */
export const DEPARTURE_DETECTOR_LENGTH =
  HEAD_LENGTH + LOCAL_LEVELS_LENGTH + LEARNED_SEASON_LENGTH + KNOWN_DEPARTURES_LENGTH + 2 * OWN_TAIL_LENGTH;
/** Numbers of its second part, which came later. */
export const MORE_DEPARTURE_DETECTOR_LENGTH = MORE_DEPARTURES_LENGTH + 2 + PAIRED_SEASONS_DOUBLES;
/** Of these, what pairs had before two periods at once were known. */
export const FORMER_MORE_DEPARTURE_DETECTOR_LENGTH = MORE_DEPARTURES_LENGTH + 2;
/** Of what waits: the side to which the newest value lies so far that the next one decides, and the furthest of the values in a row that are far out, signed; 0 for none. */
const [WAITING_SIDE, FAR_PEAK] = [0, 1] as const;
const NOTHING_YET = { intervalMs: HOUR_MS, localMs: 0, caution: 1, streams: 1, counts: 0 };

/** Departures of one pair over caller-owned state of DEPARTURE_DETECTOR_LENGTH and MORE_DEPARTURE_DETECTOR_LENGTH numbers, all 0 at the start. The fields report the newest value. */
export class DepartureDetector {
  readonly #floats: Float64Array;
  readonly #waits: Float64Array;
  readonly #levels: LocalLevels;
  readonly #steps: ValueSteps;
  readonly #season: LearnedSeason;
  readonly #paired: PairedSeasons;
  readonly #known: KnownDepartures;
  readonly #tails: OwnTails;
  readonly #onsets: FarOnsets;
  readonly #deviation: Deviation;
  /** From how many standard deviations on a value departs, and how many times that the newest one is. */
  bar = DEPARTURE_MIN;
  evidence = 0;
  /** Probability of a value as far out, by its own tail; 1 where nothing departs. */
  chance = 1;
  /** A departure that is news began with this value. */
  opened = false;
  /** The level that the newest value has made the new one, and what was expected before it, where a departure that was news ended so. */
  accepted: { readonly from: number; readonly to: number } | undefined;
  /** Of the newest values, those that are of the level with which a departure ended last. */
  levelValues = 0;
  /** Behind a gap the newest value is as its hour is. */
  rejoins = false;
  #isEdge = false;
  /** Why a departure at hand is no news. */
  known: KnownReason | null = null;
  #newest: Pick<ValueMoment, "intervalMs" | "localMs" | "caution" | "streams" | "counts"> = NOTHING_YET;

  constructor(floats: Float64Array, more: Float64Array) {
    this.#floats = floats;
    this.#waits = more.subarray(MORE_DEPARTURES_LENGTH, FORMER_MORE_DEPARTURE_DETECTOR_LENGTH);
    this.#paired = new PairedSeasons(more.subarray(FORMER_MORE_DEPARTURE_DETECTOR_LENGTH));
    let used = 0;
    const take = (count: number): Float64Array => {
      used += count;
      return floats.subarray(used - count, used);
    };
    const head = take(HEAD_LENGTH);
    this.#steps = new ValueSteps(head);
    this.#onsets = new FarOnsets(floats.subarray(ONSETS, HEAD_LENGTH));
    this.#levels = new LocalLevels(take(LOCAL_LEVELS_LENGTH));
    this.#season = new LearnedSeason(take(LEARNED_SEASON_LENGTH));
    this.#known = new KnownDepartures(take(KNOWN_DEPARTURES_LENGTH), more);
    this.#tails = new OwnTails(take(OWN_TAIL_LENGTH), take(OWN_TAIL_LENGTH), this.#waits.subarray(FAR_PEAK, FAR_PEAK + 1));
    const forecasts = { steps: this.#steps, levels: this.#levels, season: this.#season, paired: this.#paired, tails: this.#tails };
    this.#deviation = new Deviation(head, forecasts);
  }

  /** Whether a departure that was news goes on. */
  get isOpen(): boolean {
    return this.#floats[STATE] === DEPARTED;
  }

  /** Value that was expected, the standard deviation of such values, and how many of these the newest one lies from it, signed. */
  get expected(): number {
    return this.#deviation.expected;
  }

  get sd(): number {
    return this.#deviation.sd;
  }

  get size(): number {
    return this.#deviation.size;
  }

  get isFar(): boolean {
    return this.#deviation.isFar;
  }

  get isSmallMove(): boolean {
    return this.#deviation.isSmallMove;
  }

  get leastSd(): number {
    return this.#deviation.leastSd;
  }

  countSd(expected: number): number {
    return this.#deviation.countSd(expected);
  }

  /** Whether no departure is on, news or not. */
  get isAtRest(): boolean {
    return this.#floats[STATE] === AT_REST;
  }

  /** The series has no tail of its own yet: what departs of it is for its newest values together to say. */
  isYoung(intervalMs: number): boolean {
    return isYoung(this.#floats[COUNT] as number, intervalMs);
  }

  /** Whether a habit is on that is over sooner than the hour: no level of its hour. */
  get isBrief(): boolean {
    return this.#floats[STATE] === KNOWN && (this.#floats[KNOWN_UNTIL] as number) - (this.#floats[STARTED] as number) <= BRIEF_MS_MAX;
  }

  /** When a departure to a side (0: any) was last on, news or not, or waited for its second value, or an hour's edge came; ms, 0 for never. */
  busyMs(side: -1 | 0 | 1): number {
    return side * (this.#floats[SIDE] as number) < 0 ? 0 : (this.#floats[BUSY] as number);
  }

  /** Whether a departure with the newest value would be no news, or one that is none is on. */
  wouldBeKnown(value: number): boolean {
    return this.#floats[STATE] === KNOWN || this.#known.find(this.#departure(value, this.#newest)) !== null;
  }

  /** Whether the newest values to a side are together as rare as one that departs. `before` gives the values, the newest first. */
  isRareInRow(side: 1 | -1, most: number, before: (back: number) => number): boolean {
    const sizeOf = (back: number) => (side * (before(back) - this.expected)) / this.sd;
    return this.#onsets.areRare({ side, most, probability: this.#pageProbability, far: DEPARTURE_MIN, sizeOf }, this.#tails.to(side));
  }

  /** Whether the newest value is of a level, or comes by a step, that the series has had. */
  hasHadLevel(value: number): boolean {
    const known = this.#known.find(this.#departure(value, this.#newest))?.reason;
    return known === "known_level" || known === "known_step";
  }

  /** Whether a value is what was usual before a departure that was on since then: values of that are no level which it has fallen from. */
  isWayBack(sinceMs: number, value: number): boolean {
    return this.isAtRest && (this.#floats[BUSY] as number) >= sinceMs && Math.abs(value - this.expected) < DEPARTURE_MIN * this.sd;
  }

  /** Judges a value by those before it, and takes it in. Times must not go back. */
  observe(timeMs: number, value: number, moment: ValueMoment): void {
    const floats = this.#floats;
    this.opened = false;
    this.accepted = undefined;
    this.known = null;
    this.#newest = moment;
    this.#levels.forecast(moment.hour, moment.isBehindGap);
    this.#season.lookUp(timeMs, moment.intervalMs, this.#steps.jumpTo(value));
    this.#paired.forecast(timeMs, value, moment);
    this.#deviation.measure(timeMs, value, moment, this.isAtRest);
    this.#weigh(value, moment);
    this.rejoins = moment.isBehindGap && !Number.isNaN(moment.hour) && this.isAtRest && this.evidence < 1;
    if (this.rejoins) this.#levels.rejoin(this.expected);
    const waits = this.#waitsForNext(moment);
    if (floats[STATE] !== AT_REST) this.#goOn(value, moment);
    else if (this.evidence >= 1 && !waits) this.#begin(timeMs, value, moment);
    const isAtEdge = this.#isEdge && this.countSd(value) > 0;
    if (this.isAtRest && (waits || isAtEdge)) floats[SIDE] = waits ? (this.#waits[WAITING_SIDE] as number) : 0;
    if (!this.isAtRest || waits || isAtEdge) floats[BUSY] = timeMs;
    this.#learn(timeMs, value, moment);
  }

  /** Whether the next value has to say the same: where a counter began anew a part was counted, little or nothing, and what comes behind may be of more than one interval. */
  #waitsForNext({ isCounter }: ValueMoment): boolean {
    const before = this.#waits[WAITING_SIDE] as number;
    const side = isCounter && this.isAtRest && this.evidence >= 1 ? Math.sign(this.size) : 0;
    const waits = side !== 0 && side !== before && (side < 0 || before !== 0);
    this.#waits[WAITING_SIDE] = waits ? side : 0;
    return waits;
  }

  /** Between what the newest value would have been ordinary. */
  get bounds(): { readonly expected: number; readonly lower: number; readonly upper: number } {
    const { expected, sd } = this;
    return { expected, lower: expected - this.#barTo(-1) * sd, upper: expected + this.#barTo(1) * sd };
  }

  /** Probability of a value of this series that may page by chance. */
  get #pageProbability(): number {
    return pagesPerValue(this.#newest.intervalMs) * shareOfOne(this.#newest.streams);
  }

  /** Standard deviations from which on a value to a side departs. */
  #barTo(side: number): number {
    const { caution, streams } = this.#newest;
    return caution * Math.max(DEPARTURE_MIN, this.#tails.to(side).exceededWith(this.#pageProbability, streams));
  }

  /** Takes the level for usual, as after a deployment. */
  settle(level: number, hour: number): void {
    this.#levels.settle(level, hour, 0);
  }

  /** Takes the level for that of another series, as of an aggregate of other streams: what was on is over, and the season is another one. */
  moveTo(level: number, hour: number): void {
    this.settle(level, hour);
    this.#season.forget();
    this.#paired.forget();
    this.#floats[STATE] = AT_REST;
  }

  #weigh(value: number, moment: ValueMoment): void {
    const size = Math.abs(this.size);
    this.bar = DEPARTURE_MIN * moment.caution;
    const isFar = size >= DEPARTURE_MIN && this.isAtRest && !this.#deviation.isMissed && !this.#paired.speak && !Number.isNaN(moment.hour);
    this.#isEdge = isFar && isHourEdge(value, this.expected, moment.hours.sides(moment.localMs, moment.isHolidayAt));
    // A habit that goes up from nothing goes on being one: the way back from an edge would be a fall to nothing.
    if (this.#isEdge && isFallToNothing(this.expected, value) && this.#known.find(this.#departure(value, moment))?.reason === "recurring")
      this.#isEdge = false;
    if (this.#areFewByChance() || this.isSmallMove || this.#isEdge || (this.#floats[COUNT] as number) < DEPARTING_VALUES) this.evidence = 0;
    else {
      const { together } = this.#deviation;
      if (size >= this.bar) this.bar = together > 0 ? together * this.bar : this.#barTo(this.size);
      this.evidence = size / this.bar;
    }
    this.chance = this.evidence < 1 ? 1 : this.#tails.to(this.size).chanceOf(size);
  }

  /** Whether the newest value is of a few events where hardly any are usual, as many as come by chance. */
  #areFewByChance(): boolean {
    if (!this.#deviation.isOfNothing) return false;
    const seen = { counts: this.#newest.counts, values: this.#floats[COUNT] as number, squares: this.#floats[LONG_VARIANCE] as number };
    return areFewByChance(Math.round(Math.abs(this.size) * this.sd * this.#deviation.counts), seen, this.#pageProbability);
  }

  #begin(timeMs: number, value: number, moment: ValueMoment): void {
    const floats = this.#floats;
    const of = this.#departure(value, moment);
    const isLenient = timeMs < moment.lenientUntilMs && this.evidence < LENIENT_BAR;
    const lastsMs = this.isYoung(moment.intervalMs) ? DAY_MS : isLenient ? moment.lenientUntilMs - timeMs : 0;
    const known = this.#known.find(of) ?? (lastsMs > 0 ? { reason: "expected" as const, lastsMs } : null);
    this.known = known?.reason ?? null;
    floats[KNOWN_UNTIL] = of.timeMs + (known?.lastsMs ?? 0);
    this.opened = this.known === null;
    this.#set(of.timeMs, value, of, this.opened ? DEPARTED : KNOWN);
    if (this.known === "known_step" || this.known === "known_level") this.#end(value, true, moment);
  }

  /** Begins one with the newest value, which is none by itself: with those before it to that side, it is rarer than the one value that the bar is for. */
  beginLasting(timeMs: number, side: 1 | -1, value: number): void {
    if (this.#floats[STATE] !== AT_REST || Math.sign(this.size) !== side) return;
    const of = this.#departure(value, this.#newest);
    const known = this.#known.find(of);
    if (known !== null && known.lastsMs === 0) return;
    this.#floats[KNOWN_UNTIL] = of.timeMs + (known?.lastsMs ?? 0);
    this.#set(of.timeMs, value, of, known === null ? DEPARTED : KNOWN);
    this.known = known?.reason ?? null;
    this.opened = known === null;
    this.bar = Math.min(this.bar, Math.abs(this.size));
    this.#floats[BUSY] = timeMs;
  }

  /** Begins a departure of a young series: its levels and spreads are from here on those of the values before it, which single odd ones among few have not moved. */
  beginYoung({ startedMs, timeMs, side, observed, expected, sd, size, bar }: YoungDeparture): void {
    this.#deviation.set(expected, sd, side * size);
    this.bar = bar;
    this.evidence = size / bar;
    this.chance = YOUNG_CHANCE;
    this.known = null;
    this.opened = true;
    this.#levels.restart(expected, sd / SD_PER_MEAN_DEVIATION);
    this.#waits.fill(0);
    this.#floats[LONG_VARIANCE] = sd * sd;
    this.#floats[BUSY] = timeMs;
    this.#set(startedMs + this.#newest.localMs - timeMs, observed, { side, size, expected }, DEPARTED);
  }

  #set(startedMs: number, value: number, { side, size, expected }: Pick<Departure, "side" | "size" | "expected">, state: number): void {
    const floats = this.#floats;
    this.#tails.endRow();
    floats[STATE] = state;
    floats[NEAR] = 0;
    floats[VALUES] = 0;
    floats[STARTED] = startedMs;
    floats[PEAK] = size;
    floats[PEAK_VALUE] = Math.abs(value - expected);
    floats[FROM] = expected;
    floats[TO] = value;
    floats[SIDE] = side;
  }

  #departure(value: number, { localMs: timeMs, intervalMs }: Pick<ValueMoment, "intervalMs" | "localMs">): Departure {
    const { expected, sd, size } = this;
    const hasLevels = this.#steps.areLevels;
    const isYoung = (this.#floats[COUNT] as number) * intervalMs < DAY_MS;
    const { isMissed } = this.#deviation;
    const isOfSeason = this.#deviation.isOfSeason || isMissed;
    const side = Math.sign(size);
    return { timeMs, value, expected, sd, size: Math.abs(size), side, intervalMs, hasLevels, isOfSeason, isMissed, isYoung };
  }

  #goOn(value: number, moment: ValueMoment): void {
    const floats = this.#floats;
    const values = (floats[VALUES] as number) + 1;
    floats[VALUES] = values;
    floats[PEAK] = Math.max(floats[PEAK] as number, Math.abs(this.size));
    if (values < PEAK_VALUES) floats[PEAK_VALUE] = Math.max(floats[PEAK_VALUE] as number, Math.abs(value - this.expected));
    // What has begun below the bar of the series' tail is not over for lying below that.
    const isNear = this.evidence === 0 || Math.abs(this.size) < NEAR_SHARE * Math.min(this.bar, floats[PEAK] as number);
    const near = isNear ? (floats[NEAR] as number) + 1 : 0;
    floats[NEAR] = near;
    const startedMs = floats[STARTED] as number;
    const isAccepted = hasStayed({ values, startedMs, from: floats[FROM] as number }, moment) || (!isNear && isTaken(startedMs, moment));
    const isOver = moment.localMs > (floats[KNOWN_UNTIL] as number);
    // Of a habit that goes on as far out, to its side, as it went, its own tail, which it has made, does not speak.
    const isStillSo = this.size * (floats[SIDE] as number) >= Math.max(DEPARTURE_MIN * moment.caution, (floats[PEAK] as number) / 2);
    if (floats[STATE] === KNOWN && isOver && (this.evidence >= 1 || isStillSo)) {
      floats[STATE] = DEPARTED;
      this.opened = true;
    }
    if (near >= NEAR_VALUES || isAccepted) this.#end(value, isAccepted, moment);
  }

  #end(value: number, isAccepted: boolean, moment: ValueMoment): void {
    const [{ intervalMs, localMs, newest, hour }, floats] = [moment, this.#floats];
    const from = floats[FROM] as number;
    this.levelValues = Math.min(RECENT_VALUES, (floats[VALUES] as number) + 1);
    const mean = newest.mean(this.levelValues);
    const to = isAccepted && this.known === null ? mean : (floats[TO] as number); // the first value of a level is chance
    const endedMs = isAccepted ? localMs : localMs - (NEAR_VALUES - 1) * intervalMs;
    this.#known.add({
      startedMs: floats[STARTED] as number,
      endedMs,
      intervalMs,
      side: floats[SIDE] as number,
      from,
      to,
      peak: floats[PEAK] as number,
      peakValue: floats[PEAK_VALUE] as number,
      hasStayed: isAccepted || Math.abs(value - to) < Math.abs(value - from) / 2,
    });
    // A burst of a few values that was reported speaks for a tail that is heavy; of any other it was an incident.
    const tail = this.#tails.to(floats[SIDE] as number);
    const isBurst = isBurstLong(endedMs - (floats[STARTED] as number), intervalMs);
    if (floats[STATE] === DEPARTED && isBurst && tail.isHeavy) tail.add(floats[PEAK] as number);
    if (isAccepted) this.#paired.settle(newest, this.levelValues);
    if (isAccepted && (floats[STATE] === DEPARTED || isTaken(floats[STARTED] as number, moment))) this.accepted = { from, to };
    floats[STATE] = AT_REST;
    if (!isAccepted) return;
    // Of a step that the series has taken before the value itself is the level, whose noise is not known yet; another one brings its own.
    const isKnownStep = this.known !== null;
    const stepSpread = this.known === "known_step" ? STEP_SPREAD_SHARE * Math.abs(to - from) : 0;
    this.#levels.settle(isKnownStep ? value : mean, hour, isKnownStep ? stepSpread : newest.spread(this.levelValues));
  }

  #learn(timeMs: number, value: number, moment: ValueMoment): void {
    const [{ intervalMs, hour, newest }, floats] = [moment, this.#floats];
    const isIncident = !this.isAtRest || this.#waits[WAITING_SIDE] !== 0;
    const isStrange = isIncident && !(floats[STATE] === KNOWN && this.#season.hasEvents(intervalMs)); // what is known belongs to such a season
    const count = (floats[COUNT] as number) + 1;
    floats[COUNT] = count;
    if (isYoung(count - 1, intervalMs) && !isYoung(count, intervalMs) && !this.isOpen) this.#comeOfAge(count, moment);
    // What comes back by the clock, and what goes on, says nothing of the noise; that a short departure has come again does.
    if (this.known === "short_lived") this.#tails.add(this.size);
    else if (!isIncident && count > 1 && !this.isSmallMove) this.#tails.learn(this.size, DEPARTURE_MIN);
    const off = Math.min(Math.abs(value - this.expected), count <= 20 ? Number.POSITIVE_INFINITY : LONG_CLIP * this.sd);
    if (count > 1) floats[LONG_VARIANCE] = mix(floats[LONG_VARIANCE] as number, off * off, Math.max(LONG_WEIGHT, 1 / count));
    const errorMax = 4 * SD_PER_MEAN_DEVIATION * Math.max(this.#levels.spread, SD_RELATIVE_MIN * Math.abs(this.expected), SD_MIN);
    this.#onsets.learn(this.size, (this.#steps.previous - this.expected) / this.sd, DEPARTURE_MIN, count);
    // A small step of a series that hardly strays, as the turn of an hour, is its level at once: learned bit by bit, it would widen what it is taken to stray by.
    const isSmallStep = !isIncident && (this.#isEdge || (this.isSmallMove && Math.abs(this.size) >= DEPARTURE_MIN));
    if (isSmallStep) this.#levels.settle(value, hour, this.#isEdge ? this.countSd(value) / SD_PER_MEAN_DEVIATION : 0);
    this.#levels.learn(value, isIncident || isSmallStep, this.#steps.finest);
    this.#season.learn(timeMs, value, { count, intervalMs, isIncident: isStrange, errorMax });
    this.#paired.learn(count, isIncident && this.#paired.isFormed, errorMax, newest);
    if (this.#steps.learn(value, count, isIncident, this.#newest.counts)) this.#known.holdsLevel(value, timeMs);
  }

  /** A series without a level strays by what all of its values do. What has begun too late to be looked at while it was young is news with its next value. */
  #comeOfAge(count: number, { localMs }: ValueMoment): void {
    const [state, startedMs] = [this.#floats, this.#floats[STARTED] as number];
    const isNew = state[KNOWN_UNTIL] === startedMs + DAY_MS && !hasLasted(state[VALUES] as number, localMs - startedMs);
    if (isNew) state[KNOWN_UNTIL] = startedMs;
    if (hasShownLevel(count, this.#levels.learned, this.#onsets.times(count))) return;
    state[STATE] = AT_REST;
    this.#levels.restart(this.#season.mean, this.#season.sd / SD_PER_MEAN_DEVIATION);
  }
}
