// What departs of a series that is too young for a tail of its own: values in a row that stay beyond one bar on one side. The bar is Student's, in standard deviations,
// continuous in the number of values; these are drawn from the values' own robust spread and from what a series may stray by of which nothing is known yet. One value,
// however far, says nothing of such a series, and neither does what goes on as it has begun: levels climb and settle while caches fill.
import { BoundedMap } from "../../../core/collections/bounded-map.ts";
import { LASTING_BASELINE_VALUES, LASTING_MS, LASTING_VALUES } from "../../../core/layout/episode-ends.ts";
import { SD_MIN, SD_RELATIVE_MIN } from "../../../core/layout/sd-floors.ts";
import { DAY_MS, MINUTE_MS } from "../../../core/time/durations.ts";
import { median, robustStatistics } from "../robust.ts";
import { studentQuantile } from "../tail-probability.ts";
import { shareOfOne } from "./page-budget.ts";
import { isFallToNothing } from "./recurrence.ts";

/** A series is young until its long baseline has so many values, or so long. */
export const YOUNG_VALUES = 360;
const YOUNG_MS = DAY_MS;
/** One of so many of them may be nearer. */
const NEARER_ONE_IN = 5;
const NEARER_SHARE = 0.7;
/** Probability that a series alone has such values by chance: that of its spread being so much underestimated. */
export const YOUNG_CHANCE = 6e-5;
/** What a series of which nothing is known strays by, relative to its level, and how many values that is worth. */
const PRIOR_VARIATION = 0.2;
const PRIOR_VALUES = 15;
/** Median step of independent values of a normal, in standard deviations, and the share of it from which on values scatter. */
const MEDIAN_STEP = 0.954;
const SCATTER_SHARE = 0.6;
const SD_PER_MAD = 1.4826022185056018;
/** Share of the values before that may have been there; and counts below which nothing is one of them. */
const BEFORE_SHARE_MAX = 0.15;
const FEW = 4;
/** Share of the bar that nothing has to be away from what was. */
const NOTHING_SHARE = 0.6;
/** Of a wide series, to which nothing is near, that has to be as rare twice over, and to last for so long and for so many times as long as it ever did. */
const WIDE_NOTHING_MS = 5 * MINUTE_MS;
const WIDE_NOTHING_CHANCES = 2;
const WIDE_NOTHING_RUNS = 3;
/** Standard deviations, relative to the level, up to which a series that does not scatter hardly moves, and from which on any is wide: both are known only after so long. */
const STILL_VARIATION = 0.03;
const WIDE_VARIATION = 0.5;
/** Streams of a service of which one or the other changes by what the service does by itself while it begins: until each of them has been known for so long. */
export const MANY_STREAMS = 50;
const KNOWN_MS = 30 * MINUTE_MS;
/** Share of its level by which any has to move, and the multiple of its level by which a series that hardly moves has to rise: caches and pools double. */
const MOVE_MIN = 0.05;
const STILL_MOVE = 2;
/** Bars that what departs is beyond at least, where it is as rare without being so many standard deviations away. */
const RARE_BARS = 1.2;
/** The first of those that depart, which have to leave the way that the series was on. */
const FIRST_VALUES = 8;

/** Values of a young series that depart together. */
export interface YoungDeparture {
  readonly timeMs: number;
  readonly startedMs: number;
  readonly side: 1 | -1;
  /** Their median, and that of the values before them. */
  readonly observed: number;
  readonly expected: number;
  /** Standard deviation that values were expected to have, and in these the deviation, unsigned, and its bar. */
  readonly sd: number;
  readonly size: number;
  readonly bar: number;
}

/** Circumstances of the series. */
export interface YoungSurroundings {
  /** Streams of its service, of which any may depart by chance. */
  readonly streams: number;
  /** Factor of the bar, by the threshold that is set. */
  readonly strictness: number;
  /** For how long it has been known, the newest value included: the values that are looked at may be of a part of that. */
  readonly ageMs?: number;
  /** Of what remains of a resource, by its name. */
  readonly isRemaining?: boolean;
}

/** Whether a long baseline of so many values at an interval is too young for a tail of its own. */
export function isYoung(values: number, intervalMs: number): boolean {
  return values < YOUNG_VALUES && values * intervalMs < YOUNG_MS;
}

/** The newest values of a young series as a departure; undefined where they are none. Times ascend; of both arrays the first `count`, all unless given. */
export function youngDeparture(
  times: Float64Array,
  values: Float64Array,
  around: YoungSurroundings,
  count = times.length,
): YoungDeparture | undefined {
  const least = usedUpFrom(values, count, around) ?? lastingFrom(times, count);
  if (least < LASTING_BASELINE_VALUES) return undefined;
  const observed = median(values, least, count);
  const usual = median(values, 0, least);
  const isFall = isFallToNothing(observed, usual);
  const from = isFall ? beginOfNothing(values, count, usual) : beginOf(values, least, count, (observed + usual) / 2, observed > usual);
  if (from < LASTING_BASELINE_VALUES || from > least) return undefined;
  const { median: expected, mad } = robustStatistics(values, 0, from);
  const side = observed < expected ? -1 : 1;
  const moved = Math.abs(observed - expected);
  if (moved < MOVE_MIN * Math.abs(expected)) return undefined;
  const [before, departing] = [values.subarray(0, from), values.subarray(from, count)];
  const own = SD_PER_MAD * mad;
  const isScatter = scatters(before, own);
  const sd = sdOf(before, expected, own, isScatter);
  const size = moved / sd;
  const bar = around.strictness * barOf(before.length, around.streams);
  const of = { expected, sd, side, bar } as const;
  const newestMs = times[count - 1] as number;
  const knownMs = Math.max(newestMs - (times[0] as number), around.ageMs ?? 0) - (newestMs - (times[from] as number));
  const isKnown = knownMs >= KNOWN_MS;
  const isStill = !isScatter && own <= STILL_VARIATION * Math.abs(expected);
  if (isOfBeginning(around.streams, knownMs) || (!isKnown && isStill)) return undefined;
  if (isStill && side * expected > 0 && moved < STILL_MOVE * Math.abs(expected)) return undefined;
  const isWideYet = !isKnown && own > WIDE_VARIATION * Math.abs(expected);
  const isBeyond = !isWideYet && size >= bar && areBeyond(departing, of) && isSeldom(before, of) && leavesItsWay(before, departing, of);
  const isClear = !isWideYet && (isStill || size >= NOTHING_SHARE * bar);
  const nothing = { values: departing.length, lastedMs: newestMs - (times[from] as number), usual, isStill, isClear };
  if (!isBeyond && !(isFall && isNothingRare(nothing, before, around))) return undefined;
  return {
    timeMs: newestMs,
    startedMs: times[from] as number,
    side,
    observed,
    expected,
    sd,
    size: Math.max(size, RARE_BARS * bar),
    bar,
  };
}

/** Whether a change may be what a service of so many streams does by itself while it begins, of a stream that was known for so long before it. */
export function isOfBeginning(streams: number, knownMs: number): boolean {
  return streams > MANY_STREAMS && knownMs < KNOWN_MS;
}

/** Place of the first of the fewest newest values that have lasted; -1 where there are too few. */
function lastingFrom(times: Float64Array, count: number): number {
  const newest = count - 1;
  let from = count - LASTING_VALUES;
  while (from >= 0 && (times[newest] as number) - (times[from] as number) < LASTING_MS) from--;
  return from;
}

/** Place of the first of the fewest values that say that a resource is used up: nothing is left of what hardly moved before. It does not come back by itself. */
function usedUpFrom(values: Float64Array, count: number, { isRemaining }: YoungSurroundings): number | undefined {
  const from = count - LASTING_VALUES;
  if (isRemaining !== true || from < LASTING_BASELINE_VALUES) return undefined;
  if (!isFallToNothing(values[count - 1] as number, values[from - 1] as number)) return undefined;
  const { median: usual, mad } = robustStatistics(values, 0, from);
  if (SD_PER_MAD * mad > STILL_VARIATION * Math.abs(usual)) return undefined;
  return values.subarray(from, count).every((value) => isFallToNothing(value, usual)) ? from : undefined;
}

/** Where the values begin that lie beyond the middle between what was and what is; one alone that does not is passed over. */
function beginOf(values: Float64Array, least: number, count: number, middle: number, isAbove: boolean): number {
  let from = least;
  while (from > 0 && isBegun(values, from - 1, middle, isAbove)) from--;
  while (from < count && !isOver(values, from, middle, isAbove)) from++;
  return from;
}

function isBegun(values: Float64Array, at: number, middle: number, isAbove: boolean): boolean {
  return isOver(values, at, middle, isAbove) || (isOver(values, at - 1, middle, isAbove) && isOver(values, at - 2, middle, isAbove));
}

function isOver(values: Float64Array, at: number, middle: number, isAbove: boolean): boolean {
  return at >= 0 && (values[at] as number) > middle === isAbove;
}

/** Where the values begin of which nothing is left. */
function beginOfNothing(values: Float64Array, count: number, usual: number): number {
  let from = count;
  while (from > 0 && isFallToNothing(values[from - 1] as number, usual)) from--;
  return from;
}

/** Whether values scatter about their level as noise does, from one to the next: then their spread says what they do. A series of levels, or one that wanders, moves less. */
function scatters(before: Float64Array, own: number): boolean {
  const steps = before.slice(1).map((value, i) => Math.abs(value - (before[i] as number)));
  return own > 0 && median(steps) >= SCATTER_SHARE * MEDIAN_STEP * own;
}

/** Standard deviation to be expected: of the values' own, and of what is not known where they do not scatter. Whole numbers stray as counts do. */
function sdOf(before: Float64Array, expected: number, own: number, isScatter: boolean): number {
  const prior = isScatter ? own : PRIOR_VARIATION * expected;
  const count = before.length;
  const pooled = Math.sqrt((PRIOR_VALUES * prior * prior + count * own * own) / (PRIOR_VALUES + count));
  const ofCounts = before.every(Number.isInteger) ? Math.sqrt(Math.abs(expected)) : 0;
  return Math.max(pooled, SD_RELATIVE_MIN * Math.abs(expected), ofCounts, SD_MIN);
}

const BARS_MAX = 4_096;
const bars = new BoundedMap<string, number>(BARS_MAX);

/** Standard deviations from which on the values depart of which so many came before. */
function barOf(count: number, streams: number): number {
  return bars.obtain(
    `${count} ${streams}`,
    () => studentQuantile(Math.log(YOUNG_CHANCE * shareOfOne(streams)), PRIOR_VALUES + count - 1) * Math.sqrt(1 + 1 / count),
  );
}

interface Side {
  readonly expected: number;
  readonly sd: number;
  readonly side: 1 | -1;
  readonly bar: number;
}

/** Whether nearly all of them are beyond the bar, the newest too. */
function areBeyond(departing: Float64Array, of: Side): boolean {
  return (
    isBeyond(departing[departing.length - 1] as number, of) &&
    NEARER_ONE_IN * (departing.length - beyond(departing, of)) <= departing.length
  );
}

/** Whether the series has hardly been there before. */
function isSeldom(before: Float64Array, of: Side): boolean {
  return beyond(before, of) + 1 <= BEFORE_SHARE_MAX * (before.length + 2);
}

function beyond(values: Float64Array, of: Side): number {
  return values.reduce((sum, value) => sum + (isBeyond(value, of) ? 1 : 0), 0);
}

function isBeyond(value: number, { expected, sd, side, bar }: Side): boolean {
  return side * (value - expected) >= NEARER_SHARE * bar * sd;
}

/** Whether the first of them are beyond the bar from where the series was going, too. */
function leavesItsWay(before: Float64Array, departing: Float64Array, of: Side): boolean {
  const { side } = of;
  const half = before.length >> 1;
  const newer = median(before.subarray(half));
  const drift = (newer - median(before.subarray(0, half))) / (before.length / 2);
  if (drift * side <= 0) return true;
  const first = departing.subarray(0, FIRST_VALUES);
  return isBeyond(median(first), { ...of, expected: newer + drift * (before.length / 4 + first.length / 2) });
}

/** Values in a row of which nothing is left, and whether that is as far from what was as noise does not go. */
interface NothingLeft {
  readonly values: number;
  readonly lastedMs: number;
  readonly usual: number;
  readonly isStill: boolean;
  readonly isClear: boolean;
}

/** Whether nothing was left so seldom before that as many in a row as these are rare. Of counts of a few it is not, but of one level, as of a target that is up. */
function isNothingRare(
  { values, lastedMs, usual, isStill, isClear }: NothingLeft,
  before: Float64Array,
  { streams }: YoungSurroundings,
): boolean {
  if (!isStill && Math.abs(usual) < FEW && before.every(Number.isInteger)) return false;
  let [nothing, run, longest] = [0, 0, 0];
  for (const value of before) {
    run = isFallToNothing(value, usual) ? run + 1 : 0;
    nothing += Math.min(1, run);
    longest = Math.max(longest, run);
  }
  const share = (nothing + 1) / (before.length + 2);
  const chances = (values * Math.log(share)) / Math.log(YOUNG_CHANCE * shareOfOne(streams));
  if (share > BEFORE_SHARE_MAX || chances < 1) return false;
  if (isClear || lastedMs < WIDE_NOTHING_MS || values < WIDE_NOTHING_RUNS * (longest + 1)) return isClear;
  const correlation = correlationOf(before);
  return (chances * (1 - correlation)) / (1 + correlation) >= WIDE_NOTHING_CHANCES;
}

/** How much of what a value is off its mean by the next one is off by too: so much less do values in a row say; 0 to 1. */
function correlationOf(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  let [together, own] = [0, 0];
  for (const [i, value] of values.entries()) {
    own += (value - mean) ** 2;
    together += i === 0 ? 0 : (value - mean) * ((values[i - 1] as number) - mean);
  }
  return own > 0 ? Math.max(0, together / own) : 0;
}
