/**
 * The notifier: sends what the coordinator has stored and hands back what became of it. It stores nothing and decides nothing about alerts: a lane for each
 * destination with its rate, its order and its turns of tenants, so that a dead receiver delays no other. `step` sends what is due and says when to call again.
 */
import { background, fatal } from "../../core/base/guard.ts";
import { JOINED_MESSAGES_MAX, LANES_MAX } from "../../core/config/notification-limits.ts";
import type { AttemptOutcome } from "../../domain/delivery/delivery.ts";
import type { AlertMessage } from "../../domain/notification/alert-message.ts";
import type { Notifier as NotifierName } from "../../domain/notification/channel.ts";
import { DestinationLane } from "../../domain/notification/destination-lane.ts";
import type { NotifyLimits } from "../../domain/notification/destination-secrets.ts";
import { type Destination, destinationKey } from "../../domain/notification/destinations.ts";
import type { DeliveryReport, HandedDelivery, HandedKey, NotifierCommand } from "../../domain/notification/notifier-messages.ts";
import { sendDue } from "./due-lanes.ts";

/** Sender of one notifier; `name` is that of a mail of several messages. Never rejects. */
export interface Sender {
  send(destination: Destination, messages: readonly AlertMessage[], name: string | null): Promise<AttemptOutcome>;
}

export interface NotifierDependencies {
  /** Those that are configured. */
  readonly senders: Readonly<Record<NotifierName, Sender | undefined>>;
  nowMs(): number;
  report(reports: readonly DeliveryReport[]): void;
  /** Something may be due: call `step`. */
  wake(): void;
}

interface Lane {
  readonly destination: Destination;
  readonly deliveries: DestinationLane<HandedDelivery>;
  /** When it may send again; null where it has nothing to. */
  dueAtMs: number | null;
  /** Messages that leave in one mail once it is stored. */
  joining: { readonly id: number; readonly deliveries: readonly HandedDelivery[] } | undefined;
}

const NOT_CONFIGURED: AttemptOutcome = { kind: "failed", error: "the notifier is not configured any more" };
const FAULT_CHARACTERS_MAX = 300;

export class Notifier {
  readonly #limits: NotifyLimits;
  readonly #dependencies: NotifierDependencies;
  readonly #lanes = new Map<string, Lane>();
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
  take(command: NotifierCommand): void {
    if (command.type === "recall") this.#recall(command);
    else if (command.type === "join") this.#join(command);
    else for (const delivery of command.deliveries) this.#put(delivery);
  }

  /** Sends what is due; returns when the next is, null where nothing waits for a time. */
  step(): number | null {
    const nowMs = this.#dependencies.nowMs();
    return sendDue(this.#lanes.values(), nowMs, (lane) => this.#send(lane, nowMs));
  }

  /** Sends messages one after the other, as long as they are taken. */
  async try(destination: Destination, messages: readonly AlertMessage[]): Promise<AttemptOutcome> {
    const sender = this.#dependencies.senders[destination.notifier];
    let outcome: AttemptOutcome = NOT_CONFIGURED;
    this.#underWay += 1;
    for (const message of sender === undefined ? [] : messages) {
      outcome = (await sender?.send(destination, [message], null).catch(faultOf)) ?? NOT_CONFIGURED;
      if (outcome.kind !== "delivered") break;
    }
    this.#underWay -= 1;
    return outcome;
  }

  /** No attempt begins any more. */
  stop(): void {
    this.#isStopping = true;
  }

  #put(delivery: HandedDelivery): void {
    const key = destinationKey(delivery.destination);
    let lane = this.#lanes.get(key);
    if (lane === undefined) {
      this.#forgetIdle();
      const { notifier } = delivery.destination;
      const joins = notifier === "chat" || notifier === "email";
      const deliveries = new DestinationLane<HandedDelivery>(this.#limits[notifier], joins);
      lane = { destination: delivery.destination, deliveries, dueAtMs: null, joining: undefined };
      this.#lanes.set(key, lane);
    }
    lane.deliveries.put(delivery);
    lane.dueAtMs = lane.deliveries.nextAtMs(this.#dependencies.nowMs());
  }

  /** Lanes come and go with their addresses; one that has been quiet needs no memory. */
  #forgetIdle(): void {
    if (this.#lanes.size < LANES_MAX) return;
    const nowMs = this.#dependencies.nowMs();
    for (const [key, { deliveries }] of this.#lanes) if (deliveries.isIdle(nowMs)) this.#lanes.delete(key);
  }

  #recall({ tenant, key, destination }: Extract<NotifierCommand, { type: "recall" }>): void {
    const lane = this.#lanes.get(destinationKey(destination));
    const recalled = lane?.deliveries.remove(tenant, key);
    if (lane === undefined || recalled === undefined) return; // under way: its outcome comes
    lane.dueAtMs = lane.deliveries.nextAtMs(this.#dependencies.nowMs());
    this.#dependencies.report([{ key, serial: recalled.serial, kind: "recalled" }]);
  }

  #send(lane: Lane, nowMs: number): void {
    const deliveries = this.#isStopping ? [] : lane.deliveries.take(nowMs);
    lane.dueAtMs = this.#isStopping ? null : lane.deliveries.nextAtMs(nowMs);
    const [first, ...others] = deliveries;
    if (first === undefined) return;
    if (deliveries.length > JOINED_MESSAGES_MAX) throw new Error(`${deliveries.length} messages in one`);
    // A mail is known by its Message-ID: it is repeated as it was, whatever ends in between.
    const isStoredFirst = lane.destination.notifier === "email" && first.joined === null && others.length > 0;
    if (isStoredFirst) this.#askToJoin(lane, deliveries);
    else this.#begin(lane, deliveries, first.joined);
  }

  #askToJoin(lane: Lane, deliveries: readonly HandedDelivery[]): void {
    const id = ++this.#joinings;
    lane.joining = { id, deliveries };
    this.#dependencies.report([{ kind: "joining", id, destination: lane.destination, deliveries: deliveries.map(handedKey) }]);
  }

  #join({ id, destination, name }: Extract<NotifierCommand, { type: "join" }>): void {
    const lane = this.#lanes.get(destinationKey(destination));
    const { joining } = lane ?? {};
    if (lane === undefined || joining?.id !== id) return;
    lane.joining = undefined;
    if (this.#isStopping) return;
    if (name !== null) {
      this.#begin(lane, joining.deliveries, name);
      return;
    }
    for (const delivery of joining.deliveries.slice(1)) lane.deliveries.put(delivery);
    this.#begin(lane, joining.deliveries.slice(0, 1), null);
  }

  #begin(lane: Lane, deliveries: readonly HandedDelivery[], name: string | null): void {
    background(fatal("an attempt of a channel"), this.#attempt(lane, deliveries, name));
  }

  async #attempt(lane: Lane, deliveries: readonly HandedDelivery[], name: string | null): Promise<void> {
    const { senders, nowMs, report, wake } = this.#dependencies;
    const sentAtMs = nowMs();
    const sender = senders[lane.destination.notifier];
    const messages = deliveries.map(({ message }) => message);
    this.#underWay += 1;
    const outcome = sender === undefined ? NOT_CONFIGURED : await sender.send(lane.destination, messages, name).catch(faultOf);
    this.#underWay -= 1;
    lane.deliveries.done();
    const endedAtMs = nowMs();
    lane.dueAtMs = lane.deliveries.nextAtMs(endedAtMs);
    report([{ kind: "attempted", deliveries: deliveries.map(handedKey), sentAtMs, endedAtMs, outcome }]);
    wake();
  }
}

function handedKey({ key, serial }: HandedDelivery): HandedKey {
  return { key, serial };
}

/** A defect of a sender must not stop the others; the message is tried again. */
function faultOf(error: unknown): AttemptOutcome {
  const text = error instanceof Error ? error.message : String(error);
  return { kind: "retry", error: text.slice(0, FAULT_CHARACTERS_MAX), afterMs: null, mayHaveArrived: true };
}
