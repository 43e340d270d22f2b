// A mail as text (RFC 5322), of one message or of several that were joined. Its `Message-ID` follows from alert, state and address, of what was joined from
// the name under which it is stored, so that a repeat is known as one.

import { hash128 } from "../../core/base/hash128.ts";
import { EMAIL_SUBJECT_CHARACTERS_MAX } from "../../core/config/notification-limits.ts";
import { type AlertMessage, cut, detailLines, headline, shownMessage } from "./alert-message.ts";

export interface EmailMessage {
  readonly to: string;
  readonly subject: string;
  /** With its angle brackets. */
  readonly messageId: string;
  /** Message-ID that the mails of one alert refer to, so that a mail program shows them as one conversation; null for several alerts. */
  readonly references: string | null;
  readonly text: string;
}

/** `domain` is that of the sender's address, `name` that of several that were joined. */
export function emailMessage(decided: readonly AlertMessage[], to: string, domain: string, name: string | null = null): EmailMessage {
  const messages = decided.map(shownMessage);
  const [first] = messages;
  if (first === undefined) throw new Error("a mail of nothing");
  const more = messages.length > 1 ? ` (and ${messages.length - 1} more)` : "";
  const states = messages.map(({ alertId, kind, atMs }) => [alertId, kind, atMs]);
  return {
    to,
    subject: cut(`[Vedette] ${headline(first)}${more}`, EMAIL_SUBJECT_CHARACTERS_MAX),
    messageId: `<${hash128(JSON.stringify([name ?? states, to]))}@${domain}>`,
    references: name === null ? `<${hash128(JSON.stringify([first.alertId, to]))}@${domain}>` : null,
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
