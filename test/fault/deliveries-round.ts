// A server that tells people and is killed again and again while it does: alerts are declared, acknowledged and resolved, receivers answer, refuse or hang up, and
// kill -9 falls at a random moment of the deliveries. What was acknowledged to whoever asked is remembered; what was cut off may have come about or not.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FakeReceivers } from "../support/fake-receivers.ts";
import { type Generator, generator } from "../support/generator.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import type { ServerBench, ServerProcess, ServerSettings } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { WebhookReceiver } from "../support/webhook-receiver.ts";

const KEY = "0123456789abcdef0123456789abcdef";
/** A kill comes with the message of this number behind its start at the latest, or so many milliseconds after. */
const MESSAGES_MAX = 12;
const DELAY_MS_MAX = 15;
const STEPS_PER_ROUND = 6;

interface Declared {
  readonly anomalyId: string;
  readonly alertId: string;
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all shapes
type Json = any;

export class DeliveriesRound {
  readonly receivers: FakeReceivers;
  readonly events: WebhookReceiver;
  /** Those that were answered. */
  readonly declared: Declared[] = [];
  kills = 0;
  readonly #bench: ServerBench;
  readonly #random: Generator;
  readonly #folder: string;
  #token = "";
  #services = 0;
  #onMessage: () => void = () => undefined;

  private constructor(bench: ServerBench, seed: number, receivers: FakeReceivers, events: WebhookReceiver) {
    this.#bench = bench;
    this.#random = generator(seed);
    this.#folder = bench.dataFolder();
    this.receivers = receivers;
    this.events = events;
    receivers.behaviour = () => this.#arrived();
    events.answer = () => ({ status: this.#arrived() ?? 200 });
  }

  static async open(bench: ServerBench, seed: number): Promise<DeliveriesRound> {
    return new DeliveriesRound(bench, seed, await FakeReceivers.open(), await WebhookReceiver.open());
  }

  close(): void {
    this.receivers.close();
    this.events.close();
  }

  /** Kills it so often; then receivers answer, and what waits is told. Returns the server that has told everything. */
  async run(kills: number): Promise<ServerProcess> {
    for (; this.kills < kills; this.kills++) {
      const server = await this.#start();
      if (this.kills === 0) await this.#call(server, "POST", "/webhooks", WEBHOOK(this.events.origin));
      const killed = this.#killLater(server);
      for (let step = 0; step < STEPS_PER_ROUND; step++) await this.#act(server).catch(() => undefined);
      await killed;
    }
    this.receivers.behaviour = () => undefined;
    this.events.answer = () => ({ status: 200 });
    const server = await this.#start();
    await this.#drained(server);
    return server;
  }

  /** All alerts as they are, with their deliveries. */
  async alerts(server: ServerProcess): Promise<Json[]> {
    const alerts: Json[] = [];
    for (let token = ""; ; ) {
      const page = await this.#call(server, "GET", `/alerts?limit=200${token === "" ? "" : `&page_token=${token}`}`);
      alerts.push(...page.alerts);
      token = page.page_token;
      if (token === "") return alerts;
    }
  }

  get #settings(): ServerSettings {
    return {
      ENGINES: "1",
      DATA_DIR: this.#folder,
      CHAT_WEBHOOK_URL: `${this.receivers.origin}/slack/T/B/x`,
      PAGER_ROUTING_KEY: KEY,
      PAGER_URL: `${this.receivers.origin}/pd/v2/enqueue`,
      NOTIFY_LIMITS: "chat=1000,pager=1000",
      WEBHOOK_ALLOW_PRIVATE: "true",
      ALERT_DEDUP_MAX_AGE_MINUTES: "60",
    };
  }

  async #start(): Promise<ServerProcess> {
    const server = await this.#bench.start(this.#settings);
    this.#token = readFileSync(join(this.#folder, "admin-token"), "utf8").trim();
    return server;
  }

  /** How a receiver answers what has come; undefined as it always does. */
  #arrived(): number | undefined {
    this.#onMessage();
    return this.#random.uniform() < 0.2 ? 503 : undefined;
  }

  async #killLater(server: ServerProcess): Promise<void> {
    const messages = 1 + Math.floor(this.#random.uniform() * MESSAGES_MAX);
    const delayMs = this.#random.uniform() * DELAY_MS_MAX;
    let seen = 0;
    const moment = new Promise<void>((resolve) => {
      this.#onMessage = () => {
        seen += 1;
        if (seen === messages) resolve();
      };
    });
    // Not every round has so many messages.
    await Promise.race([moment, new Promise((resolve) => setTimeout(resolve, 400))]);
    await new Promise((resolve) => setTimeout(resolve, delayMs));
    await server.kill();
  }

  async #act(server: ServerProcess): Promise<void> {
    const kind = this.#random.uniform();
    const one = this.declared[this.declared.length - 1 - Math.floor(this.#random.uniform() * Math.min(12, this.declared.length))];
    if (one === undefined || kind < 0.5) {
      const body = { service_id: `service-${++this.#services}`, severity: "high", explanation: "it is down" };
      const { anomaly_id: anomalyId, alert_id: alertId } = await this.#call(server, "POST", "/anomalies", body);
      this.declared.push({ anomalyId, alertId });
    } else if (kind < 0.85) await this.#call(server, "PATCH", `/anomalies/${one.anomalyId}`, { resolved: true });
    else await this.#call(server, "POST", `/alerts/${one.alertId}/acknowledge`, {});
  }

  async #call(server: ServerProcess, method: string, path: string, body?: unknown): Promise<Json> {
    const headers = { authorization: `Bearer ${this.#token}`, ...(body !== undefined && { "content-type": "application/json" }) };
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const response = await fetch(`${server.origin}/api/v1${path}`, { method, headers, ...sent });
    const text = await response.text();
    if (response.status >= 300) throw new Error(`${method} ${path} says ${response.status}: ${text}`);
    return JSON.parse(text);
  }

  async #drained(server: ServerProcess): Promise<void> {
    const left = async () => {
      const metrics = await (await fetch(`${server.origin}/metrics`)).text();
      const depth = (name: string) => Number(new RegExp(`^${name} (\\d+)`, "m").exec(metrics)?.[1] ?? Number.NaN);
      return { messages: depth("vedette_outbox_depth"), events: depth("vedette_webhook_outbox_depth") };
    };
    const isEmpty = ({ messages, events }: { messages: number; events: number }) => messages === 0 && events === 0;
    await until("no messages and events are left", left, isEmpty, { patienceMs: PATIENCE_MS });
  }
}

const WEBHOOK = (url: string) => ({
  name: "hook",
  url,
  retry: { max_attempts: 20, initial_delay_ms: 20, backoff_multiplier: 1.5, max_delay_ms: 500 },
});
