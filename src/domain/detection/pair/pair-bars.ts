// How far out levels and spikes of a pair have to lie, by how often it is looked at, and how many values its short mean is of.

import { BoundedMap } from "../../../core/collections/bounded-map.ts";
import { getOrMake } from "../../../core/collections/get-or-make.ts";
import { DAY_MS, HOUR_MS } from "../../../core/time/durations.ts";
import { RECENT_VALUES } from "../rolling/recent-values.ts";
import { normalQuantile, studentQuantile } from "../tail-probability.ts";
import { SPIKE_FREEDOM } from "./pair-finding.ts";

/**
 * Levels that a pair of ordinary noise passes so many times a day, were its means and values normal and Student: the more often a pair is looked at,
 * the further out they lie. At five minutes and slower a level of 3.5 standard deviations opens alone, one of 2.5 with a spike.
 */
const LEVELS_A_DAY = 0.01117;
const SPIKES_A_DAY = 0.0508;
/**
 * How many stretches a day have a level that may be reported, as its height alone goes: where a stretch is an hour, so high a level is what an alert of levels
 * stands for; shorter ones are less; one of one or two values is these values, which departures judge.
 */
const HIGH_LEVELS_A_DAY = 1.5;
const HIGH_LEVELS_EXPONENT = 1.6;
const SINGLE_LEVELS_A_DAY = 0.1;
/** Width of a short mean from which on its values share a level. */
export const SHARED_VALUES = 3;

interface Bars {
  readonly level: number;
  readonly spike: number;
}

/** Bars by interval: many pairs have the same few. */
const BARS_CACHED_MAX = 4_096;
const bars = new BoundedMap<number, Bars>(BARS_CACHED_MAX);

/** Bars of a pair with this interval. */
export function barsOf(intervalMs: number): Bars {
  return getOrMake(bars, intervalMs, () => ({
    level: normalQuantile(Math.log(LEVELS_A_DAY * Math.min(1, (intervalMs * widthOf(intervalMs)) / DAY_MS))),
    spike: studentQuantile(Math.log(SPIKES_A_DAY * Math.min(1, intervalMs / DAY_MS)), SPIKE_FREEDOM),
  }));
}

/** Values of the short mean: an hour of them, at most RECENT_VALUES. */
export function widthOf(intervalMs: number): number {
  return Math.max(1, Math.min(RECENT_VALUES, Math.round(HOUR_MS / intervalMs)));
}

/** Share of stretches of this length whose level may be reported. */
export function highLevels(stretchMs: number, width: number): number {
  const perDay =
    width < SHARED_VALUES ? SINGLE_LEVELS_A_DAY : HIGH_LEVELS_A_DAY * Math.min(1, (stretchMs / HOUR_MS) ** HIGH_LEVELS_EXPONENT);
  return (perDay * stretchMs) / DAY_MS;
}
