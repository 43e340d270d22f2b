// A coordinator, a notifier and receivers on a clock that a seed moves: alerts open, are acknowledged and end, attempts arrive or not, answers are late or lost, the
// notifier ends, the server is killed. Receivers remember what arrived, in its order; some refuse one alert of four for good, with all that was joined with it.
import { Notifier } from "../../src/actors/notifier/notifier.ts";
import type { ChannelSender } from "../../src/adapters/notify/channel-sender.ts";
import { hash128 } from "../../src/core/hashing/hash128.ts";
import type { AttemptOutcome } from "../../src/domain/delivery/delivery.ts";
import type { AlertMessage } from "../../src/domain/notification/alert-message.ts";
import type { DestinationSettings } from "../../src/domain/notification/destinations.ts";
import { emailMessage } from "../../src/domain/notification/email-message.ts";
import { episode, Rig } from "./coordinator-rig.ts";
import { NO_EVENTS } from "./notifier-senders.ts";

const NAMED = { named: [], enabled: true, initial: "" };
const DESTINATIONS: DestinationSettings = {
  chat: NAMED,
  pager: NAMED,
  email: { named: [], enabled: true, initial: "ops@example.com", allowedDomains: [] },
  oncall: { named: [], enabled: false, initial: null },
};
const OPTIONS = {
  watchdogIntervalMs: 60_000,
  seed: 1,
  notification: { routing: { destinations: DESTINATIONS, defaultChannels: null }, publicUrl: null, hints: [] },
};
/** Slow, so that messages are joined. */
const LIMITS = { chat: 0.2, pager: 2, email: 0.2, oncall: 5 };
const REFUSED_OF = 4;
const SERVICES = ["a", "b", "c"];
const TURNS_MAX = 60;

/** A message that arrived at a receiver: chat, pager or email. */
export interface Arrival {
  readonly receiver: string;
  readonly message: AlertMessage;
  /** What it was joined with, itself included. */
  readonly messages: readonly AlertMessage[];
  /** Message-ID of a mail; the receiver's own name for others. */
  readonly key: string;
}

interface Attempt {
  readonly receiver: string;
  readonly name: string | null;
  readonly messages: readonly AlertMessage[];
  readonly end: (outcome: AttemptOutcome) => void;
}

export class OutboxWorld {
  readonly arrivals: Arrival[] = [];
  rig: Rig;
  #notifier: Notifier | undefined;
  #attempts: Attempt[] = [];
  #random: number;
  /** Whether the wall clock is put back now and then: half of the seeds. Times of messages say nothing of their order then. */
  readonly stepsClock: boolean;
  readonly #refusesSome: boolean;
  #underWay: Promise<unknown> = Promise.resolve();
  /** Start of the open episode of each service. */
  readonly #open = new Map<string, number>();

  private constructor(rig: Rig, seed: number) {
    this.rig = rig;
    this.#random = seed * 2_654_435_761 + 1;
    this.stepsClock = seed % 2 === 0;
    this.#refusesSome = seed % 3 === 0;
  }

  static async open(seed: number): Promise<OutboxWorld> {
    const world = new OutboxWorld(await Rig.open({ ...OPTIONS, seed }), seed);
    world.#connect();
    return world;
  }

  /** One thing happens. */
  async act(): Promise<void> {
    const actions = [
      () => this.#fire(),
      () => this.#fire(),
      () => this.#close(),
      () => this.#close(),
      () => this.#acknowledge(),
      () => this.#endAttempt(true),
      () => this.#endAttempt(true),
      () => this.#endAttempt(true),
      () => this.#pass(this.#draw(4) === 0 ? 400_000 : 3_000),
      () => this.#pass(1_000),
      () => this.#putBack(),
      () => (this.#draw(3) === 0 ? this.#loseNotifier() : undefined),
      () => (this.#draw(3) === 0 ? this.#kill() : undefined),
    ];
    await actions[this.#draw(actions.length)]?.();
    await turns(this.#draw(TURNS_MAX));
  }

  /** All receivers answer, until nothing is left to be sent. */
  async settle(): Promise<void> {
    await this.#underWay;
    for (let rounds = 0; rounds < 2_000; rounds++) {
      await turns(TURNS_MAX);
      await this.rig.drain();
      while (this.#attempts.length > 0) this.#endAttempt(false);
      await turns(TURNS_MAX);
      if (this.depth === 0 && this.#attempts.length === 0) return;
      this.#pass(60_000);
    }
    throw new Error(`${this.depth} messages are left`);
  }

  /** Whether a receiver refuses what is said of an alert for good. */
  refuses(receiver: string, alertId: string): boolean {
    return this.#refusesSome && hash32(`${receiver} ${alertId}`) % REFUSED_OF === 0;
  }

  /** Rows of the table of what is to be sent. */
  get depth(): number {
    return this.rig.control.contents.get("outbox")?.size ?? 0;
  }

  /** All alerts as they are now, with their deliveries. */
  async alerts() {
    const { alerts } = (await this.rig.ask("alerts", { limit: "1000" })).body;
    return Promise.all(alerts.map(async ({ alert_id }: { alert_id: string }) => (await this.rig.ask("alert", {}, { alert_id })).body));
  }

  #draw(below: number): number {
    this.#random = (Math.imul(this.#random ^ (this.#random >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((this.#random ^ (this.#random >>> 13)) >>> 0) % below;
  }

  #connect(): void {
    const { outbox } = this.rig.coordinator.outbound;
    const attempts: Attempt[] = [];
    this.#attempts = attempts;
    const sender: ChannelSender = {
      send: ({ notifier }, messages, name) => new Promise((end) => attempts.push({ receiver: notifier, name, messages, end })),
    };
    const { rig } = this;
    const notifier = new Notifier(LIMITS, {
      channels: { chat: sender, pager: sender, email: sender, oncall: undefined },
      ...NO_EVENTS,
      nowMs: () => rig.nowMs,
      report: (reports) => {
        if (this.#notifier === notifier) void turns(this.#draw(5)).then(() => this.#notifier === notifier && outbox.take(reports));
      },
      wake: () => void notifier.step(),
    });
    this.#notifier = notifier;
    outbox.connect({
      send: (command) => {
        // It travels: what is sent first is there first.
        void turns(3).then(() => {
          if (this.#notifier !== notifier) return;
          notifier.take(command);
          notifier.step();
        });
      },
    });
  }

  #do(work: Promise<unknown>): void {
    this.#underWay = Promise.all([this.#underWay, work.catch(() => undefined)]);
  }

  #fire(): void {
    const serviceId = SERVICES[this.#draw(SERVICES.length)] as string;
    if (this.#open.has(serviceId)) return;
    this.rig.nowMs += 1;
    const startedAtMs = this.rig.nowMs;
    this.#open.set(serviceId, startedAtMs);
    this.#do(this.rig.take(episode({ serviceId, startedAtMs, observedAtMs: startedAtMs, z: 9, verdict: EXTREME })));
  }

  #close(): void {
    const [serviceId, startedAtMs] = [...this.#open][this.#draw(Math.max(1, this.#open.size))] ?? [];
    if (serviceId === undefined || startedAtMs === undefined) return;
    this.#open.delete(serviceId);
    this.#do(this.rig.take(episode({ serviceId, startedAtMs, transition: "close" })));
  }

  async #acknowledge(): Promise<void> {
    const { alerts } = (await this.rig.ask("alerts", { state: "firing" })).body;
    const alert = alerts[this.#draw(Math.max(1, alerts.length))];
    if (alert === undefined) return;
    this.rig.nowMs += 1; // another state, and so another key
    const principal = { tenant: "default", subject: "ada", role: "operator" } as const;
    await this.rig.askAs(principal, "acknowledgeAlert", { path: { alert_id: alert.alert_id }, content: {} });
  }

  /** An attempt ends: it arrived or not, and the answer says so, says otherwise or is lost. */
  #endAttempt(mayFail: boolean): void {
    const [attempt] = this.#attempts.splice(this.#draw(Math.max(1, this.#attempts.length)), 1);
    if (attempt === undefined) return;
    const kind = mayFail ? this.#draw(4) : 0;
    if (kind === 0 && attempt.messages.some(({ alertId }) => this.refuses(attempt.receiver, alertId))) {
      attempt.end({ kind: "failed", error: "refused" });
      return;
    }
    if (kind <= 1) this.#arrive(attempt);
    const retry = { kind: "retry", error: "no", afterMs: null } as const;
    if (kind === 0) attempt.end({ kind: "delivered" });
    else attempt.end({ ...retry, mayHaveArrived: kind !== 3 });
  }

  #arrive({ receiver, messages, name }: Attempt): void {
    if (messages.some(({ alertId }) => this.refuses(receiver, alertId))) return;
    const key = receiver === "email" ? emailMessage(messages, "ops@example.com", "example.com", name).messageId : receiver;
    for (const message of messages) this.arrivals.push({ receiver, message, messages, key });
  }

  #pass(ms: number): void {
    this.rig.nowMs += ms;
    this.rig.monotonicMs += ms;
    this.#notifier?.step();
  }

  #putBack(): void {
    if (!this.stepsClock || this.#draw(3) > 0) return;
    this.rig.nowMs -= 1_000 * (1 + this.#draw(60));
    this.#notifier?.step();
  }

  /** What was under way arrives or does not, and nobody hears of it. */
  #cut(): void {
    for (const attempt of this.#attempts) if (this.#draw(2) === 0) this.#arrive(attempt);
    this.#attempts = [];
    this.#notifier = undefined;
  }

  #loseNotifier(): void {
    this.#cut();
    this.rig.coordinator.outbound.outbox.disconnect();
    this.#connect();
  }

  async #kill(): Promise<void> {
    this.#cut();
    this.rig.coordinator.outbound.outbox.disconnect();
    this.rig.coordinator.outbound.outbox.stop();
    this.rig.control.kill();
    this.rig.series.kill();
    this.#underWay = Promise.resolve();
    const lost = this.rig.engines[0]?.frames ?? [];
    this.rig = await this.rig.restarted({ ...OPTIONS, nowMs: this.rig.nowMs + 1, seed: 1 + this.#draw(1_000) });
    this.rig.engines[0]?.frames.push(...lost);
    this.#connect();
    // What the log has is given again: an episode that is stored already changes nothing.
    for (const [serviceId, startedAtMs] of this.#open) {
      this.#do(this.rig.take(episode({ serviceId, startedAtMs, observedAtMs: startedAtMs, z: 9, verdict: EXTREME })));
    }
    await this.#underWay;
  }
}

/** So far beyond what its detector asks that its page waits for nothing. */
const EXTREME = { observed: 1, threshold: 0.3, baseline: { n: 120 }, gates: [{ name: "own_tail", passed: true }] };

function hash32(text: string): number {
  return Number.parseInt(hash128(text).slice(0, 8), 16);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}
