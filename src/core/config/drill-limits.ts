// Bounds of fire drills, each with its reason.

import { SECOND_MS } from "../time/durations.ts";
import { OWN_BODY_ANSWER_MS_MAX } from "./limits.ts";

/** From the first sample to the last receiver: what the contract of the drill allows. */
export const DRILL_REPORT_MS_MAX = 120 * SECOND_MS;
/** Wait at the end of a drill, bound, until those that got the alert have got its resolution too. */
export const DRILL_ENDED_MS_MAX = 30 * SECOND_MS;
/** Both, and what storing the result takes. */
export const DRILL_ANSWER_MS_MAX = DRILL_REPORT_MS_MAX + DRILL_ENDED_MS_MAX + 10 * SECOND_MS;
/** After which a gate that holds the page is taken for the end: the values of the spike have all been judged by then. What waits for its confirmation waits on. */
export const DRILL_DECIDED_MS = SECOND_MS;
/** Interval at which a drill looks for its outcome: a read of some rows. One drill per tenant is under way, and it holds one of the tenant's query turns. */
export const DRILL_CHECK_MS = 20;
/** Wait where an engine has no answer to the samples to give. */
export const DRILL_RETRY_MS = 500;
/** After a start, before the first of DRILL_INTERVAL_HOURS where one is due: receivers that start with the server are there by then. */
export const DRILL_FIRST_MS = 300 * SECOND_MS;
/** Quiet values in front of the spike (issue of the drill), and their distance. */
export const DRILL_QUIET_VALUES = 60;
export const DRILL_VALUE_INTERVAL_MS = SECOND_MS;
/** Values of the spike, and quiet ones behind it: five end an anomaly. */
export const DRILL_SPIKE_VALUES = 3;
export const DRILL_CALM_VALUES = 8;
/** Characters of a reason. */
export const DRILL_REASON_CHARACTERS_MAX = 500;

const ties: Array<[boolean, string]> = [
  [OWN_BODY_ANSWER_MS_MAX < DRILL_REPORT_MS_MAX, "an engine that gives no answer leaves time to try again"],
  [(DRILL_QUIET_VALUES + DRILL_SPIKE_VALUES) * DRILL_VALUE_INTERVAL_MS <= 300 * SECOND_MS, "no value is late"],
];
for (const [holds, what] of ties) if (!holds) throw new Error(`drill-limits.ts: it must hold that ${what}`);
