// How an anomaly, and an alert with the last of its own, has ended (decisions, section 2).

export const END_REASONS = ["recovered", "accepted", "ended", "person", "upstream", "cascade"] as const;

/**
 * Recovered: values are usual again. Accepted: they stay, and are the new level. Ended: nothing more is heard of them. Person: somebody has resolved it. Upstream:
 * whoever sent it says that it is over. Cascade: it goes on as a part of another alert.
 */
export type EndReason = (typeof END_REASONS)[number];

/** A level that was accepted as the new one, `to`, and what was expected before it. */
export interface AcceptedLevel {
  readonly from: number;
  readonly to: number;
}

export interface Ending {
  readonly reason: EndReason;
  /** Who has resolved it, or has said that it ended; null where nobody did. */
  readonly person: string | null;
  /** Of one that was accepted, where the values are known. */
  readonly level?: AcceptedLevel | undefined;
}

/** Words that are no names of people. */
const REASONS: ReadonlySet<string> = new Set(END_REASONS);

/** The word that an anomaly keeps of its end; a person is kept by name. */
export function endWord({ reason, person }: Ending): string {
  if (reason !== "person") return reason;
  return person === null || REASONS.has(person) ? `${person ?? ""} (person)` : person;
}

/** The end that a kept word stands for; `level` is the one that was accepted. */
export function endingOf(word: string, level?: AcceptedLevel): Ending {
  if (!REASONS.has(word) || word === "person") return { reason: "person", person: word };
  return { reason: word as EndReason, person: null, ...(word === "accepted" && level !== undefined && { level }) };
}
