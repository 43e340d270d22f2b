// What the detector of a pair finds in one observation.
import { anomalyScore } from "../anomaly-score.ts";
import type { KnownReason } from "../departure/known-departures.ts";
import type { TailEvidence } from "../departure/own-tail.ts";
import type { FiringStep } from "../gates/firing-state.ts";
import { equivalentZ } from "../tail-probability.ts";

/** Robust z of telemetry has Student's tail with so many degrees of freedom: 10 is an equivalent z of 3.1, 100 of 4.8. */
export const SPIKE_FREEDOM = 3;

/** Verdict of the detector on an observation; the object is used again for the next one. */
export class PairVerdict {
  /** Sign of the value's departure from what it was compared with. */
  sign = 0;
  /** Value that the observation was compared with. */
  expected = 0;
  /** Standard deviations of the short mean from its history, whichever of `usual` is further off. */
  level = 0;
  /** 1 where the level lies above what is usual, else -1. */
  side: 1 | -1 = 1;
  /** Mean of the newest `width` values; what is usual for it, and the width in value of one of its standard deviations. */
  mean = 0;
  width = 1;
  usual = 0;
  scale = 0;
  /** Whether `usual` is that of the hour, else that of the whole history. */
  isSeasonal = false;
  /** Whether the hour has been seen on two days of its kind. */
  isOfKnownDay = false;
  /** Levels from here on open an alert by themselves. */
  levelBar = 0;
  /** Level or level with spike, in units of their bars: from 1 on an excursion; and what it must reach while the stream pages often. */
  evidence = 0;
  bar = 1;
  /** Robust standard deviations of the value, its short mean or its step. */
  spike = 0;
  firing: FiringStep = { isFiring: false, opened: false, suppressedBy: null };
  /** An alert fires, of the level or of a departure, and has begun with this value. */
  isFiring = false;
  opened = false;
  /** People are to be told now: a departure that is news has begun, or a level that most of its values share. */
  reports = false;
  /** People are to be told now if another metric of the service lasts too. */
  shares = false;
  /** Standard deviations of the departure at hand, signed; 0 where there is none. Its value, what that should have been, one of these deviations, and the bar in them. */
  departure = 0;
  departedValue = 0;
  departedFrom = 0;
  departedSd = 0;
  departedBar = 0;
  /** Share of values that go as far, as the series' own tail has it. */
  departedChance = 1;
  /** A departure that is news has begun with this value. */
  departs = false;
  /** Why a departure at hand is no news. */
  known: KnownReason | null = null;

  /** 0..1, comparable over time and between pairs; made when it is asked for. */
  get score(): number {
    return anomalyScore(this.z);
  }

  /** Signed equivalent z behind the score; made when it is asked for. */
  get z(): number {
    return this.sign * equivalentZ(this.spike, SPIKE_FREEDOM);
  }
}

/** Deviation of what a verdict reports, in the unit of its bar; undefined where it reports nothing, or of something on the other side. */
export function evidenceOf(verdict: PairVerdict, side: 1 | -1): TailEvidence | undefined {
  if (!verdict.reports || verdict.side !== side) return undefined;
  if (verdict.departure !== 0) return { size: Math.abs(verdict.departure), bar: verdict.departedBar };
  return verdict.evidence >= 1 ? { size: verdict.level, bar: verdict.levelBar } : { size: 1, bar: 1 };
}
