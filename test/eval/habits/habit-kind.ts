// What a kind of series with a habit is to the report: a series with nothing wrong, and the same one with each of its faults.
import { generator } from "../../support/generator.ts";

export const HABIT_START_MS = Date.UTC(2026, 0, 5);
export const MINUTE_MS = 60_000;
export const DAY_MINUTES = 24 * 60;
/** Standard deviations of noise, as shares of what the kind says. */
export const NOISES = [0, 0.05, 0.2] as const;

/** A series by the minute of its samples. */
export interface Sampled {
  readonly minutes: readonly number[];
  readonly values: readonly number[];
}

/** One with nothing wrong, whose pages count from a minute on. */
export interface QuietSeries extends Sampled {
  readonly fromMinute: number;
}

/** One with a fault from a minute on, which is found within so many minutes, those included. */
export interface FaultySeries extends Sampled {
  readonly faultMinute: number;
  readonly withinMinutes: number;
}

export interface HabitFault {
  readonly name: string;
  /** Four times the usual, or more. */
  readonly isFourfold?: true;
  series(seed: number): FaultySeries;
}

/** A cell of the table. */
export interface HabitKind {
  /** Row of the table; kinds of one row differ by their noise. */
  readonly row: string;
  readonly noise: number;
  quiet(seed: number): QuietSeries;
  readonly faults: readonly HabitFault[];
}

/** Kinds with common bars: pages a series-day, of the worst row too, and the share of faults found. */
export interface HabitGroup {
  readonly title: string;
  readonly quietBar: number;
  readonly worstBar: number;
  readonly foundBar: number;
  readonly kinds: readonly HabitKind[];
}

/** The values of so many minutes in a row. */
export function sampled(length: number, valueAt: (minute: number) => number): Sampled {
  const minutes = Array.from({ length }, (_, minute) => minute);
  return { minutes, values: minutes.map(valueAt) };
}

/** Random numbers of a cell, which no other cell draws. */
export function generatorOf(seed: number, row: string, noise: number) {
  let hash = 2_166_136_261;
  for (const char of `${row} ${noise}`) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619);
  return generator((hash + seed * 1_000_003) >>> 0);
}
