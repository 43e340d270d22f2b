// What is known around the values of a pair.
import type { KnownDays } from "../../calendar/known-days.ts";
import type { PendingGroup } from "../rolling/observation-groups.ts";

/** Values that no cycle has seen yet, the first `count` of each. */
export interface NewValues {
  readonly times: Float64Array;
  readonly values: Float64Array;
  readonly count: number;
  /** Group of the minute that goes on, where values are taken together by the minute. */
  readonly pending?: PendingGroup | undefined;
}

/** Context of a value: when its service was last deployed (0 for never), how many streams that has, and the z threshold that is set for it. */
export interface PairSurroundings {
  readonly deployedMs: number;
  /** When somebody took its newest level for the usual one; 0 or absent for never. */
  readonly acceptedMs?: number;
  /** Number of streams of which any may depart by chance. */
  readonly streams: number;
  /** As of layer 1; at the default of 3 the bars of what is reported are as they are measured, else higher or lower by as many times. */
  readonly zThreshold: number;
  /** Until when a new instance warms up: what departs before, but far, is reported if it goes on then. */
  readonly warmUntilMs?: number;
  /** Known days of its tenant. */
  readonly knownDays?: KnownDays | undefined;
  /** Values are deltas of a counter: of the interval in which it began anew only a part was counted. */
  readonly isCounter?: boolean;
  /** Of a series of counts, how many of them an observation is the mean of (departure/counted-values.ts). */
  readonly counts?: number;
  /** Of an aggregate, when a stream last joined or left: what its values are from then on is their level. */
  readonly changedMs?: number;
}

export const Z_THRESHOLD_DEFAULT = 3;
/** A stream alone, never deployed. */
export const SURROUNDED_BY_NOTHING: PairSurroundings = { deployedMs: 0, streams: 1, zThreshold: Z_THRESHOLD_DEFAULT };
