// The slow twin of one direction of the shard kernel's episodes: a part of stream-oracle.ts.
import {
  ACCEPTED_MS,
  EXTREME_MOVE,
  EXTREME_SD,
  EXTREME_VALUES,
  LASTING_BASELINE_VALUES,
  LASTING_MS,
  LASTING_VALUES,
  NOTHING_ACCEPTED_MS,
} from "../../core/layout/episode-ends.ts";
import {
  EVENT_CLOSE,
  EVENT_EXCURSION,
  EVENT_FLAG_AFTER_GAP,
  EVENT_FLAG_HIGH,
  EVENT_FLAG_LASTING,
  EVENT_FLAG_RESET,
  EVENT_FLAG_STRONG,
  EVENT_OPEN,
  EVENT_UPDATE,
  TABLE_COLUMN_Z,
  TABLE_LEVEL_CLEAR,
  TABLE_LEVEL_OPEN,
  TABLE_LEVEL_SEVERE,
  TABLE_LEVEL_STRONG,
} from "../../core/layout/kernel-event.ts";
import { BEYOND_REPORTED } from "../../core/layout/stream-record.ts";

/** Contents of the kernel's event of the same kind. */
export interface OracleEvent {
  readonly kind: number;
  readonly time: number;
  readonly value: number;
  readonly mean: number;
  readonly sd: number;
  readonly ratio: number;
  readonly count: number;
  readonly flags: number;
  readonly start: number;
  readonly peak: number;
}

/** A value against the window before it; `ratio` is signed, `departs` says that it left a constant window. */
export interface OracleScore {
  readonly mean: number;
  readonly sd: number;
  readonly ratio: number;
  readonly count: number;
  readonly constant: boolean;
  readonly departs: boolean;
}

/** Input of an evaluation. */
export interface OracleSample {
  readonly time: number;
  readonly value: number;
  readonly score: OracleScore;
  /** EVENT_FLAG_* that both directions share. */
  readonly flags: number;
  /** Direction in which the sample before left a constant window; 0 for none. */
  readonly suspect: 1 | -1 | 0;
  /** Times of the newest value in the ring and of the one before it. */
  readonly before: readonly number[];
  /** It is what was usual before a level that was accepted: not far out. */
  readonly isUsualBefore: boolean;
}

/** An end by all values since: `to` is the value, or the mean of the level that is accepted. */
export interface OracleEnd extends Pick<OracleSample, "time" | "score" | "flags"> {
  readonly to: number;
}

/** Values in a row beyond the bar on one side, which both directions count, BEYOND_REPORTED once that was reported, and the time of the first. */
export interface OracleBeyond {
  count: number;
  since: number;
}

type Emit = (kind: number, start: number, peak: number, flags?: number) => void;

/** Episodes of one direction: 1 = high, -1 = low. */
export class EpisodeOracle {
  readonly #sign: 1 | -1;
  readonly #level: (level: number, column: number) => number;
  readonly #beyond: OracleBeyond;
  #open = false;
  #below = 0;
  /** Whether each of the last three samples was over, newest first. */
  #out: readonly boolean[] = [false, false, false];
  #severe = false;
  #reported = 0;
  #peak = 0;
  #start = 0;

  constructor(sign: 1 | -1, level: (level: number, column: number) => number, beyond: OracleBeyond) {
    this.#sign = sign;
    this.#level = level;
    this.#beyond = beyond;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Whether it is open, and began by then. */
  isOpenSince(atMs: number): boolean {
    return this.#open && this.#start <= atMs;
  }

  /** Whether one of the last three samples was over. */
  get hasBeenOut(): boolean {
    return this.#out.includes(true);
  }

  /** Whether it is open, and has been for as long as a new level takes; of nothing, where there was something, that takes longer. */
  hasLasted(time: number, isNothing: boolean): boolean {
    return this.#open && time - this.#start >= (isNothing ? NOTHING_ACCEPTED_MS : ACCEPTED_MS);
  }

  /** Ends it, if it is open, at a value or with the mean of the new level. */
  end({ time, to, score, flags }: OracleEnd, events: OracleEvent[]): void {
    if (!this.#open) return;
    const { mean, sd, ratio, count } = score;
    const all = flags | (this.#sign > 0 ? EVENT_FLAG_HIGH : 0);
    events.push({ kind: EVENT_CLOSE, time, value: to, mean, sd, ratio, count, flags: all, start: this.#start, peak: this.#peak });
    this.#open = false;
    this.#out = [false, false, false];
    this.#beyond.count = 0;
  }

  /** Moves the episode by one sample. */
  evaluate(sample: OracleSample, events: OracleEvent[]): void {
    const { time, value, score, flags } = sample;
    const column = score.constant ? TABLE_COLUMN_Z : score.count;
    const ratio = this.#sign * score.ratio;
    const over = !sample.isUsualBefore && ratio > this.#level(TABLE_LEVEL_OPEN, column);
    const strong = ratio > this.#level(TABLE_LEVEL_STRONG, column);
    const severe = ratio > this.#level(TABLE_LEVEL_SEVERE, column);
    const all = flags | (this.#sign > 0 ? EVENT_FLAG_HIGH : 0) | (strong ? EVENT_FLAG_STRONG : 0);
    const { mean, sd, count } = score;
    const emit: Emit = (kind, start, peak, more = 0) => {
      events.push({ kind, time, value, mean, sd, ratio: score.ratio, count, flags: all | more, start, peak });
    };
    if (over) this.#countBeyond(time);
    this.#out = [over, ...this.#out.slice(0, 2)];
    if (this.#open) this.#advance(sample, severe, ratio < this.#level(TABLE_LEVEL_CLEAR, column), emit);
    else if (over && this.#isDeclared(sample, strong, column)) this.#begin(sample, ratio, severe, emit);
    else if (over) emit(EVENT_EXCURSION, time, 0);
  }

  #countBeyond(time: number): void {
    const beyond = this.#beyond;
    if (beyond.count === BEYOND_REPORTED) return;
    if (this.#out[0] === true) beyond.count = Math.min(beyond.count + 1, BEYOND_REPORTED - 1);
    else Object.assign(beyond, { count: 1, since: time });
  }

  #isLasting(sample: OracleSample, ratio: number): boolean {
    const { count, mean, sd } = sample.score;
    if (count < LASTING_BASELINE_VALUES) return this.#isExtreme(sample, ratio) && (this.#stays(sample.time) || 2 * Math.abs(mean) > sd);
    return this.#stays(sample.time) || this.#isExtreme(sample, ratio);
  }

  /** Whether the values have stayed over for as long as a hold may last, and nobody was told so. */
  #stays(time: number): boolean {
    const beyond = this.#beyond;
    if (beyond.count < LASTING_VALUES || beyond.count === BEYOND_REPORTED) return false;
    return time - beyond.since >= LASTING_MS;
  }

  #isExtreme({ value, score, flags }: OracleSample, ratio: number): boolean {
    const { count } = this.#beyond;
    if (count < EXTREME_VALUES || count === BEYOND_REPORTED || (flags & EVENT_FLAG_RESET) !== 0) return false;
    return ratio >= EXTREME_SD && Math.abs(value - score.mean) >= EXTREME_MOVE * Math.abs(score.mean);
  }

  #isDeclared({ score, suspect, flags }: OracleSample, strong: boolean, column: number): boolean {
    if ((flags & EVENT_FLAG_RESET) !== 0) return false;
    if (this.#level(TABLE_LEVEL_STRONG, column) === this.#level(TABLE_LEVEL_OPEN, column)) return true;
    if (score.constant) return suspect === this.#sign;
    if (this.#out.filter(Boolean).length >= 2) return true;
    return strong && (flags & EVENT_FLAG_AFTER_GAP) === 0;
  }

  #begin(sample: OracleSample, ratio: number, severe: boolean, emit: Emit): void {
    this.#open = true;
    this.#below = 0;
    this.#severe = severe;
    this.#reported = coarse(ratio);
    this.#peak = ratio;
    this.#start = [sample.time, ...sample.before][this.#out.lastIndexOf(true)] as number;
    if (this.#beyond.count === BEYOND_REPORTED) Object.assign(this.#beyond, { count: 1, since: sample.time });
    emit(EVENT_OPEN, this.#start, ratio);
  }

  #advance(sample: OracleSample, severe: boolean, below: boolean, emit: Emit): void {
    const { score } = sample;
    const ratio = this.#sign * score.ratio;
    this.#peak = Math.max(this.#peak, ratio);
    this.#below = below ? this.#below + 1 : 0;
    if (this.#below === 5) {
      this.#beyond.count = 0;
      emit(EVENT_CLOSE, this.#start, this.#peak);
      this.#open = false;
      return;
    }
    const isLasting = ratio > 0 && this.#isLasting(sample, ratio);
    if (isLasting) this.#beyond.count = BEYOND_REPORTED;
    if ((ratio > 1.5 * this.#reported && coarse(ratio) > this.#reported) || (severe && !this.#severe) || isLasting) {
      emit(EVENT_UPDATE, this.#start, this.#peak, isLasting ? EVENT_FLAG_LASTING : 0);
      this.#reported = Math.max(this.#reported, coarse(ratio));
    }
    this.#severe ||= severe;
  }
}

/** The kernel keeps the last reported peak with three bits of mantissa, rounded down, from 1 on. */
function coarse(ratio: number): number {
  const exponent = Math.floor(Math.log2(Math.max(1, Math.fround(ratio))));
  return (Math.floor((Math.max(1, Math.fround(ratio)) / 2 ** exponent) * 8) / 8) * 2 ** exponent;
}
