// Requests that somebody waits for, made by the notifier: the test of a webhook, an http step of a runbook. What the notifier has in its hands when it ends has an
// outcome that nobody knows.
import { Requests } from "../../../adapters/runtime/requests.ts";
import { OUTBOUND_CALL_MS_MAX, OUTBOUND_CALLS_MAX } from "../../../core/config/notification-limits.ts";
import type { OutboundCommand, OutboundReport, TenantAnswer, TenantRequest } from "../../../domain/webhooks/outbound-messages.ts";
import type { Transform } from "../../../domain/webhooks/transform.ts";
import type { WebhookTarget } from "../../../domain/webhooks/webhook-messages.ts";

type Tried = Extract<OutboundReport, { type: "webhook-tried" }>;
type TransformTried = Extract<OutboundReport, { type: "transform-tried" }>;
type Requested = Extract<OutboundReport, { type: "requested" }>;
type CallAnswer = Tried | TransformTried | Requested;

/** The notifier's end. */
export interface OutboundLink {
  send(command: OutboundCommand): void;
}

export class OutboundCalls {
  readonly #calls = new Requests<CallAnswer>();
  readonly #waiting = new Map<number, () => void>();
  readonly #want: () => void;
  #link: OutboundLink | undefined;
  #queued: OutboundCommand[] = [];
  #id = 0;

  /** `want` has the notifier started where it does not run. */
  constructor(want: () => void) {
    this.#want = want;
  }

  get isFull(): boolean {
    return this.#calls.size >= OUTBOUND_CALLS_MAX;
  }

  connect(link: OutboundLink): void {
    this.#link = link;
    for (const command of this.#queued.splice(0)) link.send(command);
  }

  /** The notifier has ended: whoever waits is told that no answer came. */
  disconnect(): void {
    this.#link = undefined;
    this.#calls.drop();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const ended of waiting) ended();
  }

  take(report: CallAnswer): void {
    this.#calls.settle(report);
  }

  /** One attempt of a webhook; undefined where no answer came. */
  async tryWebhook(target: WebhookTarget, eventId: string, event: string): Promise<Tried | undefined> {
    const answer = await this.#call((id) => ({ type: "webhook-try", id, target, eventId, event }));
    return answer?.type === "webhook-tried" ? answer : undefined;
  }

  /** Runs of a transform on events; undefined where no answer came. */
  async tryTransform(tenant: string, transform: Transform, events: readonly string[]): Promise<TransformTried | undefined> {
    const answer = await this.#call((id) => ({ type: "transform-trial", id, tenant, transform, events }));
    return answer?.type === "transform-tried" ? answer : undefined;
  }

  /** One request. Never rejects. */
  async request(request: TenantRequest): Promise<TenantAnswer> {
    const answer = await this.#call((id) => ({ type: "request", id, request }));
    if (answer?.type === "requested") return answer.answer;
    return { kind: "failed", error: "the notifier has ended, or gave no answer", mayHaveArrived: true, tookMs: 0 };
  }

  #call(command: (id: number) => OutboundCommand): Promise<CallAnswer | undefined> {
    const id = ++this.#id;
    return new Promise((resolve) => {
      const end = (answer: CallAnswer | undefined) => {
        this.#waiting.delete(id);
        resolve(answer);
      };
      this.#waiting.set(id, () => end(undefined));
      this.#calls.add(id, OUTBOUND_CALL_MS_MAX, { answered: end, late: () => end(undefined) });
      const made = command(id);
      if (this.#link !== undefined) this.#link.send(made);
      else {
        this.#queued.push(made);
        this.#want();
      }
    });
  }
}
