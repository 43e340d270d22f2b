/**
 * The notifier: sends what the coordinator has stored and hands back what became of it. It stores nothing and decides nothing: a queue for each receiver with its
 * rate, its flight, its order and its turns of tenants, so that a dead or slow one delays no other. `step` sends what is due and says when to call again.
 */
import type { ChannelSender } from "../../adapters/notify/channel-sender.ts";
import type { WebhookSender } from "../../adapters/webhooks/webhook-sender.ts";
import { ATTEMPT_MS_MAX, JOINED_MESSAGES_MAX, TRACKED_DESTINATIONS_MAX } from "../../core/config/notification-limits.ts";
import { RUNBOOK_REQUESTS_PER_TENANT_MAX } from "../../core/config/runbook-limits.ts";
import { WEBHOOK_FLIGHT_MAX } from "../../core/config/webhook-limits.ts";
import { after, background, fatal, task } from "../../core/faults/guard.ts";
import { messageOf } from "../../core/text/error-text.ts";
import type { AttemptOutcome } from "../../domain/delivery/delivery.ts";
import { type DestinationLimits, DestinationQueue } from "../../domain/delivery/destination-queue.ts";
import type { AlertMessage } from "../../domain/notification/alert-message.ts";
import type { Notifier as NotifierName } from "../../domain/notification/channel.ts";
import type { NotifyLimits } from "../../domain/notification/destination-secrets.ts";
import { type Destination, destinationKey } from "../../domain/notification/destinations.ts";
import type {
  DeliveryCommand,
  DeliveryContent,
  DeliveryReport,
  HandedDelivery,
  HandedKey,
  TenantRequest,
  WebhookTarget,
} from "../../domain/webhooks/outbound-messages.ts";

export interface NotifierDependencies {
  /** Those that are configured. */
  readonly channels: Readonly<Record<NotifierName, ChannelSender | undefined>>;
  readonly events: Pick<WebhookSender, "send" | "setKey">;
  /** Sends a request past the guard of tenants' URLs. Never rejects. */
  request(request: TenantRequest): Promise<AttemptOutcome>;
  nowMs(): number;
  report(reports: readonly DeliveryReport[]): void;
  /** Something may be due: call `step`. */
  wake(): void;
}

interface DestinationState {
  readonly deliveries: DestinationQueue<HandedDelivery>;
  /** When it may send again; null where it has nothing to. */
  dueAtMs: number | null;
  /** Messages that leave in one mail once it is stored. */
  joining: { readonly id: number; readonly deliveries: readonly HandedDelivery[] } | undefined;
}

const NOT_CONFIGURED: AttemptOutcome = { kind: "failed", error: "the notifier is not configured any more" };
const NO_ANSWER: AttemptOutcome = {
  kind: "retry",
  error: `no end in ${ATTEMPT_MS_MAX / 1_000} s`,
  afterMs: null,
  mayHaveArrived: true,
  answer: { statusCode: null, responseTimeMs: ATTEMPT_MS_MAX },
};
const LATE = task("an attempt that does not end");
const FAULT_CHARACTERS_MAX = 300;
/** The state of channels must be right, or the thread begins anew; of tenants' webhooks and runbooks each attempt stands alone. */
const HOMES = {
  channel: fatal("an attempt of a channel"),
  webhook: task("an attempt of a webhook"),
  step: task("a request of a runbook"),
};

export class Notifier {
  readonly #limits: NotifyLimits;
  readonly #dependencies: NotifierDependencies;
  readonly #destinations = new Map<string, DestinationState>();
  readonly #targets = new Map<string, WebhookTarget>();
  #underWay = 0;
  #joinings = 0;
  #isStopping = false;

  constructor(limits: NotifyLimits, dependencies: NotifierDependencies) {
    this.#limits = limits;
    this.#dependencies = dependencies;
  }

  /** Attempts that have no answer yet. */
  get underWay(): number {
    return this.#underWay;
  }

  /** Takes a command; the caller steps then. */
  take(command: DeliveryCommand): void {
    if (command.type === "recall") this.#recall(command);
    else if (command.type === "join") this.#join(command);
    else if (command.type === "webhook-key") this.#dependencies.events.setKey(command.privateKey);
    else if (command.type === "webhook-target") this.#targets.set(command.target.id, command.target);
    else if (command.type === "webhook-gone") this.#forget(command.webhookId);
    else for (const delivery of command.deliveries) this.#put(delivery);
  }

  /** Sends what is due; returns when the next is, null where nothing waits for a time. */
  step(): number | null {
    const nowMs = this.#dependencies.nowMs();
    let nextMs: number | null = null;
    for (const state of this.#destinations.values()) {
      if (state.dueAtMs !== null && state.dueAtMs <= nowMs) this.#send(state, nowMs);
      if (state.dueAtMs !== null) nextMs = Math.min(nextMs ?? state.dueAtMs, state.dueAtMs);
    }
    return nextMs;
  }

  /** Sends messages one after the other, as long as they are taken, outside of all order. */
  async tryChannel(destination: Destination, messages: readonly AlertMessage[]): Promise<AttemptOutcome> {
    const sender = this.#dependencies.channels[destination.notifier];
    let outcome = NOT_CONFIGURED;
    for (const message of sender === undefined ? [] : messages) {
      outcome = await this.#answered(() => sender?.send(destination, [message], null));
      if (outcome.kind !== "delivered") break;
    }
    return outcome;
  }

  /** Sends an event, outside of all order. */
  tryEvent(target: WebhookTarget, eventId: string, event: string): Promise<AttemptOutcome> {
    return this.#answered(() => this.#dependencies.events.send(target, eventId, event));
  }

  /** No attempt begins any more. */
  stop(): void {
    this.#isStopping = true;
  }

  #put(delivery: HandedDelivery): void {
    if (delivery.kind === "webhook" && !this.#targets.has(delivery.webhookId)) return; // it is gone by now
    const key = receiverKey(delivery);
    let state = this.#destinations.get(key);
    if (state === undefined) {
      this.#forgetIdle();
      state = { deliveries: new DestinationQueue(this.#limitsOf(delivery)), dueAtMs: null, joining: undefined };
      this.#destinations.set(key, state);
    }
    state.deliveries.put(delivery);
    state.dueAtMs = state.deliveries.nextAtMs(this.#dependencies.nowMs());
  }

  #limitsOf(content: DeliveryContent): DestinationLimits {
    if (content.kind === "webhook") return { perSecond: null, flightMax: WEBHOOK_FLIGHT_MAX, joinedMax: 1 };
    if (content.kind === "step") return { perSecond: null, flightMax: RUNBOOK_REQUESTS_PER_TENANT_MAX, joinedMax: 1 };
    const { notifier } = content.destination;
    const isJoined = notifier === "chat" || notifier === "email";
    return { perSecond: this.#limits[notifier], flightMax: 1, joinedMax: isJoined ? JOINED_MESSAGES_MAX : 1 };
  }

  /** Destinations come and go with their addresses; one that has been quiet needs no memory. */
  #forgetIdle(): void {
    if (this.#destinations.size < TRACKED_DESTINATIONS_MAX) return;
    const nowMs = this.#dependencies.nowMs();
    for (const [key, { deliveries }] of this.#destinations) if (deliveries.isIdle(nowMs)) this.#destinations.delete(key);
  }

  #forget(webhookId: string): void {
    this.#targets.delete(webhookId);
    this.#destinations.delete(webhookReceiver(webhookId));
  }

  #recall({ tenant, key, destination }: Extract<DeliveryCommand, { type: "recall" }>): void {
    const state = this.#destinations.get(destinationKey(destination));
    const recalled = state?.deliveries.remove(tenant, key);
    if (state === undefined || recalled === undefined) return; // under way: its outcome comes
    state.dueAtMs = state.deliveries.nextAtMs(this.#dependencies.nowMs());
    this.#dependencies.report([{ of: "channel", kind: "recalled", key, serial: recalled.serial }]);
  }

  #send(state: DestinationState, nowMs: number): void {
    while (!this.#isStopping) {
      const deliveries = state.deliveries.take(nowMs);
      const [first] = deliveries;
      if (first === undefined) break;
      if (deliveries.length > JOINED_MESSAGES_MAX) throw new Error(`${deliveries.length} messages in one`);
      // A mail is known by its Message-ID: it is repeated as it was, whatever ends in between.
      const isMail = first.kind === "channel" && first.destination.notifier === "email";
      if (isMail && first.joined === null && deliveries.length > 1) this.#askToJoin(state, first.destination, deliveries);
      else this.#begin(state, deliveries, first.joined);
    }
    state.dueAtMs = this.#isStopping ? null : state.deliveries.nextAtMs(nowMs);
  }

  #askToJoin(state: DestinationState, destination: Destination, deliveries: readonly HandedDelivery[]): void {
    const id = ++this.#joinings;
    state.joining = { id, deliveries };
    this.#dependencies.report([{ of: "channel", kind: "joining", id, destination, deliveries: deliveries.map(handedKey) }]);
  }

  #join({ id, destination, name }: Extract<DeliveryCommand, { type: "join" }>): void {
    const state = this.#destinations.get(destinationKey(destination));
    const { joining } = state ?? {};
    if (state === undefined || joining?.id !== id) return;
    state.joining = undefined;
    if (this.#isStopping) return;
    if (name !== null) {
      this.#begin(state, joining.deliveries, name);
      return;
    }
    for (const delivery of joining.deliveries.slice(1)) state.deliveries.put(delivery);
    this.#begin(state, joining.deliveries.slice(0, 1), null);
  }

  #begin(state: DestinationState, deliveries: readonly HandedDelivery[], name: string | null): void {
    const [first] = deliveries;
    if (first !== undefined) background(HOMES[first.kind], this.#attempt(state, first, deliveries, name));
  }

  async #attempt(
    state: DestinationState,
    first: HandedDelivery,
    deliveries: readonly HandedDelivery[],
    name: string | null,
  ): Promise<void> {
    const { nowMs, report, wake } = this.#dependencies;
    const sentAtMs = nowMs();
    const outcome = await this.#answered(() => this.#sent(first, deliveries, name));
    state.deliveries.done(first.kind === "webhook" && (outcome.kind === "retry" || outcome.kind === "failed"));
    const endedAtMs = nowMs();
    state.dueAtMs = state.deliveries.nextAtMs(endedAtMs);
    report([{ of: first.kind, kind: "attempted", deliveries: deliveries.map(handedKey), sentAtMs, endedAtMs, outcome }]);
    wake();
  }

  /** Sends; undefined where who would send is not there any more. */
  #sent(first: HandedDelivery, deliveries: readonly HandedDelivery[], name: string | null): Promise<AttemptOutcome> | undefined {
    const { channels, events, request } = this.#dependencies;
    if (first.kind === "step") return request(first.request);
    if (first.kind === "channel") {
      const messages = deliveries.flatMap((delivery) => (delivery.kind === "channel" ? [delivery.message] : []));
      return channels[first.destination.notifier]?.send(first.destination, messages, name);
    }
    const target = this.#targets.get(first.webhookId);
    return target && events.send(target, first.eventId, first.event);
  }

  async #answered(send: () => Promise<AttemptOutcome> | undefined): Promise<AttemptOutcome> {
    this.#underWay += 1;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<AttemptOutcome>((resolve) => {
      timer = after(ATTEMPT_MS_MAX, LATE, () => resolve(NO_ANSWER));
    });
    try {
      return (await Promise.race([send(), late])) ?? NOT_CONFIGURED;
    } catch (error) {
      return faultOf(error);
    } finally {
      clearTimeout(timer);
      this.#underWay -= 1;
    }
  }
}

function receiverKey(delivery: HandedDelivery): string {
  if (delivery.kind === "channel") return destinationKey(delivery.destination);
  return delivery.kind === "webhook" ? webhookReceiver(delivery.webhookId) : `runbooks of ${delivery.tenant}`;
}

function webhookReceiver(webhookId: string): string {
  return `webhook ${webhookId}`;
}

function handedKey({ key, serial }: HandedDelivery): HandedKey {
  return { key, serial };
}

/** A defect of a sender must not stop the others; the delivery is tried again. */
function faultOf(error: unknown): AttemptOutcome {
  const text = messageOf(error).slice(0, FAULT_CHARACTERS_MAX);
  const answer = { statusCode: null, responseTimeMs: 0, fault: true };
  return { kind: "retry", error: text, afterMs: null, mayHaveArrived: true, answer };
}
