// How far a series strays by itself, to one side: the largest of its departures so far, and from these what it passes once in so many values. A tail of a
// power (Weissman 1978) whose exponent is Hill's (1975): what is heavy is taken for heavy, and a series that is not costs hardly anything.

/** So far out that the series passes it by chance as seldom as people may be told for nothing. */
export const OWN_TAIL_GATE = "own_tail";

/** A series of fewer values has no tail of its own to ask. */
export const KNOWN_TAIL_VALUES = 120;
/** Passes where layer 1 knows fewer values than that of a stream, and its long baseline, which it has inherited, as many: its own tail is asked then. */
export const LONG_BASELINE_GATE = "long_baseline";

/** Passes where values of a series for whose long baseline there is no room have stayed far beyond the bar, on one side, for as long as a hold may last. */
export const LASTING_GATE = "lasting";
/** Passes where values of such a series in a row are many standard deviations out, and many times the usual: single odd values stand alone. */
export const EXTREME_GATE = "extreme";
/** Gates of which one that passes ends the hold for confirmation. */
export const HOLD_ENDS: ReadonlySet<string> = new Set([LASTING_GATE, EXTREME_GATE]);

/** Passes where a value of a young series, of a service of not many, is so far out that others of the service as far out, which go on as it does, confirm it. */
export const FAR_OUT = "far_out";

/** Reports how far the value is from what the long baseline expects, and as its limit how far the series goes to that side by chance: what is within is no more than it does by itself. */
export const OWN_REACH = "own_reach";

/**
 * Knowledge of a stream's long baseline about a value that layer 1 has declared: how many values it knows, how many streams its service has, what is to be reported at once, and of what is not how far it
 * is out and how far the series goes by chance, in its unit; undefined where no tail is known.
 */
export interface LongBaselineSays {
  readonly values: number;
  readonly streams: number;
  readonly evidence: TailEvidence | undefined;
  readonly reach?: TailEvidence | undefined;
}

/** What is said of a stream that others are judged for: of a histogram's bucket. */
export const JUDGED_BY_OTHERS: LongBaselineSays = { values: 0, streams: Number.POSITIVE_INFINITY, evidence: undefined };

/** Deviation of a series, and the bar that its own tail sets, both in one unit: standard deviations, units of the bar, or that of the series. */
export interface TailEvidence {
  readonly size: number;
  readonly bar: number;
}

/** Departures kept. */
const LARGEST = 12;
/** Numbers of state, as single precision: departures, how many of them there are, and how many values there were. */
export const OWN_TAIL_LENGTH = LARGEST / 2 + 1;
/** Share of few values that reports a tail: the largest twentieth, three at least. */
const TAIL_SHARE = 0.05;
const TAIL_MIN = 3;
/** Hill's exponent of a few values says little: noise that looks bounded is not taken for bounded, nor one outlier for a tail without end. */
const EXPONENT_MIN = 0.2;
const EXPONENT_MAX = 1;
/** From here on a tail counts as heavy: of moments higher than the third there are none. */
const HEAVY_EXPONENT = 1 / 3;
/** Number of values after which all before fade, and the share that is left of them: half in a month of minutes. */
const FADED_VALUES = 1_024;
const FADED_SHARE = 0.985;
const COUNT_MAX = 32_768;
/** Single precision counts no further than 2^24. */
const COUNT_EXACT_MAX = 8_192 * FADED_VALUES;
const LENGTH = LARGEST;
const COUNT = LARGEST + 1;
/** Multiple of anything that the series has done from which on a value is news to it, however heavy the tail seems: values of one event bend the exponent together. */
const LARGEST_TIMES_MAX = 3;
/** The same of one of several series, which is asked for what it passes more seldom: noise of Student's tails passes three times its largest of a day half as often again. */
const LARGEST_TIMES_MAX_ALIKE = 4;
/** Values of each of the series alike that one must have had before its own largest speaks for all of them. */
const ALIKE_VALUES = 10;

/** Over caller-owned state of OWN_TAIL_LENGTH numbers, all 0 at the start. */
export class OwnTail {
  readonly #floats: Float32Array;
  /** Descending. */
  readonly #largest: Float32Array;

  constructor(floats: Float64Array) {
    this.#floats = new Float32Array(floats.buffer, floats.byteOffset, 2 * OWN_TAIL_LENGTH);
    this.#largest = this.#floats.subarray(0, LARGEST);
  }

  /** Takes a departure; 0 where the value strayed to the other side. */
  add(size: number): void {
    const floats = this.#floats;
    const largest = this.#largest;
    const count = (floats[COUNT] as number) + 1;
    floats[COUNT] = count < COUNT_EXACT_MAX ? count : COUNT_EXACT_MAX / 2;
    if (count % FADED_VALUES === 0) this.#fade();
    const length = floats[LENGTH] as number;
    if (length === LARGEST && size <= (largest[LARGEST - 1] as number)) return;
    let at = length < LARGEST ? length : LARGEST - 1;
    floats[LENGTH] = Math.max(length, at + 1);
    for (; at > 0 && (largest[at - 1] as number) < size; at--) largest[at] = largest[at - 1] as number;
    largest[at] = size;
  }

  restart(): void {
    this.#floats.fill(0);
  }

  #fade(): void {
    for (let i = 0; i < LARGEST; i++) this.#largest[i] = FADED_SHARE * (this.#largest[i] as number);
  }

  /** Whether the series strays so far by itself: all the departures that are kept have. */
  reaches(size: number): boolean {
    return this.#floats[LENGTH] === LARGEST && (this.#largest[LARGEST - 1] as number) >= size;
  }

  /** Whether the tail is that of a power, not of noise; false where too few are known. */
  get isHeavy(): boolean {
    const last = this.#largest[LARGEST - 1] as number;
    return this.#floats[LENGTH] === LARGEST && last > 0 && this.#exponent(LARGEST, last) >= HEAVY_EXPONENT;
  }

  /** Hill's, of the largest so many, down to `last`. */
  #exponent(used: number, last: number): number {
    let sum = 0;
    for (let i = 0; i < used - 1; i++) sum += Math.log((this.#largest[i] as number) / last);
    return sum / (used - 1);
  }

  /** Probability per value of a departure as large, by the same tail: the inverse of `exceededWith`, but never less than its values can show, 1 / (n + 1). */
  chanceOf(size: number): number {
    const count = Math.min(COUNT_MAX, this.#floats[COUNT] as number);
    const shown = 1 / (count + 1);
    const used = this.#used(count);
    const last = this.#largest[used - 1] ?? 0;
    if (used < TAIL_MIN || last <= 0) return shown;
    return Math.max(shown, (used / count) * Math.min(1, (last / size) ** (1 / this.#exponentOf(used, last))));
  }

  /** Departures that speak for the tail of so many values. */
  #used(count: number): number {
    return Math.min(this.#floats[LENGTH] as number, Math.max(TAIL_MIN, Math.floor(count * TAIL_SHARE)));
  }

  #exponentOf(used: number, last: number): number {
    return Math.min(EXPONENT_MAX, Math.max(EXPONENT_MIN, this.#exponent(used, last)));
  }

  /** Departure that the series passes with this probability per value; 0 where too few are known. A series of few values, one of `alike`, has done only a part of what all do. */
  exceededWith(probability: number, alike = 1): number {
    const count = Math.min(COUNT_MAX, this.#floats[COUNT] as number);
    const used = this.#used(count);
    const last = this.#largest[used - 1] ?? 0;
    if (used < TAIL_MIN || last <= 0) return 0;
    const exceeded = last * Math.max(1, used / (count * probability)) ** this.#exponentOf(used, last);
    const unseen = Math.max(1, (ALIKE_VALUES * (alike - 1)) / count) ** EXPONENT_MIN;
    const times = alike > 1 ? LARGEST_TIMES_MAX_ALIKE : LARGEST_TIMES_MAX;
    return Math.min(times * unseen * (this.#largest[0] as number), exceeded);
  }
}
