// What a gate that holds a page back waits for, in words for people.
import { ownMember } from "../../../core/collections/own-member.ts";
import { momentText } from "../../../core/time/rfc3339.ts";
import { type Sentence, withMore } from "../../anomaly/sentence.ts";
import { FLAPPING_GATE } from "../flap-control.ts";
import { INHIBITED_GATE, SILENCED_GATE } from "../inhibition/hold-gates.ts";
import type { Snooze } from "./alert.ts";
import { CONFIRMATION_GATE } from "./confirmation-gate.ts";
import { GROUP_GATE } from "./group-wait.ts";

export const SNOOZED_GATE = "snoozed";

const UNTIL: Readonly<Record<string, string>> = {
  [GROUP_GATE]: "until the wait for others of the same cause is over (GROUP_WAIT_SECONDS)",
  [CONFIRMATION_GATE]:
    "until a metric of the service departs as it does not by itself, or a detector of another kind agrees; asked each cycle while the alert fires",
  [INHIBITED_GATE]: "until what inhibits it is over; asked each cycle while the alert fires",
  [SILENCED_GATE]: "until the silence ends; asked each cycle while the alert fires",
  [SNOOZED_GATE]: "until the next cycle: its snooze is over",
  warmup: "until the warm-up is over (WATCHDOG_WARMUP_MINUTES after the start); then it is asked again",
  minimum_traffic: "until its service counts as many requests in a cycle as its setting asks for",
  exclusion: "until its settings exclude it no more",
  [FLAPPING_GATE]: "until the pause after its last page is over, an hour at most; asked each cycle while the alert fires",
};

const NAMES: Readonly<Record<string, string>> = {
  [GROUP_GATE]: "the wait for a group",
  [INHIBITED_GATE]: "an inhibition",
  [SILENCED_GATE]: "a silence",
  [SNOOZED_GATE]: "a snooze",
  [FLAPPING_GATE]: "the pause of what comes and goes",
  warmup: "the warm-up",
  minimum_traffic: "too little traffic",
};

/** What held something, behind "held by". */
export function holdName(by: string): string {
  return ownMember(NAMES, by) ?? by;
}

/** Until when a gate holds, and what for; null where nothing holds or it is not asked again. A snooze holds whatever else does. */
export function holdText(gate: string | null, snooze: Snooze | null): string | null {
  if (snooze !== null) return `until ${momentText(snooze.untilMs)}: ${snooze.by} has snoozed it; then it is asked again`;
  return gate === null ? null : (ownMember(UNTIL, gate) ?? null);
}

/** The sentence of a finding that waits for its confirmation, with what it waits for. */
export function waitingSentence(explanation: Sentence, suppressedBy: string | null): Sentence {
  return suppressedBy === CONFIRMATION_GATE ? withMore(explanation, ` (held ${UNTIL[CONFIRMATION_GATE]})`) : explanation;
}
