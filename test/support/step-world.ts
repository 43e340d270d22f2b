// Runs of runbooks, the outbox, a notifier and a receiver on a clock that a seed moves: runs begin and are cancelled, requests arrive or not, answers are refusals, late or
// lost, the notifier ends, the server is killed. The receiver counts what it was asked for, by key.
import { Notifier } from "../../src/actors/notifier/notifier.ts";
import type { AttemptOutcome } from "../../src/domain/delivery/delivery.ts";
import { Rig } from "./coordinator-rig.ts";
import { type Generator, generator } from "./generator.ts";
import { NO_CHANNELS, NO_EVENTS } from "./notifier-senders.ts";

const OPTIONS = { seed: 1, sleepsForEver: true };
const OWNER = { tenant: "default", subject: "ada", role: "admin" } as const;
const NO_LIMITS = { chat: 1, pager: 1, email: 1, oncall: 1 };
/** By its place. */
export const STEPS = [
  { name: "a", type: "http", url: "https://example.com/a", method: "POST", idempotent: false },
  { name: "b", type: "http", url: "https://example.com/b", method: "POST", idempotent: true },
  { name: "c", type: "annotate", text: "noted" },
  { name: "d", type: "http", url: "https://example.com/d", method: "POST", idempotent: false },
] as const;
const RUNBOOKS = 6;
const TURNS_MAX = 40;

interface Attempt {
  readonly key: string;
  readonly end: (outcome: AttemptOutcome) => void;
}

/** A run as its answer shows it. */
export interface ShownRun {
  readonly execution_id: string;
  readonly state: string;
  readonly steps: ReadonlyArray<{ readonly state: string; readonly attempts: number }>;
}

export class StepWorld {
  /** Requests that arrived, by their key. */
  readonly heard = new Map<string, number>();
  readonly #random: Generator;
  readonly #runs: string[] = [];
  #rig: Rig;
  #notifier: Notifier | undefined;
  #attempts: Attempt[] = [];
  #begun = 0;
  kills = 0;
  mostInFlight = 0;

  private constructor(rig: Rig, seed: number) {
    this.#rig = rig;
    this.#random = generator(seed);
  }

  static async open(seed: number): Promise<StepWorld> {
    const world = new StepWorld(await Rig.open({ ...OPTIONS, seed }), seed);
    for (let one = 0; one < RUNBOOKS; one++) {
      const content = { id: `r${one}`, name: `r${one}`, match: { min_anomaly_score: 0 }, steps: STEPS };
      const { status } = await world.#rig.askAs(OWNER, "createRunbook", { content });
      if (status !== 201) throw new Error(`a runbook was refused: ${status}`);
    }
    world.#connect();
    return world;
  }

  draw(below: number): number {
    return Math.floor(this.#random.uniform() * below);
  }

  /** One thing happens. */
  async act(): Promise<void> {
    const actions: ReadonlyArray<() => unknown> = [
      () => this.#begin(),
      () => this.#begin(),
      () => this.#endAttempt(),
      () => this.#endAttempt(),
      () => this.#endAttempt(),
      () => this.#pass(this.draw(4) === 0 ? 3_600_000 : 1_000),
      () => (this.draw(4) === 0 ? this.#cancel() : undefined),
      () => (this.draw(3) === 0 ? this.#loseNotifier() : undefined),
      () => (this.draw(3) === 0 ? this.#kill() : undefined),
    ];
    await actions[this.draw(actions.length)]?.();
    await turns(this.draw(TURNS_MAX));
  }

  /** All requests are answered, until no run goes on. */
  async settle(): Promise<ShownRun[]> {
    for (let round = 0; round < 400; round++) {
      await turns(TURNS_MAX);
      await this.#rig.drain();
      while (this.#attempts.length > 0) this.#arrive(true);
      this.#pass(1_000);
      const runs = await this.#shown();
      if (runs.every(({ state }) => state !== "running")) return runs;
    }
    throw new Error("some runs do not come to an end");
  }

  #shown(): Promise<ShownRun[]> {
    return Promise.all(this.#runs.map(async (id) => (await this.#rig.askAs(OWNER, "execution", { path: { id } })).body));
  }

  async #begin(): Promise<void> {
    const id = `r${this.#begun++ % RUNBOOKS}`;
    const { status, body } = await this.#rig.askAs(OWNER, "executeRunbook", { path: { id }, content: {} });
    if (status === 201) this.#runs.push(body.execution_id);
  }

  async #cancel(): Promise<void> {
    const id = this.#runs[this.draw(Math.max(1, this.#runs.length))];
    if (id !== undefined) await this.#rig.askAs(OWNER, "cancelExecution", { path: { id }, content: {} });
  }

  /** It arrives or not, and is taken, refused, or nobody knows. */
  #endAttempt(): void {
    const how = this.draw(6);
    if (how < 3) this.#arrive(true);
    else if (how === 3) this.#arrive(false);
    else this.#drop(how === 4);
  }

  #next(): Attempt | undefined {
    return this.#attempts.splice(this.draw(Math.max(1, this.#attempts.length)), 1)[0];
  }

  #arrive(isTaken: boolean): void {
    const attempt = this.#next();
    if (attempt === undefined) return;
    this.#hear(attempt);
    const answer = { statusCode: isTaken ? 200 : 500, responseTimeMs: 1, text: "" };
    attempt.end(isTaken ? { kind: "delivered", answer } : { kind: "failed", error: "answered 500", answer });
  }

  /** No answer comes; it arrived where `arrives`. */
  #drop(arrives: boolean): void {
    const attempt = this.#next();
    if (attempt === undefined) return;
    if (arrives) this.#hear(attempt);
    attempt.end({ kind: "retry", error: "no answer", afterMs: null, mayHaveArrived: true });
  }

  #hear({ key }: Attempt): void {
    this.heard.set(key, (this.heard.get(key) ?? 0) + 1);
  }

  #connect(): void {
    const { outbound } = this.#rig.coordinator;
    const attempts: Attempt[] = [];
    this.#attempts = attempts;
    const rig = this.#rig;
    const notifier = new Notifier(NO_LIMITS, {
      channels: NO_CHANNELS,
      events: NO_EVENTS.events,
      request: ({ headers }) =>
        new Promise((end) => {
          attempts.push({ key: headers["idempotency-key"] as string, end });
          this.mostInFlight = Math.max(this.mostInFlight, attempts.length);
        }),
      nowMs: () => rig.nowMs,
      report: (reports) => {
        void turns(this.draw(5)).then(() => this.#notifier === notifier && outbound.take({ type: "reports", reports }));
      },
      wake: () => void notifier.step(),
    });
    this.#notifier = notifier;
    outbound.outbox.connect({
      send: (command) => {
        void turns(3).then(() => {
          if (this.#notifier !== notifier) return;
          notifier.take(command);
          notifier.step();
        });
      },
    });
  }

  #pass(ms: number): void {
    this.#rig.nowMs += ms;
    this.#rig.monotonicMs += ms;
    this.#notifier?.step();
  }

  /** What was under way arrives or does not, and nobody hears of it. */
  #cut(): void {
    for (const attempt of this.#attempts) if (this.draw(2) === 0) this.#hear(attempt);
    this.#attempts = [];
    this.#notifier = undefined;
  }

  #loseNotifier(): void {
    this.#cut();
    this.#rig.coordinator.outbound.outbox.disconnect();
    this.#connect();
  }

  async #kill(): Promise<void> {
    this.kills += 1;
    this.#cut();
    const { outbound } = this.#rig.coordinator;
    outbound.disconnect();
    outbound.stop();
    this.#rig.control.kill();
    this.#rig.series.kill();
    this.#rig = await this.#rig.restarted({ ...OPTIONS, nowMs: this.#rig.nowMs + 1, seed: 1 + this.draw(1_000) });
    this.#connect();
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}
