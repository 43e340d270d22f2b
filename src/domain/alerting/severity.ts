/**
 * How bad a finding is: low, medium or high. The score says how improbable it is, and rules alert, analysis and runbooks (anomaly-score.ts); severity sorts what people
 * are told by what it does to a service. Rules (saturation by its time left, burning budgets, silence, cascades), people and other systems say it themselves, by their z.
 * A statistic says it in doublings: how often its value is twice the usual, and what adds to that.
 *
 *   effect    doublings
 *   ------    ---------
 *   a rise    log2 of times the usual. The usual is at least three standard deviations of the baseline, which ordinary values reach, or as much of what the series goes by
 *             chance as its own tail has it, where the value is within that; of whole numbers about nothing at least 2: one of them is not many times none
 *   a fall    the same of how many times less it is; to nothing (a tenth), where it does not go there by itself, at least 2
 *   a share   of what has an end (cpu_percent, pool_used_ratio) four times the share of the way to it; within a twentieth of its end at least 2
 *   success   what is left of it: the times of what fails
 *   together  of a service's metrics: log2 of the evidence in its bars
 *
 *   with it               more doublings
 *   -------               --------------
 *   errors                0.5
 *   the better way        -1: faster, fewer errors, less used
 *   several instances     a quarter of each doubling of them, up to 0.75
 *   it lasts              0.5 from 30 minutes, 1 from two hours, besides the values that its end waits for; what then rises is an update of its alert
 *
 *   high     from 1.8 doublings (three and a half times) with all of it, of an effect of 0.58 (half as much again) by itself, and |z| 3 (rule 1.1.7)
 *   medium   from 1 (twice), of an effect of 0.07 (a twentieth)
 *   low      below, and what is mild by its score (rule 1.1.6)
 *
 * Two independent detectors raise it by one (ensemble.ts), and so does one jump over several services. An alert has the highest of what is in it, and never falls.
 */

import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { type Tier, tierOfZ, tierRank } from "../detection/anomaly-score.ts";
import { DEPARTURE_MIN } from "../detection/departure/deviation.ts";
import { directionOfName } from "../detection/gates/direction.ts";
import { kindOfName } from "../saturation/bounded-name.ts";
import { familyOfMetric, nameTerms } from "../series/metric-family.ts";

const HIGH_DOUBLINGS = 1.8;
const MEDIUM_DOUBLINGS = 1;
/** Effects below which nothing else makes a finding medium, or high. */
const MEDIUM_EFFECT = Math.log2(1.05);
const HIGH_EFFECT = Math.log2(1.5);
/** Standard deviations that the usual is at least: as far as ordinary values reach. */
const USUAL_SD = 3;
/** Share of how far a series goes by chance that ordinary values reach: these deviations, of those from which on single values depart. */
const USUAL_REACH = USUAL_SD / DEPARTURE_MIN;
/** Whole numbers where fewer than one is to be expected are counts, of which so many are usual. */
const COUNTED = 1;
const USUAL_COUNT = 2;
/** Share of the usual below which a value has fallen to nothing, and of the whole way from which on it is at its end. */
const NOTHING_SHARE = 0.1;
const END_SHARE = 0.95;
/** Doublings of what is at its end, or at nothing. */
const AT_END = 2;
/** Doublings of what has no usual at all: a series that was still at 0 and has fractions. */
const FROM_NOTHING = 1;
const DOUBLINGS_MAX = 12;
const WAY_DOUBLINGS = 4;
const OF_ERRORS = 0.5;
const OF_BETTER = -1;
const OF_INSTANCES = 0.25;
const OF_INSTANCES_MAX = 0.75;
/** Doublings by how long it has lasted, the longest first. */
const OF_DURATION: ReadonlyArray<readonly [fromMs: number, doublings: number]> = [
  [120 * MINUTE_MS, 1],
  [30 * MINUTE_MS, 0.5],
];
/** Values that an end waits for: what was over with its second value is open for so many more. */
const END_VALUES = 5;
const PERCENT = 100;

/** Words of shares that have an end: of a hundred, of one or a hundred, and of those in which more is better. */
const PERCENT_TERMS = termSet("percent pct percentage");
const SHARE_TERMS = termSet(
  "percent pct percentage ratio fraction util utilization utilisation usage used saturation success availability apdex",
);
const SUCCESS_TERMS = termSet("success availability apdex");

/** What a statistic has found, as far as its severity goes. */
export interface Effect {
  /** The value, what was expected in its place, and the standard deviation of such values; of a service's metrics together evidence, 0, and its bar. */
  readonly observed: number;
  readonly expected: number;
  readonly sd: number;
  /** Metrics together, by the evidence. */
  readonly isJoint: boolean;
  /** How many times as far the series goes by chance, as its own tail has it; 0 where that is not known. */
  readonly reaches: number;
  /** Streams of the pair that take part. */
  readonly streams: number;
  /** When it began. */
  readonly startedAtMs: number;
  /** Usual time between values of its baseline; 0 where that is not known. */
  readonly intervalMs: number;
}

/** Finding as its severity is asked for; `effect` is absent where a rule, a person or another system says it. */
export interface Weighed {
  readonly metricName: string;
  readonly z: number;
  readonly effect?: Effect | undefined;
}

/** Severity of a finding at this time. */
export function severityOf({ metricName, z, effect }: Weighed, atMs: number): Tier {
  const band = tierOfZ(z);
  if (effect === undefined || band === "low") return band;
  const own = effectOf(metricName, effect);
  const doublings = own + circumstances(metricName, effect) + ofDuration(atMs - lastsFromMs(effect));
  if (doublings >= HIGH_DOUBLINGS && own >= HIGH_EFFECT && band === "high") return "high";
  return doublings >= MEDIUM_DOUBLINGS && own >= MEDIUM_EFFECT ? "medium" : "low";
}

/** Doublings of a metric's effect by itself; undefined where no statistic of one metric has found it: evidence together grows while it lasts. */
export function doublingsOf({ metricName, effect }: Pick<Weighed, "metricName" | "effect">): number | undefined {
  return effect === undefined || effect.isJoint ? undefined : effectOf(metricName, effect);
}

/** Whether of what remains of a resource less than a tenth of the usual is left. */
export function isUsedUp({ metricName, effect }: Pick<Weighed, "metricName" | "effect">): boolean {
  if (effect === undefined || effect.isJoint || kindOfName(metricName) !== "remaining") return false;
  return effect.observed < NOTHING_SHARE * effect.expected;
}

/** Severity of what happens on several services at once, of which this is the highest by itself: one more. */
export function severityOfServices(highest: Tier): Tier {
  return highest === "low" ? "medium" : "high";
}

/** When a finding that goes on as it is becomes more severe than `tier`; null where it does not. */
export function risesAtMs(weighed: Weighed, tier: Tier): number | null {
  const { effect } = weighed;
  if (effect === undefined || tier === "high") return null;
  for (const [fromMs] of [...OF_DURATION].reverse()) {
    const atMs = lastsFromMs(effect) + fromMs;
    if (tierRank(severityOf(weighed, atMs)) > tierRank(tier)) return atMs;
  }
  return null;
}

/** Doublings of the effect by itself. */
function effectOf(metricName: string, { observed, expected, sd, isJoint, reaches }: Effect): number {
  if (isJoint) return Math.log2(Math.max(1, observed / sd));
  const end = endOf(metricName, expected);
  const { isSuccess, isErrors } = factsOf(metricName);
  const reach = reaches * Math.abs(observed - expected);
  if (end !== undefined && isSuccess) return timesDoublings(end - observed, end - expected, sd, reach);
  if (end !== undefined && observed > expected && !isErrors) return wayDoublings(Math.min(1, observed / end), expected / end);
  return timesDoublings(observed, expected, sd, reach);
}

/** The end that a share has by its name and by what is usual for it; undefined where it has none. */
function endOf(metricName: string, expected: number): number | undefined {
  const { isPercent, isShare } = factsOf(metricName);
  if (!isShare || expected < 0 || expected > PERCENT) return undefined;
  return isPercent || expected > 1 ? PERCENT : 1;
}

function wayDoublings(observed: number, expected: number): number {
  const doublings = expected < 1 ? WAY_DOUBLINGS * ((observed - expected) / (1 - expected)) : 0;
  return observed >= END_SHARE && expected < END_SHARE ? Math.max(AT_END, doublings) : doublings;
}

function timesDoublings(observed: number, expected: number, sd: number, reach: number): number {
  const ordinary = Math.max(USUAL_SD * sd, USUAL_REACH * reach);
  const isCount = Number.isInteger(observed) && Math.abs(expected) < COUNTED;
  const usual = Math.max(Math.abs(expected), ordinary, isCount ? USUAL_COUNT : 0);
  if (usual === 0) return observed === 0 ? 0 : FROM_NOTHING;
  const isFall = observed * expected >= 0 && Math.abs(observed) < Math.abs(expected);
  if (!isFall) return Math.min(DOUBLINGS_MAX, Math.log2(1 + Math.abs(observed - expected) / usual));
  const left = Math.max(Math.abs(observed), ordinary);
  const doublings = Math.log2(Math.max(1, usual / left));
  const isNothing = Math.abs(observed) <= NOTHING_SHARE * Math.abs(expected) && Math.abs(observed - expected) >= reach;
  return Math.min(DOUBLINGS_MAX, isNothing ? Math.max(AT_END, doublings) : doublings);
}

/** Doublings by kind, direction and instances. */
function circumstances(metricName: string, { observed, expected, streams }: Effect): number {
  const better = directionOfName(metricName);
  const isBetter =
    better === "high" ? observed < expected : better === "low" ? observed > expected : isLessUsed(metricName, observed, expected);
  const ofInstances = Math.min(OF_INSTANCES_MAX, OF_INSTANCES * Math.log2(Math.max(1, streams)));
  return ofInstances + (isBetter ? OF_BETTER : factsOf(metricName).isErrors ? OF_ERRORS : 0);
}

/** Whether less of a resource is used: not where all of it is given back, as by what has stopped, nor where it is what remains. */
function isLessUsed(metricName: string, observed: number, expected: number): boolean {
  return (
    factsOf(metricName).isResource &&
    kindOfName(metricName) !== "remaining" &&
    observed < expected &&
    Math.abs(observed) > NOTHING_SHARE * Math.abs(expected)
  );
}

/** From when on it counts how long a finding lasts. */
function lastsFromMs({ startedAtMs, intervalMs }: Effect): number {
  return startedAtMs + END_VALUES * intervalMs;
}

function ofDuration(lastedMs: number): number {
  return OF_DURATION.find(([fromMs]) => lastedMs >= fromMs)?.[1] ?? 0;
}

interface NameFacts {
  readonly isPercent: boolean;
  readonly isShare: boolean;
  readonly isSuccess: boolean;
  readonly isErrors: boolean;
  readonly isResource: boolean;
}

/** Names kept, at most, whose words were looked at lately, 150 B each: every finding asks. */
const NAMES_RETAINED_MAX = 4_096;
const cache = new BoundedMap<string, NameFacts>(NAMES_RETAINED_MAX);

function factsOf(metricName: string): NameFacts {
  return cache.obtain(metricName, () => {
    const terms = nameTerms(metricName);
    const family = familyOfMetric(metricName);
    const has = (of: ReadonlySet<string>) => terms.some((word) => of.has(word));
    return {
      isPercent: has(PERCENT_TERMS),
      isShare: has(SHARE_TERMS),
      isSuccess: has(SUCCESS_TERMS),
      isErrors: family === "errors",
      isResource: family === "saturation",
    };
  });
}

function termSet(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}
