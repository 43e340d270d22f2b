/** One attempt of one event: transformed, signed, sent past the guard. 2xx is success; a redirect is not followed and fails; 410 ends the webhook. */
import type { KeyObject } from "node:crypto";
import { secretParts, withoutSecrets } from "../../core/base/secret-mask.ts";
import { WEBHOOK_TIMEOUT_MS } from "../../core/config/webhook-limits.ts";
import type { EventTransforms } from "../../domain/webhooks/transform.ts";
import type { WebhookOutcome } from "../../domain/webhooks/webhook-delivery.ts";
import type { WebhookTarget } from "../../domain/webhooks/webhook-messages.ts";
import type { OutboundAnswer, OutboundHttp } from "../http-client/outbound-http.ts";
import { signatures, signingKey } from "./webhook-signature.ts";

const ERROR_CHARACTERS_MAX = 300;
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
  async send(target: WebhookTarget, eventId: string, event: string): Promise<WebhookOutcome> {
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

  async #payloadOf({ tenant, transform }: WebhookTarget, event: string): Promise<string | WebhookOutcome> {
    if (transform === null) return event;
    const { transforms } = this.#dependencies;
    const failed = (error: string, final: boolean): WebhookOutcome => ({
      ...NOTHING,
      kind: "failed",
      error: error.slice(0, ERROR_CHARACTERS_MAX),
      final,
      fault: final,
    });
    if (transforms === undefined) return failed("transform: no sandbox runs here", false);
    const made = await transforms.transformEvent(tenant, transform, event);
    if (made.kind === "payload") return made.json;
    if (made.kind === "dropped") return { ...NOTHING, kind: "dropped", error: made.error };
    const where = made.line === null ? "" : ` (line ${made.line})`;
    return failed(`transform: ${made.error}${where}`, !made.retry);
  }
}

const NOTHING = { statusCode: null, responseTimeMs: 0, error: null, retryAfterMs: null, gone: false, final: false } as const;

/** What of a webhook nobody is shown: header values, the URL behind its origin, secrets as they are given and as base64 of their bytes. */
function secretsOf({ url, headers, secrets }: WebhookTarget): string[] {
  return [...Object.values(headers), ...secretParts(url), ...secrets.flatMap(({ secret }) => [secret, secret.replace(/^whsec_/, "")])];
}

function outcomeOf(answer: OutboundAnswer, shown: (text: string) => string): WebhookOutcome {
  const responseTimeMs = answer.tookMs;
  if (answer.kind === "failed") return { ...NOTHING, kind: "failed", responseTimeMs, error: shown(answer.error) };
  const { status: statusCode, retryAfterMs, text } = answer;
  if (statusCode >= 200 && statusCode < 300) return { ...NOTHING, kind: "succeeded", statusCode, responseTimeMs };
  const said = text === "" ? "" : `: ${shown(text).replace(/\s+/g, " ").slice(0, ERROR_CHARACTERS_MAX)}`;
  const what = statusCode >= 300 && statusCode < 400 ? " (redirects are not followed)" : "";
  const error = `answered ${statusCode}${what}${said}`;
  return { ...NOTHING, kind: "failed", statusCode, responseTimeMs, error, retryAfterMs, gone: statusCode === GONE };
}
