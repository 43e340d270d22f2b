// The slow twin of one direction of the shard kernel's episodes: a part of stream-oracle.ts.
import {
  EVENT_CLOSE,
  EVENT_EXCURSION,
  EVENT_FLAG_AFTER_GAP,
  EVENT_FLAG_HIGH,
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
}

type Emit = (kind: number, start: number, peak: number) => void;

/** Episodes of one direction: 1 = high, -1 = low. */
export class EpisodeOracle {
  readonly #sign: 1 | -1;
  readonly #level: (level: number, column: number) => number;
  #open = false;
  #below = 0;
  /** Whether each of the last three samples was over, newest first. */
  #out: readonly boolean[] = [false, false, false];
  #severe = false;
  #reported = 0;
  #peak = 0;
  #start = 0;

  constructor(sign: 1 | -1, level: (level: number, column: number) => number) {
    this.#sign = sign;
    this.#level = level;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** Moves the episode by one sample; whether it opened. */
  evaluate(sample: OracleSample, events: OracleEvent[]): boolean {
    const { time, value, score, flags } = sample;
    const column = score.constant ? TABLE_COLUMN_Z : score.count;
    const ratio = this.#sign * score.ratio;
    const over = ratio > this.#level(TABLE_LEVEL_OPEN, column);
    const strong = ratio > this.#level(TABLE_LEVEL_STRONG, column);
    const severe = ratio > this.#level(TABLE_LEVEL_SEVERE, column);
    const all = flags | (this.#sign > 0 ? EVENT_FLAG_HIGH : 0) | (strong ? EVENT_FLAG_STRONG : 0);
    const { mean, sd, count } = score;
    const emit: Emit = (kind, start, peak) => {
      events.push({ kind, time, value, mean, sd, ratio: score.ratio, count, flags: all, start, peak });
    };
    this.#out = [over, ...this.#out.slice(0, 2)];
    if (this.#open) this.#advance(ratio, severe, ratio < this.#level(TABLE_LEVEL_CLEAR, column), emit);
    else if (over && this.#isDeclared(sample, strong)) {
      this.#begin(sample, ratio, severe, emit);
      return true;
    } else if (over) emit(EVENT_EXCURSION, time, 0);
    return false;
  }

  #isDeclared({ score, suspect, flags }: OracleSample, strong: boolean): boolean {
    if ((flags & EVENT_FLAG_RESET) !== 0) return false;
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
    emit(EVENT_OPEN, this.#start, ratio);
  }

  #advance(ratio: number, severe: boolean, below: boolean, emit: Emit): void {
    this.#peak = Math.max(this.#peak, ratio);
    this.#below = below ? this.#below + 1 : 0;
    if (this.#below === 5) {
      emit(EVENT_CLOSE, this.#start, this.#peak);
      this.#open = false;
      return;
    }
    if ((ratio > 1.5 * this.#reported && coarse(ratio) > this.#reported) || (severe && !this.#severe)) {
      emit(EVENT_UPDATE, this.#start, this.#peak);
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
