// What lasts: values in a row that say together what none of them does, held against what such evidence comes to by itself on this series.
import { DAY_MS } from "../../../core/time/durations.ts";
import { OWN_TAIL_LENGTH } from "../departure/own-tail.ts";
import { PAGES_A_DAY } from "../departure/page-budget.ts";
import type { RecentValues } from "../rolling/recent-values.ts";
import { CONFIRMATION_LENGTH, PairConfirmation } from "./pair-confirmation.ts";
import { StretchTail } from "./stretch-tail.ts";

/** Numbers of state: when it rose, when it was there last, and whether people were told. */
export const RISE_LENGTH = 3;
const ROSE = 0;
const LAST = 1;
const REPORTED = 2;

/** Intervals from its rise in which evidence is news; without it for as long, the next is. */
const NOVELTY_INTERVALS = 12;
/** Intervals after a rise that was told, before which the next is none. */
const REST_INTERVALS = 60;

/** Numbers of state: the evidence, the tail of that, the highest of the stretch at hand, and when it rose. */
export const LASTING_LENGTH = CONFIRMATION_LENGTH + OWN_TAIL_LENGTH + 1 + 2 * RISE_LENGTH;
/** Evidence of values that overlap is one: the highest of so many in a row is what counts for the tail, and the stretch at hand does not speak against itself. */
const LASTING_STRETCH = 12;
/** Stretches before which their tail says nothing. */
const LASTING_STRETCHES_MIN = 24;
/** Streams of a service whose evidence is taken as it is; with more of them the bars are higher by as many times. */
const LASTING_STREAMS = 4;

/** Context of the newest value. */
export interface LastingMoment {
  readonly timeMs: number;
  readonly intervalMs: number;
  /** Values of the series so far, this one included. */
  readonly count: number;
  readonly streams: number;
  /** Factors of the bars: while something settles, and by the threshold that is set. */
  readonly caution: number;
  readonly strictness: number;
  /** People are informed of the value by other evidence, or what it shows belongs to that. */
  readonly isReported: boolean;
  /** A departure is open, of which the evidence says nothing about the series' ordinary. */
  readonly isIncident: boolean;
  /** Whether what departs to a side, 0 for a scatter, is nothing special for the series. */
  readonly isOrdinary: (side: -1 | 0 | 1) => boolean;
  /** Whether a departure with the newest value would be no news. */
  readonly isKnown: () => boolean;
}

/** Evidence of one pair over caller-owned state of LASTING_LENGTH numbers, all 0 at the start. The fields report the newest value. */
export class LastingEvidence {
  readonly #confirmation: PairConfirmation;
  readonly #tail: StretchTail;
  readonly #aloneRise: EvidenceRise;
  readonly #sharedRise: EvidenceRise;
  /** People are to be told, now, or now if another metric of the service lasts too. */
  reports = false;
  shares = false;
  /** They would be told, were it not known of the series. */
  comesAgain = false;

  constructor(floats: Float64Array, values: RecentValues) {
    let used = 0;
    const take = (count: number): Float64Array => {
      used += count;
      return floats.subarray(used - count, used);
    };
    this.#confirmation = new PairConfirmation(take(CONFIRMATION_LENGTH), values);
    const tail = take(OWN_TAIL_LENGTH);
    this.#aloneRise = new EvidenceRise(take(RISE_LENGTH));
    this.#sharedRise = new EvidenceRise(take(RISE_LENGTH));
    this.#tail = new StretchTail(tail, take(1));
  }

  /** Side of the level that the values lie on; 0 where they scatter. */
  get side(): -1 | 0 | 1 {
    return this.#confirmation.side;
  }

  /** Takes the newest value; `historySd` is that of the whole history, `sdMin` the least that one may be. */
  observe(historySd: number, sdMin: number): void {
    this.#confirmation.observe(historySd, sdMin);
  }

  /** Another level is the series' own from now on. */
  moveTo(level: number): void {
    this.#confirmation.moveTo(level);
  }

  /** Judges it, with what else is known of it by then. */
  judge({ timeMs, intervalMs, count, streams, caution, strictness, isReported, isIncident, isOrdinary, isKnown }: LastingMoment): void {
    const factor = Math.max(1, streams / LASTING_STREAMS) * caution * strictness;
    const alone = Math.max(this.#confirmation.alone / factor, this.#confirmation.nothing / caution);
    const shared = this.#confirmation.shared / factor;
    const isAloneNovel = alone >= 1 && this.#aloneRise.isNovel(timeMs, intervalMs);
    const isSharedNovel = shared >= 1 && this.#sharedRise.isNovel(timeMs, intervalMs);
    this.reports = false;
    this.shares = false;
    this.comesAgain = false;
    if ((isAloneNovel || isSharedNovel) && !isReported && !isOrdinary(this.side)) {
      const hasTail = count >= LASTING_STRETCHES_MIN * LASTING_STRETCH;
      const tail = hasTail ? this.#tail.exceededWith((PAGES_A_DAY * LASTING_STRETCH * intervalMs) / DAY_MS) : 0;
      const isRare = isAloneNovel && alone >= tail;
      const isHabit = isKnown();
      this.reports = isRare && !isHabit;
      this.comesAgain = isRare && isHabit;
      this.shares = isSharedNovel && !isHabit;
      if (this.reports) this.#aloneRise.report();
    }
    this.#tail.learn(isIncident ? 0 : alone, count % LASTING_STRETCH === 0);
  }
}

/**
 * Whether evidence that goes on is still news: for a while after it has risen, and again once it was gone for as long, or long after people were informed of it.
 * Over caller-owned state of RISE_LENGTH numbers, all 0 at the start.
 */
export class EvidenceRise {
  readonly #floats: Float64Array;

  constructor(floats: Float64Array) {
    this.#floats = floats;
  }

  /** Takes that the evidence is there at this time; whether it is news. */
  isNovel(timeMs: number, intervalMs: number): boolean {
    const floats = this.#floats;
    const isNew = timeMs - (floats[LAST] as number) > NOVELTY_INTERVALS * intervalMs && floats[REPORTED] !== 1;
    if (isNew || timeMs - (floats[ROSE] as number) > REST_INTERVALS * intervalMs) {
      floats[ROSE] = timeMs;
      floats[REPORTED] = 0;
    }
    floats[LAST] = timeMs;
    return timeMs - (floats[ROSE] as number) <= NOVELTY_INTERVALS * intervalMs;
  }

  /** People were told. */
  report(): void {
    this.#floats[REPORTED] = 1;
  }
}
