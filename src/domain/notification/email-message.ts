// A mail as text (RFC 5322), of one message or of several that were joined. Its `Message-ID` follows from alert, state and address, of what was joined from
// the name under which it is stored, so that a repeat is known as one.

import { EMAIL_SUBJECT_CHARACTERS_MAX } from "../../core/config/notification-limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { momentText } from "../../core/time/rfc3339.ts";
import { type AlertMessage, cut, detailLines, headline, shownMessage } from "./alert-message.ts";

export interface EmailMessage {
  readonly to: string;
  readonly subject: string;
  /** With its angle brackets. */
  readonly messageId: string;
  /** Message-ID that the mails of one alert refer to, so that a mail program shows them as one conversation; null for several alerts. */
  readonly references: string | null;
  readonly text: string;
  /** The same with pictures, which the mail holds by the ids of their alerts; null where it has none. */
  readonly html: string | null;
}

/** `domain` is that of the sender's address, `name` that of several that were joined; `pictures` names the alerts of which the mail holds one. */
export function emailMessage(
  decided: readonly AlertMessage[],
  to: string,
  domain: string,
  name: string | null = null,
  pictures: ReadonlySet<string> = new Set(),
): EmailMessage {
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
    html: pictures.size === 0 ? null : messages.map((message) => sectionOf(message, pictures)).join("<hr>"),
  };
}

/** Content-ID of the picture of an alert in its mail. */
export function pictureId(alertId: string): string {
  return `${hash128(alertId)}@vedette`;
}

function sectionOf(message: AlertMessage, pictures: ReadonlySet<string>): string {
  const { alertId, url } = message;
  const text = `<pre style="font:inherit;white-space:pre-wrap">${escaped(paragraphOf({ ...message, url: null }))}</pre>`;
  const link = url === null ? "" : `<p><a href="${escaped(url)}">Open the alert</a></p>`;
  const alt = "the series with the band of what was ordinary";
  return `${text}${pictures.has(alertId) ? `<p><img src="cid:${pictureId(alertId)}" width="640" height="240" alt="${alt}"></p>` : ""}${link}`;
}

/** Text within HTML, attributes too. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}

function paragraphOf(message: AlertMessage): string {
  const { alertId, severity, source, startedAtMs, resolvedAtMs, url } = message;
  const lines = [headline(message), "", ...detailLines(message), "", `Began: ${momentText(startedAtMs)}`];
  if (resolvedAtMs !== null) lines.push(`Ended: ${momentText(resolvedAtMs)}`);
  lines.push(`Severity: ${severity}`, `Source: ${source}`, `Alert: ${alertId}`);
  if (url !== null) lines.push(url);
  return lines.join("\n");
}
