// The state of a pair: numbers of each of its parts, and the bytes of all of them, 4.5 KiB at most.
import {
  DEPARTURE_DETECTOR_LENGTH,
  FORMER_MORE_DEPARTURE_DETECTOR_LENGTH,
  MORE_DEPARTURE_DETECTOR_LENGTH,
} from "../departure/departure-detector.ts";
import { OWN_TAIL_LENGTH } from "../departure/own-tail.ts";
import { FIRING_LENGTH } from "../gates/firing-state.ts";
import { MOMENTS_LENGTH } from "../rolling/drifting-moments.ts";
import { RECENT_LENGTH } from "../rolling/recent-values.ts";
import { SAMPLE_LENGTH, SAMPLE_VALUES } from "../rolling/thinned-sample.ts";
import { INTERVAL_LENGTH } from "../rolling/usual-interval.ts";
import { HOUR_PROFILE_LENGTH } from "../seasonal/hour-profile.ts";
import { LASTING_LENGTH } from "./lasting-evidence.ts";

/** When its service was deployed last, and whether that settles. */
export const DEPLOYMENT_LENGTH = 2;
/** The tail of levels, and the highest of the stretch at hand. */
const LEVEL_TAIL_LENGTH = OWN_TAIL_LENGTH + 1;
const SAMPLES = 3;
/** Numbers of double precision with which a state begins; the values of its samples, of single precision, stand behind them. */
export const PAIR_STATE_DOUBLES =
  INTERVAL_LENGTH +
  2 * RECENT_LENGTH +
  4 * MOMENTS_LENGTH +
  SAMPLES * SAMPLE_LENGTH +
  FIRING_LENGTH +
  HOUR_PROFILE_LENGTH +
  DEPLOYMENT_LENGTH +
  DEPARTURE_DETECTOR_LENGTH +
  LEVEL_TAIL_LENGTH +
  LASTING_LENGTH;
/** Bytes before what came later. */
export const FIRST_PAIR_STATE_BYTES = 8 * PAIR_STATE_DOUBLES + 4 * SAMPLES * SAMPLE_VALUES;
/** Bytes of a pair's state as it was before more habits were kept, and before two periods at once were known: what came later stands behind it. */
export const FORMER_PAIR_STATES_BYTES = [FIRST_PAIR_STATE_BYTES, FIRST_PAIR_STATE_BYTES + 8 * FORMER_MORE_DEPARTURE_DETECTOR_LENGTH];
/** Bytes of a pair's state, everything included. */
export const PAIR_STATE_BYTES = FIRST_PAIR_STATE_BYTES + 8 * MORE_DEPARTURE_DETECTOR_LENGTH;
