// Which messages may leave in one, and which leave first. What fires, what ends and what only says more are never joined with each other, nor are environments or
// tenants; what fires waits behind nothing else.
import type { AlertMessage } from "./alert-message.ts";
import { isPage } from "./channel-delivery.ts";

const RANKS = { page: 0, update: 1, end: 2 } as const;

/** Order in which messages leave a destination: what fires, what says more of it, what has ended. */
export type MessageRank = (typeof RANKS)[keyof typeof RANKS];

export function rankOf({ kind }: Pick<AlertMessage, "kind">): MessageRank {
  if (isPage(kind)) return RANKS.page;
  return kind === "resolved" ? RANKS.end : RANKS.update;
}

/** Text in common of messages that may be joined. */
export function joinsOf(message: Pick<AlertMessage, "kind" | "environment">): string {
  return JSON.stringify([rankOf(message), message.environment]);
}
