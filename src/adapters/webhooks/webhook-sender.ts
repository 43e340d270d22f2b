/** One attempt of one event: transformed, signed, sent past the guard. 2xx is success; a redirect is not followed and fails; 410 ends the webhook. */
import type { KeyObject } from "node:crypto";
import { WEBHOOK_TIMEOUT_MS } from "../../core/config/webhook-limits.ts";
import { secretParts, withoutSecrets } from "../../core/text/secret-mask.ts";
import type { AttemptOutcome } from "../../domain/delivery/delivery.ts";
import type { WebhookTarget } from "../../domain/webhooks/outbound-messages.ts";
import type { EventTransforms } from "../../domain/webhooks/transform.ts";
import type { OutboundAnswer, OutboundHttp } from "../http-client/outbound-http.ts";
import { ERROR_CHARACTERS_MAX } from "../http-client/outbound-http.ts";
import { signatures, signingKey } from "./webhook-signature.ts";

const GONE = 410;

export interface WebhookSenderDependencies {
  readonly http: Pick<OutboundHttp, "send">;
  /** Undefined while no sandbox runs. */
  readonly transforms: EventTransforms | undefined;
  nowMs(): number;
}

export class WebhookSender {
  readonly #dependencies: WebhookSenderDependencies;
  #key: KeyObject | undefined;

  constructor(dependencies: WebhookSenderDependencies) {
    this.#dependencies = dependencies;
  }

  /** The key of v1a signatures: PKCS #8, DER, base64. */
  setKey(privateKey: string): void {
    this.#key = signingKey(privateKey);
  }

  /** Never rejects. */
  async send(target: WebhookTarget, eventId: string, event: string): Promise<AttemptOutcome> {
    const payload = await this.#payloadOf(target, event);
    if (typeof payload !== "string") return payload;
    const { http, nowMs } = this.#dependencies;
    const sentMs = nowMs();
    const timestampSeconds = Math.floor(sentMs / 1_000);
    const secrets = target.secrets.filter(({ untilMs }) => untilMs > sentMs).map(({ secret }) => secret);
    const headers = {
      ...target.headers,
      "content-type": "application/json",
      "idempotency-key": eventId,
      "webhook-id": eventId,
      "webhook-timestamp": String(timestampSeconds),
      "webhook-signature": signatures({ id: eventId, timestampSeconds, body: payload }, secrets, this.#key),
    };
    const { url, method } = target;
    const answer = await http.send({ url, method, headers, body: payload, timeoutMs: WEBHOOK_TIMEOUT_MS });
    return outcomeOf(answer, (text) => withoutSecrets(text, secretsOf(target)));
  }

  async #payloadOf({ tenant, transform }: WebhookTarget, event: string): Promise<string | AttemptOutcome> {
    if (transform === null) return event;
    const { transforms } = this.#dependencies;
    if (transforms === undefined) return { kind: "retry", ...NOT_SENT, error: "transform: no sandbox runs here" };
    const made = await transforms.transformEvent(tenant, transform, event);
    if (made.kind === "payload") return made.json;
    if (made.kind === "dropped") return { kind: "dropped", error: made.error };
    const where = made.line === null ? "" : ` (line ${made.line})`;
    const error = `transform: ${made.error}${where}`.slice(0, ERROR_CHARACTERS_MAX);
    if (made.retry) return { kind: "retry", ...NOT_SENT, error };
    return { kind: "failed", error, answer: { statusCode: null, responseTimeMs: 0, fault: true } };
  }
}

const NOT_SENT = { afterMs: null, mayHaveArrived: false } as const;

/** What of a webhook nobody is shown: header values, the URL behind its origin, secrets as they are given and as base64 of their bytes. */
function secretsOf({ url, headers, secrets }: WebhookTarget): string[] {
  return [...Object.values(headers), ...secretParts(url), ...secrets.flatMap(({ secret }) => [secret, secret.replace(/^whsec_/, "")])];
}

/** Whatever has not succeeded is tried again, but of a receiver that wants no more. */
function outcomeOf(answer: OutboundAnswer, shown: (text: string) => string): AttemptOutcome {
  const responseTimeMs = answer.tookMs;
  if (answer.kind === "failed") {
    const { mayHaveArrived } = answer;
    return { kind: "retry", error: shown(answer.error), afterMs: null, mayHaveArrived, answer: { statusCode: null, responseTimeMs } };
  }
  const { status: statusCode, retryAfterMs, text } = answer;
  if (statusCode >= 200 && statusCode < 300) return { kind: "delivered", answer: { statusCode, responseTimeMs } };
  const said = text === "" ? "" : `: ${shown(text).replace(/\s+/g, " ").slice(0, ERROR_CHARACTERS_MAX)}`;
  const what = statusCode >= 300 && statusCode < 400 ? " (redirects are not followed)" : "";
  const error = `answered ${statusCode}${what}${said}`;
  if (statusCode === GONE) return { kind: "failed", error, answer: { statusCode, responseTimeMs, gone: true } };
  return { kind: "retry", error, afterMs: retryAfterMs, mayHaveArrived: true, answer: { statusCode, responseTimeMs } };
}
