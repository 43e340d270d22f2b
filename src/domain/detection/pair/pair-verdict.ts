// What the long baseline of a pair has to say of one observation, as the record that every detector gives: against what it was compared, what stood in
// the way of an alert, and a sentence for people.
import { ownMember } from "../../../core/collections/own-member.ts";
import type { PairFacts } from "../../../core/protocol/explanation-facts.ts";
import { DEPARTING_VALUES } from "../departure/departure-detector.ts";
import { OWN_TAIL_GATE } from "../departure/own-tail.ts";
import { atLeast, firstFailed, type GateResult, holds } from "../gates/gate-result.ts";
import type { RuleVerdict } from "../gates/rule-verdict.ts";
import { hourOf } from "../seasonal/hour-profile.ts";
import { logNormalTail, shownProbability, Z_MAX } from "../tail-probability.ts";
import { DETECTOR_Z_SCORE, figure, type VerdictBaseline, zText } from "../verdict.ts";
import { LEARNING_VALUES } from "./pair-detector.ts";
import type { PairVerdict } from "./pair-finding.ts";
import { shownValue } from "./value-range.ts";

export const DETECTOR_ADAPTIVE = "adaptive";
/** Detectors of single metrics by their own past: the window, and the long baseline. */
export const DETECTORS_OF_PAIRS: readonly string[] = [DETECTOR_Z_SCORE, DETECTOR_ADAPTIVE];
const LAYERS = ["statistical", "adaptive"] as const;
/** Why an observation opened no alert, by the gate that did not let it pass. */
const REASONS: Readonly<Record<string, string>> = {
  minimum_samples: "learning",
  level: "ordinary",
  flap_control: "flapping",
  new_incident: "same_incident",
  direction: "direction",
  own_tail: "ordinary",
};

/** Context of an observation. */
export interface PairObservation {
  readonly verdict: PairVerdict;
  /** Baseline from what came before and with it. */
  readonly baseline: { readonly n: number; readonly mean: number; readonly sd: number; readonly median: number };
  /** Age of the stream's oldest value. */
  readonly ageSeconds: number;
  /** Time of the observation, by the clock on the wall. */
  readonly localMs: number;
  /** Departures that may alert. */
  readonly direction: "both" | "high" | "low";
}

/** Numbers of a verdict that its sentence names. */
export interface PairNumbers extends Pick<RuleVerdict, "observed" | "expected" | "lower" | "upper" | "z"> {
  readonly baseline: Pick<VerdictBaseline, "n" | "bucket">;
  readonly departure: number;
}

/** Standard deviations that a value departs by, without its sign; JSON has none that is infinite. */
export function departureOf(verdict: Pick<RuleVerdict, "gates">): number {
  return verdict.gates.find(({ name }) => name === OWN_TAIL_GATE)?.value ?? Number.POSITIVE_INFINITY;
}

/** Signed: the further of level and spike, on the side of the level, within +-99. */
export function pairZ({ level, side, z, departure }: PairVerdict): number {
  const spike = Math.sign(z) === side ? Math.abs(z) : 0;
  return side * Math.min(Z_MAX, Math.max(level, spike, side * departure));
}

/** Whether a departure to this side may alert. */
export function mayAlert(side: 1 | -1, direction: PairObservation["direction"]): boolean {
  return direction === "both" || direction === (side === 1 ? "high" : "low");
}

/** Quantity that was judged: a value that departs by itself, else the level of the newest values, and the bounds that it had to leave. */
function judgedOf(verdict: PairVerdict) {
  const { departure, departedValue, departedFrom, departedSd, departedBar, mean, usual, scale, levelBar } = verdict;
  if (isDeparture(verdict)) {
    const side = departure < 0 ? -1 : 1;
    return { ...evidenceOf(departedValue, departedFrom, departedBar * departedSd), threshold: departedBar, side };
  }
  return { ...evidenceOf(mean, usual, levelBar * scale), threshold: levelBar, side: verdict.side };
}

/** In the unit of the series. */
function evidenceOf(observed: number, expected: number, width: number) {
  return {
    observed: shownValue(observed),
    expected: shownValue(expected),
    lower: shownValue(expected - width),
    upper: shownValue(expected + width),
  };
}

/** Whether a value departs whose level is not beyond its own bar, or with which it has begun: the mean of the newest values says less of that. */
function isDeparture({ departure, departs, level, levelBar }: PairVerdict): boolean {
  return departure !== 0 && (level < levelBar || departs);
}

/** The record of an observation. Observed is what was judged: a value, or the mean of the newest ones; `baseline.bucket` names the hour where it was of one. */
export function pairVerdict(of: PairObservation): RuleVerdict {
  const { verdict, baseline, ageSeconds, localMs } = of;
  const { observed, expected, lower, upper, threshold } = judgedOf(verdict);
  const isSeasonal = verdict.isSeasonal && verdict.isOfKnownDay && !isDeparture(verdict);
  const z = pairZ(verdict);
  const gates = pairGates(of);
  const failed = firstFailed(gates);
  return {
    detector: DETECTOR_ADAPTIVE,
    observed,
    expected,
    lower,
    upper,
    z,
    p: isDeparture(verdict) ? verdict.departedChance : shownProbability(logNormalTail(z), baseline.n),
    threshold,
    baseline: { ...baseline, bucket: isSeasonal ? bucketOf(localMs) : null, age_seconds: ageSeconds },
    contributions: [],
    gates,
    suppressed_by: failed === undefined ? null : (ownMember(REASONS, failed.name) ?? failed.name),
    layers: LAYERS,
  };
}

function pairGates({ verdict, baseline, direction }: PairObservation): GateResult[] {
  const { evidence, bar, side, firing, departure, departedBar } = verdict;
  if (isDeparture(verdict)) {
    const minimum = atLeast("minimum_samples", baseline.n, DEPARTING_VALUES);
    return [minimum, atLeast(OWN_TAIL_GATE, Math.abs(departure), departedBar), holds("direction", mayAlert(side, direction))];
  }
  return [
    { name: "minimum_samples", passed: firing.suppressedBy !== "learning", value: baseline.n, limit: LEARNING_VALUES },
    atLeast("level", evidence, 1),
    { name: "flap_control", passed: firing.suppressedBy !== "flapping", value: evidence, limit: bar },
    holds("new_incident", firing.suppressedBy !== "same_incident"),
    holds("direction", mayAlert(side, direction)),
  ];
}

/** What the sentence of an observation takes besides its verdict; of an aggregate, of so many streams. */
export function pairFacts({ verdict }: PairObservation, streams?: number): PairFacts {
  const { width: values, isSeasonal, isOfKnownDay } = verdict;
  const against = isDeparture(verdict) ? "chance" : !isSeasonal ? "values" : isOfKnownDay ? "day" : "hour";
  return { isBelow: judgedOf(verdict).side < 0, against, values, ...(streams !== undefined && { streams }) };
}

/**
 * A plain sentence, such as: latency_ms was 61.2 on average over its last 12 values (equivalent z 5.3), above the 40.1 that is usual on a working day at 14:00 (expected 32
 * to 48). Of a departure: latency_ms was 412, 17.7 standard deviations above the 120 that was to be expected (it strays by chance from 75 to 165).
 */
export function pairSentence(numbers: PairNumbers, { isBelow, against, values }: PairFacts, label: string): string {
  const { observed, expected, lower, upper, z, baseline, departure } = numbers;
  const [from, to] = [figure(lower), figure(upper)];
  const where = isBelow ? "below" : "above";
  if (against === "chance") {
    const more = departure > Z_MAX ? "more than " : "";
    const size = `${more}${figure(Math.min(Z_MAX, departure))} standard deviations`;
    return `${label} was ${figure(observed)}, ${size} ${where} the ${figure(expected)} that was to be expected (by chance it strays from ${from} to ${to})`;
  }
  const what = values === 1 ? figure(observed) : `${figure(observed)} on average over its last ${values} values`;
  const when =
    against === "values"
      ? `the last ${baseline.n} values had`
      : against === "day"
        ? `is usual on a ${baseline.bucket}`
        : "was to be expected at this hour";
  return `${label} was ${what} (${zText(z)}), ${where} the ${figure(expected)} that ${when} (expected ${from} to ${to})`;
}

function bucketOf(localMs: number): string {
  const { hour, isWeekend } = hourOf(localMs);
  return `${isWeekend ? "weekend day" : "working day"} at ${String(hour).padStart(2, "0")}:00`;
}
