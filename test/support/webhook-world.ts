// The outbox of webhooks, its dispatcher and receivers on a clock that a seed moves: anomalies are declared, rise and end, analyses name causes or none, attempts
// succeed, fail or are lost, the notifier ends, the server is killed, the clock is put back. Receivers remember what arrived.

import { CommittedState } from "../../src/actors/coordinator/nouns/committed-state.ts";
import { CONTROL_TABLES, SERIES_TABLES } from "../../src/actors/coordinator/nouns/modules.ts";
import { Notifier, type NotifierDependencies } from "../../src/actors/notifier/notifier.ts";
import { StoreError } from "../../src/adapters/storage/key-value-store.ts";
import { hash128 } from "../../src/core/hashing/hash128.ts";
import { COORDINATOR_SLOTS } from "../../src/core/layout/counters.ts";
import type { Anomaly } from "../../src/domain/anomaly/anomaly.ts";
import type { AttemptOutcome } from "../../src/domain/delivery/delivery.ts";
import { environmentSettings } from "../../src/domain/detection/watchdog-settings.ts";
import type { CauseCategory, Webhook } from "../../src/domain/webhooks/webhook.ts";
import type { RcaReport } from "../../src/modules/analysis/report-row.ts";
import { reportIdOf } from "../../src/modules/analysis/report-row.ts";
import { encodeAnomaly } from "../../src/modules/anomalies/anomaly-row.ts";
import { Outbox } from "../../src/modules/deliveries/outbox.ts";
import { CoordinatorCounters } from "../../src/modules/state/coordinator-counters.ts";
import { tenantTimeKey } from "../../src/modules/state/tables.ts";
import { EVENT_ROW } from "../../src/modules/webhooks/stored-event.ts";
import { WebhookDeliveries } from "../../src/modules/webhooks/webhook-deliveries.ts";
import type { WebhookDeliveryRow } from "../../src/modules/webhooks/webhook-row.ts";
import { type Generator, generator } from "./generator.ts";
import { MemoryStore } from "./memory-store.ts";
import { NO_CHANNELS, NO_EVENTS } from "./notifier-senders.ts";

const START_MS = Date.UTC(2026, 0, 31, 12);
const TENANT = "default";
const NO_LIMITS = { chat: 1, pager: 1, email: 1, oncall: 1 };
const KILLED = new Promise<never>(() => undefined);

const SUCCEEDED: AttemptOutcome = { kind: "delivered", answer: { statusCode: 204, responseTimeMs: 1 } };
const ANSWER = { statusCode: 503, responseTimeMs: 1 };
const FAILED: AttemptOutcome = { kind: "retry", error: "answered 503", afterMs: null, mayHaveArrived: true, answer: ANSWER };
const THROWN: AttemptOutcome = {
  kind: "failed",
  error: "transform: it throws",
  answer: { statusCode: null, responseTimeMs: 0, fault: true },
};
const GONE: AttemptOutcome = { kind: "failed", error: "answered 410", answer: { statusCode: 410, responseTimeMs: 1, gone: true } };

/** An event that a receiver has read; `body` is its JSON. */
export interface EventArrival {
  readonly webhook: string;
  readonly atMs: number;
  readonly body: string;
}

interface Attempt {
  readonly webhook: string;
  readonly eventId: string;
  readonly body: string;
  readonly end: (outcome: AttemptOutcome) => void;
}

export function webhookOf(name: string, change: Partial<Webhook> = {}): Webhook {
  return {
    id: hash128(name),
    tenant: TENANT,
    name,
    url: `https://${name}.example.com/`,
    method: "POST",
    headers: {},
    pattern: { serviceIdRegex: null, metricNameRegex: null, minAnomalyScore: null, rootCauseCategory: null, environments: null },
    transform: null,
    retry: { maxAttempts: 4, initialDelayMs: 1_000, backoffMultiplier: 2, maxDelayMs: 30_000 },
    secret: null,
    formerSecret: null,
    formerSecretUntilMs: 0,
    enabled: true,
    createdAtMs: START_MS,
    ...change,
  };
}

export class WebhookWorld {
  readonly arrivals: EventArrival[] = [];
  /** Anomalies as they are stored, by id. */
  readonly anomalies = new Map<string, Anomaly>();
  readonly causes = new Map<string, CauseCategory | null>();
  readonly random: Generator;
  nowMs = START_MS;
  control: MemoryStore;
  state: CommittedState;
  outbox: Outbox;
  webhooks: WebhookDeliveries;
  attempts: Attempt[] = [];
  /** A defect. */
  fault: unknown;
  mostInFlight = 0;
  #life = {};
  #notifier: Notifier | undefined;
  #timers: Array<{ readonly atMs: number; readonly run: () => void }> = [];
  #turn: Promise<unknown> = Promise.resolve();
  #reports = 0;
  readonly #seed: number;

  private constructor(seed: number, control: MemoryStore, state: CommittedState) {
    this.#seed = seed;
    this.random = generator(seed);
    this.control = control;
    this.state = state;
    [this.outbox, this.webhooks] = this.#makeOutbox();
  }

  /** A server with these webhooks. */
  static async open(seed: number, webhooks: readonly Webhook[]): Promise<WebhookWorld> {
    const control = new MemoryStore({ tables: CONTROL_TABLES, seed });
    const world = new WebhookWorld(seed, control, stateOf(control));
    await world.state.open(bytesOf, world.nowMs);
    for (const webhook of webhooks) {
      await control.commit([world.state.configured.webhooks.operation(webhook)]);
      world.state.configured.webhooks.put(webhook);
    }
    world.outbox.start();
    world.connect();
    return world;
  }

  draw(below: number): number {
    return Math.floor(this.random.uniform() * below);
  }

  /** Declares an anomaly as a transaction of the coordinator does. */
  declare(anomaly: Anomaly): Promise<void> {
    return this.#commit(anomaly.id, () => anomaly);
  }

  /** Changes one that is open. */
  change(id: string, changed: Partial<Anomaly>): Promise<void> {
    return this.#commit(id, (before) => (before === undefined || before.resolvedAtMs !== null ? undefined : { ...before, ...changed }));
  }

  #commit(id: string, make: (before: Anomaly | undefined) => Anomaly | undefined): Promise<void> {
    return this.#edit(async () => {
      const before = this.anomalies.get(id);
      const after = make(before);
      if (after === undefined) return;
      const draft = this.webhooks.draft();
      const row = { table: "anomalies", key: tenantTimeKey(TENANT, after.detectedAtMs, after.id), value: encodeAnomaly(after) };
      const life = this.#life;
      await this.control.commit([row, ...draft.operations([{ before, after, alert: undefined }])]);
      if (life !== this.#life) return;
      this.state.anomalies.put(after);
      this.anomalies.set(after.id, after);
      draft.apply();
    });
  }

  /** Stores a revision of the report of an anomaly, with a cause or without enough evidence for one. */
  revise(anomalyId: string, category: CauseCategory | null, isFinal: boolean): Promise<void> {
    return this.#edit(async () => {
      const report = reportOf(anomalyId, category, isFinal, this.nowMs, ++this.#reports);
      const life = this.#life;
      await this.control.commit(this.state.analyses.reports.operations(report));
      if (life !== this.#life) return;
      this.state.analyses.reports.put(report);
      this.causes.set(anomalyId, category);
      this.webhooks.reportRevised(report);
    });
  }

  pass(ms: number): void {
    this.nowMs += ms;
    const due = this.#timers.filter(({ atMs }) => atMs <= this.nowMs);
    this.#timers = this.#timers.filter(({ atMs }) => atMs > this.nowMs);
    for (const { run } of due) run();
    this.#notifier?.step();
  }

  /** An attempt ends: it arrived or not, and its answer says so, or something else. */
  endAttempt(how: "succeeds" | "fails" | "throws" | "arrives, and fails" | "is gone"): void {
    const [attempt] = this.attempts.splice(this.draw(Math.max(1, this.attempts.length)), 1);
    if (attempt !== undefined) this.end(attempt, how);
  }

  /** Ends an attempt that was taken out of those under way. */
  end(attempt: Attempt, how: "succeeds" | "fails" | "throws" | "arrives, and fails" | "is gone"): void {
    if (how === "succeeds" || how === "arrives, and fails") this.#arrive(attempt);
    attempt.end(how === "succeeds" ? SUCCEEDED : how === "is gone" ? GONE : how === "throws" ? THROWN : FAILED);
  }

  connect(): void {
    const attempts: Attempt[] = [];
    this.attempts = attempts;
    const events: NotifierDependencies["events"] = {
      setKey: () => undefined,
      send: ({ id, url }, eventId, body) =>
        new Promise((end) => {
          attempts.push({ webhook: new URL(url).hostname.split(".")[0] as string, eventId, body, end });
          const own = attempts.filter(({ webhook }) => hash128(webhook) === id).length;
          this.mostInFlight = Math.max(this.mostInFlight, own);
        }),
    };
    const notifier = new Notifier(NO_LIMITS, {
      channels: NO_CHANNELS,
      ...NO_EVENTS,
      events,
      nowMs: () => this.nowMs,
      report: (reports) => {
        if (this.#notifier === notifier) void turns(this.draw(5)).then(() => this.#notifier === notifier && this.outbox.take(reports));
      },
      wake: () => void notifier.step(),
    });
    this.#notifier = notifier;
    this.outbox.connect({
      send: (command) => {
        void turns(3).then(() => {
          if (this.#notifier !== notifier) return;
          notifier.take(command);
          notifier.step();
        });
      },
    });
  }

  /** The notifier ends: of what was under way some has arrived. */
  loseNotifier(): void {
    this.#cut();
    this.outbox.disconnect();
    this.connect();
  }

  /** kill -9, and another start over what was committed. */
  async kill(): Promise<void> {
    this.#cut();
    this.outbox.disconnect();
    this.outbox.stop();
    this.control.kill();
    this.#life = {};
    this.#turn = Promise.resolve();
    this.#timers = [];
    this.control = new MemoryStore({ tables: CONTROL_TABLES, seed: this.#seed + this.draw(1_000), contents: this.control.contents });
    this.state = stateOf(this.control);
    await this.state.open(bytesOf, this.nowMs);
    [this.outbox, this.webhooks] = this.#makeOutbox();
    this.outbox.start();
    this.anomalies.clear();
    for (const { id } of this.state.anomalies.index(TENANT).page({}, undefined, 1_000)) {
      this.anomalies.set(id, this.state.anomalies.find(TENANT, id) as Anomaly);
    }
    this.connect();
  }

  /** Rows as they are stored. */
  rows(): WebhookDeliveryRow[] {
    return [...(this.control.contents.get("webhook_deliveries")?.values() ?? [])].map((value) => EVENT_ROW.decode(value.slice()));
  }

  /** Events that came to nothing. */
  get letters(): number {
    return this.state.deadLetters.total;
  }

  /** Lets everything that is asked for come about. */
  async settled(): Promise<void> {
    await this.#turn;
    await turns(60);
    await this.#turn;
  }

  get waiting(): number {
    return this.state.shares.ledger("webhook_events_waiting").taken;
  }

  #makeOutbox(): [Outbox, WebhookDeliveries] {
    const life = this.#life;
    const outbox = new Outbox({
      control: this.control,
      nowMs: () => this.nowMs,
      randomBytes: bytesOf,
      edit: (work) => (life === this.#life ? this.#edit(work) : KILLED),
      sleep: (ms) => this.#sleep(ms),
    });
    const webhooks = new WebhookDeliveries(outbox, {
      state: this.state,
      counters: new CoordinatorCounters(new Float64Array(COORDINATOR_SLOTS)),
      nowMs: () => this.nowMs,
      sleep: (ms) => this.#sleep(ms),
      wantNotifier: () => undefined,
      signingKey: () => "",
      publicUrl: "https://vedette.example",
    });
    return [outbox, webhooks];
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((run) => this.#timers.push({ atMs: this.nowMs + ms, run }));
  }

  #edit<T>(work: () => Promise<T>): Promise<T> {
    const life = this.#life;
    const edited = this.#turn.then(() => (life === this.#life ? work() : KILLED));
    this.#turn = edited.catch((error: unknown) => {
      if (!(error instanceof StoreError)) this.fault ??= error;
    });
    return edited;
  }

  #arrive({ webhook, body }: Attempt): void {
    this.arrivals.push({ webhook, atMs: this.nowMs, body });
  }

  #cut(): void {
    for (const attempt of this.attempts) if (this.draw(2) === 0) this.#arrive(attempt);
    this.attempts = [];
    this.#notifier = undefined;
  }
}

export function anomalyOf(id: string, change: Partial<Anomaly> = {}): Anomaly {
  return {
    id: hash128(id),
    tenant: TENANT,
    environment: "production",
    serviceId: "shop",
    metricName: "latency_ms",
    attributes: {},
    direction: "high",
    detector: "z_score",
    startedAtMs: START_MS,
    detectedAtMs: START_MS,
    observedAtMs: START_MS,
    resolvedAtMs: null,
    resolvedBy: null,
    z: 9,
    verdict: { observed: 1 },
    explanation: "why",
    streams: 1,
    openStreams: 1,
    paging: { tier: "high", alertId: null, outcome: "paged", suppressedBy: null, decidedAtMs: START_MS, serial: 0, rcaTriggered: true },
    feedback: null,
    founder: null,
    ...change,
  };
}

export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await Promise.resolve();
}

function stateOf(control: MemoryStore): CommittedState {
  const settings = environmentSettings({ zThreshold: 3 });
  return new CommittedState({ control, series: new MemoryStore({ tables: SERIES_TABLES }) }, { settings, samplesMin: 12 });
}

function bytesOf(count: number): Uint8Array {
  return new Uint8Array(count).fill(7);
}

/** The report of an incident of one anomaly, with a cause or without enough evidence for one. */
export function reportOf(anomalyId: string, category: CauseCategory | null, isFinal: boolean, nowMs: number, revision: number): RcaReport {
  const evidence = [{ source: "metric", text: "it rose first", strength: 1 }] as const;
  return {
    id: reportIdOf(TENANT, anomalyId),
    tenant: TENANT,
    environment: "production",
    anomalyId,
    serviceId: "shop",
    metricName: "latency_ms",
    anomalies: [anomalyId],
    anomalyCount: 1,
    createdAtMs: START_MS,
    onsetMs: START_MS,
    evidenceUntilMs: nowMs,
    revision,
    isFinal,
    analysis: {
      enough: category !== null,
      candidates: category === null ? [] : [{ serviceId: "shop", metricName: "latency_ms", instance: null, score: 1, evidence }],
      category: category ?? "unknown",
      confidence: 0.8,
      firstSymptom: null,
      impact: [],
      numbers: {},
      lookedAt: { services: 1, series: 1, lines: 0, operations: 0, calls: 0, changes: 0 },
    },
    revisions: [],
    signature: [],
  };
}
