/** Mail over SMTP. A 250 behind the data is delivery, 4xx is tried again, 5xx is refused for good; without an answer a mail may have arrived once all of it is sent, and not before (RFC 5321, section 4.2.5). */
import { createTransport } from "nodemailer";
import { listenOnce, task } from "../../core/faults/guard.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { withoutSecrets } from "../../core/text/secret-mask.ts";
import type { AttemptOutcome } from "../../domain/delivery/delivery.ts";
import type { AlertMessage } from "../../domain/notification/alert-message.ts";
import { emailMessage, pictureId } from "../../domain/notification/email-message.ts";
import { ERROR_CHARACTERS_MAX } from "../http-client/outbound-http.ts";
import { type ChannelSender, SEND_TIMEOUT_MS } from "./channel-sender.ts";

const SENT_WHOLE = task("the end of a mail's data");
/** Connections that are kept to the mail server, and mails over one of them. */
const CONNECTIONS_MAX = 2;
const MAILS_PER_CONNECTION_MAX = 100;
/** Further connections for one mail, since one that was kept may have been closed meanwhile. When to try again is the delivery's to say, not the pool's, which knows five. */
const REQUEUES_MAX = 1;

export interface EmailSender extends ChannelSender {
  close(): void;
}

/** Pictures of a mail's alerts as PNG, by their ids. */
export type MailPictures = (messages: readonly AlertMessage[]) => Promise<ReadonlyMap<string, Buffer>>;

/** `url` is SMTP_URL, with a login where there is one, a secret; `from` the address that mails come from. */
export function emailSender(url: string, from: string, picturesOf: MailPictures): EmailSender {
  const transport = createTransport({
    url,
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    maxMessages: MAILS_PER_CONNECTION_MAX,
    maxRequeues: REQUEUES_MAX,
    connectionTimeout: SEND_TIMEOUT_MS,
    greetingTimeout: SEND_TIMEOUT_MS,
    socketTimeout: SEND_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  const sentWhole = new Set<string>();
  transport.use("stream", ({ data, message }, done) => {
    // Nothing reads the mail before the server asks for its data.
    message?.processFunc((mail) => {
      listenOnce(mail, "end", SENT_WHOLE, () => void sentWhole.add(String(data.messageId)));
      return mail;
    });
    done();
  });
  const login = loginOf(url);
  const domain = from.slice(from.lastIndexOf("@") + 1).replace(/[>\s].*$/, "");
  return {
    async send({ target }, messages, name) {
      // A page does not wait for a picture that cannot be drawn.
      const pictures = await picturesOf(messages).catch(() => new Map<string, Buffer>());
      const mail = emailMessage(messages, target, domain, name, new Set(pictures.keys()));
      const { to, subject, text, html, messageId, references } = mail;
      const conversation = references === null ? {} : { references, inReplyTo: references };
      const related = html === null ? {} : { html, attachments: [...pictures].map(attachmentOf) };
      try {
        await transport.sendMail({ from, to, subject, text, ...related, messageId, ...conversation });
        return { kind: "delivered" };
      } catch (error) {
        return failureOf(error, login, sentWhole.has(messageId));
      } finally {
        sentWhole.delete(messageId);
      }
    },
    close() {
      transport.close();
    },
  };
}

/** Shown where the text names it, and not beside the mail. */
function attachmentOf([alertId, content]: readonly [string, Buffer]) {
  return { filename: "chart.png", content, contentType: "image/png", contentDisposition: "inline" as const, cid: pictureId(alertId) };
}

/** The password of SMTP_URL, as it is and as it is sent (RFC 4616, RFC 4954). */
function loginOf(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { username, password } = new URL(url);
  const [user, secret] = [unescaped(username), unescaped(password)];
  return [secret, `\0${user}\0${secret}`];
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function failureOf(error: unknown, secrets: readonly string[], isSentWhole: boolean): AttemptOutcome {
  const { responseCode } = error as { responseCode?: unknown };
  const message = messageOf(error);
  const text = withoutSecrets(message, secrets).replace(/\s+/g, " ").slice(0, ERROR_CHARACTERS_MAX);
  if (typeof responseCode === "number") {
    if (responseCode >= 500) return { kind: "failed", error: text };
    return { kind: "retry", error: text, afterMs: null, mayHaveArrived: false };
  }
  return { kind: "retry", error: text, afterMs: null, mayHaveArrived: isSentWhole };
}
