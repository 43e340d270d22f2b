// The gates by which people and rules hold alerts back for a while, and how the ledger names what held one.
import { type Sentence, withMore } from "../../anomaly/sentence.ts";
import { type GateResult, holds } from "../../detection/gates/gate-result.ts";
import type { Hold } from "../hold.ts";
import type { Labels } from "../label-matcher.ts";
import type { PagingMemory } from "../paging/paging-memory.ts";
import type { PagingSources } from "../paging/paging-sources.ts";

export const INHIBITED_GATE = "inhibited";
export const SILENCED_GATE = "silenced";
/** Length of what people wrote about a rule, in each row of the ledger that it held back. */
const HOLD_COMMENT_CHARACTERS_MAX = 300;

/** Alert that is asked about. */
export interface SuppressedSubject {
  readonly tenant: string;
  readonly labels: Labels;
  /** When it opened. */
  readonly openedAtMs: number;
}

/** Gates of an alert by what holds it back for now: the first hold, where there is one. */
export function holdGates(
  { tenant, labels, openedAtMs }: SuppressedSubject,
  { inhibitions, silences, settingsOf }: PagingSources,
  memory: PagingMemory,
  nowMs: number,
): { readonly gates: readonly GateResult[]; readonly hold: Hold | undefined } {
  const { dedupMaxAgeMinutes } = settingsOf(tenant, labels.service_id ?? "", labels.metric_name ?? "");
  const opened = { atMs: openedAtMs, dedupMaxAgeMinutes };
  const builtIn = inhibitions.inhibited(tenant, labels, () => memory.inhibitors(tenant), opened);
  const inhibition = builtIn ?? memory.ruleInhibitors.holdFor(tenant, labels);
  const silence = silences.silenced(tenant, labels, nowMs);
  return {
    gates: [holds(INHIBITED_GATE, inhibition === undefined), holds(SILENCED_GATE, silence === undefined)],
    hold: inhibition ?? silence,
  };
}

/** The sentence of a finding, with what held it back where that was somebody's rule. */
export function suppressedSentence(explanation: Sentence, suppressedBy: string | null, hold: Hold | undefined): Sentence {
  if (hold === undefined || (suppressedBy !== INHIBITED_GATE && suppressedBy !== SILENCED_GATE)) return explanation;
  const comment = hold.comment === "" ? "" : `, ${hold.comment.slice(0, HOLD_COMMENT_CHARACTERS_MAX)}`;
  return withMore(explanation, ` (${suppressedBy} by ${hold.id}${comment})`);
}
