// When a series reaches its limit. The long curve (12 h) is projected where it fits to its end; where the last 90 minutes went their own way,
// their line is, for six hours at most. A climb that was climbed before and came down again is no exhaustion: the level must be new.
import { above, atLeast, atMost, below, firstFailed, type GateResult } from "../detection/gates/gate-result.ts";
import { type FillCurve, fillAt, longCurve, shortLine, shortSpread } from "./fill-curve.ts";
import { slopeAt } from "./least-squares.ts";
import type { Points, SaturationHistory } from "./saturation-history.ts";
import { LEAVE_FACTOR, TIER_MINUTES } from "./saturation-tier.ts";
import { medianInPlace } from "./trend.ts";

const SHORT_MINUTES = 90;
const LONG_MINUTES = 720;
const SHORT_POINTS_MIN = 30;
const SHORT_SPAN_MINUTES_MIN = 30;
const LONG_POINTS_MIN = 36;
const LONG_SPAN_MINUTES_MIN = 240;
/** The newest value may be so old. */
export const SILENCE_MINUTES_MAX = 15;
const TREND_P_MAX = 0.01;
/** Deviations of the long curve by which thirds of the last 90 minutes may miss it; where it has none, this share of the way that is left. */
const AGREEMENT_DEVIATIONS = 2;
const AGREEMENT_SHARE = 0.03;
/** The short slope against the long one, where the long one rises. */
const SHORT_OF_LONG_MIN = 0.5;
/** Territory is new against what was seen before so many minutes, or before half of what is known. */
const TERRITORY_MINUTES = 360;
/** Part of the way from the old peak to the limit that must be gone again: a peak that returns goes a little beyond itself by noise. */
const TERRITORY_MARGIN = 0.08;
/** The same for a climb that only the last 90 minutes show: slow noise makes such climbs too, but seldom so high. */
const TERRITORY_MARGIN_SHORT = 0.25;
/** The slow end of the slope's interval against the slope. */
const SLOPE_LOWER_SHARE_MIN = 0.4;
/** The level that must be new is the median of so many minutes. */
const RECENT_MINUTES = 15;
/** A screen passes what could reach the limit in three times the longest projection. */
const SCREEN_MINUTES_MAX = 3 * TIER_MINUTES.low;

/** Time in minutes from now; rates in the series' unit per hour, towards exhaustion positive. */
export interface Projection {
  readonly minutes: number;
  readonly minutesEarliest: number;
  /** Infinity where the slowest slope of the interval does not get there. */
  readonly minutesLatest: number;
  readonly perHour: number;
  readonly perHourLower: number;
  readonly perHourUpper: number;
  readonly basis: "long" | "short";
  readonly shape: "line" | "parabola";
  /** 0..1: strength and significance of the trend, length of what was seen, width of the range. */
  readonly confidence: number;
}

export interface ProjectionResult {
  readonly projection: Projection | null;
  /** In the order asked; where the long curve was given up for the short line, the short line's. */
  readonly gates: readonly GateResult[];
}

/** Projects a history whose values rise towards `limit`. `held` if one is reported already: it may then be a
 * quarter farther off. Cheap gates come first: few series get as far as the slopes of all pairs. */
export function project(history: SaturationHistory, nowMs: number, limit: number, isReported: boolean): ProjectionResult {
  const stretch = isReported ? LEAVE_FACTOR : 1;
  const short = history.minutePoints(nowMs, SHORT_MINUTES);
  const known = enough(short);
  if (firstFailed(known) !== undefined) return { projection: null, gates: known };
  const long = history.slotPoints(nowMs, LONG_MINUTES);
  const spanMinutes = Math.max(spanOf(long), spanOf(short));
  const peak = history.peakBefore(nowMs, Math.min(TERRITORY_MINUTES, spanMinutes / 2));
  const territory = newTerritory(history, nowMs, limit, peak);
  const cheap = [...known, screen(short, long, limit), territory];
  if (firstFailed(cheap) !== undefined) return { projection: null, gates: cheap };
  const hasLong = long.t.length >= LONG_POINTS_MIN && spanOf(long) >= LONG_SPAN_MINUTES_MIN;
  const longFill = hasLong ? longCurve(long) : null;
  if (longFill !== null) {
    const agrees = agreement(longFill, short, limit);
    const gates = [...cheap, ...longGates(longFill, beyond(peak, limit, TERRITORY_MARGIN)), agrees];
    if (firstFailed(gates) === undefined) return landing(longFill, "long", limit, TIER_MINUTES.low * stretch, gates);
    if (agrees.passed) return { projection: null, gates };
  }
  const line = shortLine(short, longFill?.cycle ?? null);
  const gates = [...cheap, ...shortGates(line, longFill, beyond(peak, limit, TERRITORY_MARGIN_SHORT))];
  if (firstFailed(gates) !== undefined) return { projection: null, gates };
  return landing(line, "short", limit, TIER_MINUTES.medium * stretch, gates);
}

function enough(short: Points): GateResult[] {
  const newest = short.t.length === 0 ? Number.POSITIVE_INFINITY : -(short.t[short.t.length - 1] as number);
  return [
    atLeast("minimum_points", short.t.length, SHORT_POINTS_MIN),
    atLeast("minimum_span_minutes", spanOf(short), SHORT_SPAN_MINUTES_MIN),
    atMost("silence_minutes", newest, SILENCE_MINUTES_MAX),
  ];
}

/** A cheap look that keeps most series from the slopes of all pairs: medians of the outer thirds. */
function screen(short: Points, long: Points, limit: number): GateResult {
  const minutes = Math.min(
    thirdsLanding(short, limit),
    long.t.length >= LONG_POINTS_MIN ? thirdsLanding(long, limit) : Number.POSITIVE_INFINITY,
  );
  return atMost("rising", minutes, SCREEN_MINUTES_MAX);
}

function thirdsLanding({ t, y }: Points, limit: number): number {
  const third = Math.floor(t.length / 3);
  const older = medianInPlace(y.slice(0, third), third);
  const newer = medianInPlace(y.slice(t.length - third), third);
  const rate = (newer - older) / ((t[t.length - 1] as number) - (t[third - 1] as number) || 1);
  return rate <= 0 ? Number.POSITIVE_INFINITY : Math.max(0, limit - newer) / rate;
}

function longGates(fill: FillCurve, frontier: number): GateResult[] {
  return [...trendGates(fill, frontier), above("slope_now", slopeAt(fill.curve, 0), 0)];
}

function shortGates(line: FillCurve, long: FillCurve | null, frontier: number): GateResult[] {
  const gates = trendGates(line, frontier);
  if (long === null) return gates;
  return [...gates, atLeast("short_against_long_slope", line.sen.slope, SHORT_OF_LONG_MIN * Math.max(0, long.sen.slope))];
}

/** A rise that is there, whose slope is known well enough to project it, that is no single step, and that ends in new territory itself. */
function trendGates(fill: FillCurve, frontier: number): GateResult[] {
  const { test, sen, error, stepError } = fill;
  return [
    atMost("trend_p", test.p, TREND_P_MAX),
    above("slope", sen.slope, 0),
    atLeast("slope_lower", sen.lower, SLOPE_LOWER_SHARE_MIN * sen.slope),
    below("line_against_step", error, stepError),
    above("curve_in_new_territory", levelNow(fill), frontier),
  ];
}

/** Whether the last 90 minutes, by thirds, lie on the long curve. */
function agreement(fill: FillCurve, short: Points, limit: number): GateResult {
  const { t, y } = short;
  const sd = Math.min(fill.sd, shortSpread(short, fill.cycle));
  const tolerance = Math.max(AGREEMENT_DEVIATIONS * sd, AGREEMENT_SHARE * Math.max(0, limit - levelNow(fill)));
  let worst = 0;
  for (let part = 0; part < 3; part++) {
    const from = Math.floor((part * t.length) / 3);
    const to = Math.floor(((part + 1) * t.length) / 3);
    const missed = Float64Array.from({ length: to - from }, (_, i) => (y[from + i] as number) - fillAt(fill, t[from + i] as number));
    worst = Math.max(worst, Math.abs(medianInPlace(missed, missed.length)));
  }
  return atMost("recent_on_long_curve", worst, tolerance);
}

function newTerritory(history: SaturationHistory, nowMs: number, limit: number, peak: number): GateResult {
  const { y } = history.minutePoints(nowMs, RECENT_MINUTES);
  return above("new_territory", medianInPlace(y, y.length), beyond(peak, limit, TERRITORY_MARGIN));
}

function beyond(peak: number, limit: number, margin: number): number {
  return peak + margin * Math.max(0, limit - peak);
}

function landing(
  fill: FillCurve,
  basis: Projection["basis"],
  limit: number,
  minutesMax: number,
  asked: readonly GateResult[],
): ProjectionResult {
  const minutes = crossing(fill, limit);
  const gates = [...asked, atMost("time_to_exhaustion_minutes", minutes, minutesMax)];
  if (minutes > minutesMax) return { projection: null, gates };
  const { slope, lower, upper } = fill.sen;
  const now = slopeAt(fill.curve, 0);
  const minutesEarliest = (minutes * slope) / upper;
  const minutesLatest = lower > 0 ? (minutes * slope) / lower : Number.POSITIVE_INFINITY;
  const width = minutes === 0 ? 0 : Math.min(1, (minutesLatest - minutesEarliest) / (2 * minutes));
  const confidence = Math.max(0, fill.test.tau) * (1 - fill.test.p) * Math.min(1, fill.spanMinutes / SHORT_MINUTES) * (1 - width);
  const perHour = 60 * now;
  const rates = { perHour, perHourLower: (perHour * lower) / slope, perHourUpper: (perHour * upper) / slope };
  return { projection: { minutes, minutesEarliest, minutesLatest, ...rates, basis, shape: fill.shape, confidence }, gates };
}

/** First minute at which the curve with its cycle reaches the limit; Infinity beyond the longest projection with its hysteresis. */
function crossing(fill: FillCurve, limit: number): number {
  const horizon = 2 * TIER_MINUTES.low;
  let before = fillAt(fill, 0);
  if (before >= limit) return 0;
  for (let minute = 1; minute <= horizon; minute++) {
    const value = fillAt(fill, minute);
    if (value >= limit) return minute - 1 + (limit - before) / (value - before);
    before = value;
  }
  return Number.POSITIVE_INFINITY;
}

function levelNow(fill: FillCurve): number {
  return fillAt(fill, 0);
}

function spanOf({ t }: Points): number {
  return t.length === 0 ? 0 : (t[t.length - 1] as number) - (t[0] as number);
}
