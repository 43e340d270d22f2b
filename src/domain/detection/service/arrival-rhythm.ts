// How often a service usually sends, over all its series, and from when on its silence is news (decisions, section 2): no sample for max(5 x the usual interval,
// 3 minutes), for longer than its gaps are once in a month by their own distribution, and for longer than it is usually silent at that hour (silence-habits.ts). 50 gaps
// of 4 bytes; what comes within a second of what came before is one arrival.
import { DAY_MS } from "../../../core/time/durations.ts";
import type { ByteReader } from "../../codec/byte-reader.ts";
import type { ByteWriter } from "../../codec/byte-writer.ts";
import { above, atLeast, type GateResult } from "../gates/gate-result.ts";
import { median } from "../robust.ts";
import { type OffsetMs, UTC_OFFSET } from "../seasonal/time-zone-hours.ts";
import { SilenceHabits } from "./silence-habits.ts";

const GAPS_RETAINED = 50;
const ARRIVAL_MS_MIN = 1000;
const SILENCE_INTERVALS = 5;
/** No service is stale before. */
export const SILENCE_MS_MIN = 180_000;
/** A service that has missed samples for so many intervals is overdue; no service is before it has been silent for OVERDUE_MS_MIN. */
const OVERDUE_INTERVALS = 2;
export const OVERDUE_MS_MIN = 120_000;
/** How far gaps at random reach is read from what they are longer than the usual one, on average half of their mean where they are exponential; an outage counts as a few of them. */
const EXCESS_PER_MEAN = 0.5;
const EXCESS_WEIGHT = 1 / 300;
const EXCESS_CLIP = 6;
const EXCESS_UNCLIPPED = 10;
/** One in a month is longer than the limit. */
const CHANCE_MS = 30 * DAY_MS;

/** When a service that was last heard at `sinceMs` is overdue. */
export function overdueFromMs(sinceMs: number, usualIntervalMs: number): number {
  return sinceMs + Math.max(OVERDUE_INTERVALS * usualIntervalMs, OVERDUE_MS_MIN);
}

/** A silence that goes on. */
export interface JudgedSilence {
  /** All pass where the service is stale. */
  readonly gates: readonly GateResult[];
  /** Its rhythm is known. */
  readonly isKnown: boolean;
  readonly isStale: boolean;
  /** Silence that is none of its ordinary gaps, and up to which one that began then is usual; 0 where it is not. */
  readonly limitMs: number;
  readonly usualSilenceMs: number;
  readonly isUsual: boolean;
}

export class ArrivalRhythm {
  readonly #gaps = new Float32Array(GAPS_RETAINED);
  readonly #habits: SilenceHabits;
  #count = 0;
  /** The usual gap in ms, until there is another one. */
  #usualMs: number | undefined;
  /** What gaps are longer than the usual one, on average, ms. */
  #excessMs = 0;
  #newestMs = Number.NaN;
  #firstMs = Number.NaN;
  /** Of the silence since the newest arrival: it is asked for in each cycle while it goes on. */
  #silence: Pick<JudgedSilence, "limitMs" | "usualSilenceMs"> | undefined;

  /** `offsetMs` is that of the clock on the wall, by which habits go. */
  constructor(offsetMs: OffsetMs = UTC_OFFSET) {
    this.#habits = new SilenceHabits(offsetMs);
  }

  /** Newest arrival; NaN before the first. */
  get lastSeenMs(): number {
    return this.#newestMs;
  }

  /** Takes the arrival of any sample of the service; older ones than the newest change nothing. */
  observe(timeMs: number): void {
    const gap = timeMs - this.#newestMs;
    if (gap < ARRIVAL_MS_MIN) return;
    if (Number.isNaN(gap)) this.#firstMs = timeMs;
    else {
      if (gap > SILENCE_MS_MIN && gap > this.silenceLimitMs()) this.#habits.add(this.#newestMs, timeMs);
      this.#gaps[this.#count % GAPS_RETAINED] = gap;
      this.#count++;
      this.#usualMs = undefined;
      this.#learnExcess(gap);
    }
    this.#newestMs = timeMs;
    this.#silence = undefined;
  }

  /** Goes on from an arrival before which some may be missing: it makes no gap. */
  resume(timeMs: number): void {
    if (Number.isNaN(this.#newestMs)) this.observe(timeMs);
    else this.#newestMs = Math.max(this.#newestMs, timeMs);
    this.#silence = undefined;
  }

  /** Median gap in milliseconds; 0 before the first gap. */
  usualIntervalMs(): number {
    this.#usualMs ??= median(this.#known());
    return this.#usualMs;
  }

  /** Silence in milliseconds that is none of its ordinary gaps. */
  silenceLimitMs(): number {
    const usual = this.usualIntervalMs();
    if (usual === 0) return SILENCE_MS_MIN;
    const tailMs = (this.#excessMs / EXCESS_PER_MEAN) * Math.log(CHANCE_MS / 2 / usual);
    return Math.max(SILENCE_INTERVALS * usual, SILENCE_MS_MIN, usual + tailMs);
  }

  /** Judges the silence since the newest arrival. `bootedAtMs` is the start of this process: what nobody could receive is no silence. */
  judge(nowMs: number, bootedAtMs: number): JudgedSilence {
    const silentMs = nowMs - this.#newestMs;
    if (silentMs > OVERDUE_MS_MIN) this.#silence ??= this.#judgeSilence();
    const { limitMs, usualSilenceMs } = this.#silence ?? { limitMs: this.silenceLimitMs(), usualSilenceMs: 0 };
    const arrivals = atLeast("arrivals", Math.min(this.#count, GAPS_RETAINED), GAPS_RETAINED);
    const gates = [
      arrivals,
      above("silence_ms", nowMs - Math.max(this.#newestMs, bootedAtMs), limitMs),
      above("usual_silence_ms", silentMs, usualSilenceMs),
    ];
    const isStale = gates.every(({ passed }) => passed);
    const isUsual = usualSilenceMs > 0 && silentMs <= usualSilenceMs;
    return { gates, isKnown: arrivals.passed, isStale, limitMs, usualSilenceMs, isUsual };
  }

  /** Appends the state. */
  write(writer: ByteWriter): void {
    for (const value of [this.#newestMs, this.#firstMs, this.#count, this.#excessMs]) writer.double(value);
    const gaps = this.#known();
    writer.varint(gaps.length);
    for (const gap of gaps) writer.double(gap);
    const { times } = this.#habits;
    writer.varint(times.length);
    for (const time of times) writer.double(time);
  }

  /** Reads what `write` has appended. */
  static read(reader: ByteReader, offsetMs: OffsetMs = UTC_OFFSET): ArrivalRhythm {
    const rhythm = new ArrivalRhythm(offsetMs);
    [rhythm.#newestMs, rhythm.#firstMs] = [reader.double(), reader.double()];
    [rhythm.#count, rhythm.#excessMs] = [reader.double(), reader.double()];
    const gaps = reader.varint();
    for (let at = 0; at < gaps; at++) rhythm.#gaps[at % GAPS_RETAINED] = reader.double();
    const silences = reader.varint() / 2;
    for (let i = 0; i < silences; i++) rhythm.#habits.add(reader.double(), reader.double());
    return rhythm;
  }

  #learnExcess(gap: number): void {
    const excess = Math.max(0, gap - this.usualIntervalMs());
    const most = this.#count <= EXCESS_UNCLIPPED ? excess : EXCESS_CLIP * Math.max(this.#excessMs, EXCESS_PER_MEAN * ARRIVAL_MS_MIN);
    this.#excessMs += Math.max(EXCESS_WEIGHT, 1 / this.#count) * (Math.min(excess, most) - this.#excessMs);
  }

  #known(): Float32Array {
    return this.#gaps.subarray(0, Math.min(this.#count, GAPS_RETAINED));
  }

  #judgeSilence(): Pick<JudgedSilence, "limitMs" | "usualSilenceMs"> {
    const limitMs = this.silenceLimitMs();
    const recent = this.#known().reduce((count, gap) => count + (gap > limitMs ? 1 : 0), 0);
    const [sinceMs, knownSinceMs] = [this.#newestMs, this.#firstMs];
    const usualIntervalMs = this.usualIntervalMs();
    return { limitMs, usualSilenceMs: this.#habits.usualMs({ sinceMs, knownSinceMs, usualIntervalMs, limitMs, recent }) };
  }
}
