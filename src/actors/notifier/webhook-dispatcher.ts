/**
 * Webhooks in the notifier: a lane for each with its flight, so that one whose receiver is slow or dead delays no other. `step` sends what is due and says when to
 * call again.
 */
import { background, task } from "../../core/base/guard.ts";
import type { AttemptOutcome } from "../../domain/delivery/delivery.ts";
import { WebhookLane } from "../../domain/webhooks/webhook-lane.ts";
import type { EventCommand, HandedEvent, WebhookReports, WebhookTarget } from "../../domain/webhooks/webhook-messages.ts";
import { sendDue } from "./due-lanes.ts";

/** Sender of one attempt. Never rejects. */
export interface EventSender {
  setKey(privateKey: string): void;
  send(target: WebhookTarget, eventId: string, event: string): Promise<AttemptOutcome>;
}

export interface WebhookDispatcherDependencies {
  readonly sender: EventSender;
  nowMs(): number;
  report(reports: WebhookReports): void;
  /** Something may be due: call `step`. */
  wake(): void;
}

interface Lane {
  target: WebhookTarget;
  readonly events: WebhookLane<HandedEvent>;
  dueAtMs: number | null;
}

const FAULT_CHARACTERS_MAX = 300;

export class WebhookDispatcher {
  readonly #dependencies: WebhookDispatcherDependencies;
  readonly #lanes = new Map<string, Lane>();
  #underWay = 0;
  #isStopping = false;

  constructor(dependencies: WebhookDispatcherDependencies) {
    this.#dependencies = dependencies;
  }

  get underWay(): number {
    return this.#underWay;
  }

  /** Takes a command; the caller steps then. */
  take(command: EventCommand): void {
    const { sender } = this.#dependencies;
    if (command.type === "webhook-key") sender.setKey(command.privateKey);
    else if (command.type === "webhook-target") this.#aim(command.target);
    else if (command.type === "webhook-gone") this.#lanes.delete(command.webhookId);
    else if (command.type === "webhook-events") for (const event of command.events) this.#put(event);
    else background(task("a try of a webhook"), this.#try(command));
  }

  step(): number | null {
    const nowMs = this.#dependencies.nowMs();
    return sendDue(this.#lanes.values(), nowMs, (lane) => this.#send(lane, nowMs));
  }

  /** No attempt begins any more. */
  stop(): void {
    this.#isStopping = true;
  }

  #aim(target: WebhookTarget): void {
    const lane = this.#lanes.get(target.id);
    if (lane === undefined) this.#lanes.set(target.id, { target, events: new WebhookLane(), dueAtMs: null });
    else lane.target = target;
  }

  #put(event: HandedEvent): void {
    const lane = this.#lanes.get(event.webhookId);
    if (lane === undefined) return; // it is gone by now
    lane.events.put(event);
    lane.dueAtMs = lane.events.nextAtMs();
  }

  #send(lane: Lane, nowMs: number): void {
    const events = this.#isStopping ? [] : lane.events.take(nowMs);
    lane.dueAtMs = this.#isStopping ? null : lane.events.nextAtMs();
    for (const event of events) background(task("an attempt of a webhook"), this.#attempt(lane, event, nowMs));
  }

  async #attempt(lane: Lane, { key, serial, eventId, event }: HandedEvent, sentAtMs: number): Promise<void> {
    const { nowMs, report, wake } = this.#dependencies;
    const outcome = await this.#outcome(lane.target, eventId, event);
    lane.events.done(outcome.kind === "delivered" || outcome.kind === "dropped");
    lane.dueAtMs = lane.events.nextAtMs();
    report({ type: "webhook-reports", reports: [{ key, serial, sentAtMs, endedAtMs: nowMs(), outcome }] });
    wake();
  }

  async #try({ id, target, eventId, event }: Extract<EventCommand, { type: "webhook-try" }>): Promise<void> {
    const attemptedAtMs = this.#dependencies.nowMs();
    const outcome = await this.#outcome(target, eventId, event);
    this.#dependencies.report({ type: "webhook-tried", id, attemptedAtMs, outcome });
  }

  async #outcome(target: WebhookTarget, eventId: string, event: string): Promise<AttemptOutcome> {
    this.#underWay += 1;
    const outcome = await this.#dependencies.sender.send(target, eventId, event).catch(faultOf);
    this.#underWay -= 1;
    return outcome;
  }
}

/** A defect of the sender must not stop the others. */
function faultOf(error: unknown): AttemptOutcome {
  const text = (error instanceof Error ? error.message : String(error)).slice(0, FAULT_CHARACTERS_MAX);
  const answer = { statusCode: null, responseTimeMs: 0, fault: true };
  return { kind: "retry", error: text, afterMs: null, mayHaveArrived: true, answer };
}
