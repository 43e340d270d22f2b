// A mail as text (RFC 5322), of one message or of several that were joined. Its `Message-ID` follows from alert, state and address, so that a repeat is known as one.

import { hash128 } from "../../core/base/hash128.ts";
import { EMAIL_SUBJECT_CHARACTERS_MAX } from "../../core/config/notification-limits.ts";
import { type AlertMessage, cut, detailLines, headline, shownMessage } from "./alert-message.ts";

export interface EmailMessage {
  readonly to: string;
  readonly subject: string;
  /** With its angle brackets. */
  readonly messageId: string;
  /** Message-ID that the alert's mails refer to, so that a mail program shows them as one conversation. */
  readonly references: string;
  readonly text: string;
}

/** `domain` is that of the sender's address. */
export function emailMessage(decided: readonly AlertMessage[], to: string, domain: string): EmailMessage {
  const messages = decided.map(shownMessage);
  const [first] = messages;
  if (first === undefined) throw new Error("a mail of nothing");
  const more = messages.length > 1 ? ` (and ${messages.length - 1} more)` : "";
  const states = messages.map(({ alertId, kind, atMs }) => [alertId, kind, atMs]);
  return {
    to,
    subject: cut(`[Vedette] ${headline(first)}${more}`, EMAIL_SUBJECT_CHARACTERS_MAX),
    messageId: `<${hash128(JSON.stringify([states, to]))}@${domain}>`,
    references: `<${hash128(JSON.stringify([first.alertId, to]))}@${domain}>`,
    text: messages.map(paragraphOf).join("\n\n----\n\n"),
  };
}

function paragraphOf(message: AlertMessage): string {
  const { alertId, severity, source, startedAtMs, resolvedAtMs, url } = message;
  const lines = [headline(message), "", ...detailLines(message), "", `Began: ${new Date(startedAtMs).toISOString()}`];
  if (resolvedAtMs !== null) lines.push(`Ended: ${new Date(resolvedAtMs).toISOString()}`);
  lines.push(`Severity: ${severity}`, `Source: ${source}`, `Alert: ${alertId}`);
  if (url !== null) lines.push(url);
  return lines.join("\n");
}
