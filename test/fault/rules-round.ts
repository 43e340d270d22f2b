// A server with rules that is killed again and again while they are pending and fire: a sender goes on beside it, each life brings new faults and ends old ones.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compressSync } from "snappy";
import { FakeReceivers } from "../support/fake-receivers.ts";
import { type Generator, generator } from "../support/generator.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { encodeBody, type Series } from "../support/remote-write-body.ts";
import type { ServerBench, ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const KEY = "0123456789abcdef0123456789abcdef";
/** A kill comes so long after the start at most, or after the first evaluation. */
const LIFE_MS_MAX = 2_500;
/** Share of lives with an evaluation, however slow the machine is. */
const EVALUATED_SHARE = 0.8;
const FEED_MS = 150;
/** Lives that a fault lasts: some end within a pause, some while it is told. */
const FAULT_LIVES_MAX = 3;
/** How long the two faults of before the first start have lasted. */
export const LASTED_MS = 31 * 60_000;

/** The interval of the rules' group: moments are whole seconds apart, over all lives. */
export const INTERVAL_MS = 1_000;
/** A level that is no number is no fault, and detection does not judge it. */
const OVER = Number.NaN;
const LEVELS = { At0: 1, In2s: 2, In1h: 3, In30m: 4 } as const;
const HOLDS: Readonly<Record<Fault, string>> = { At0: "0s", In2s: "2s", In1h: "1h", In30m: "30m" };

/** Names of the rules, by how long their `for` is. */
export type Fault = keyof typeof LEVELS;

const RULES = {
  groups: [
    {
      name: "killed",
      interval: `${INTERVAL_MS}ms`,
      rules: [
        { record: "killed:beat:max", expr: "max(beat)" },
        ...Object.entries(LEVELS).map(([alert, level]) => ({
          alert,
          expr: `fault == ${level}`,
          for: HOLDS[alert as Fault],
          labels: { severity: "critical" },
        })),
      ],
    },
  ],
};

/** An alert as /prometheus/api/v1/alerts shows it. */
export interface ShownAlert {
  readonly labels: Readonly<Record<string, string>>;
  readonly state: "pending" | "firing";
  readonly activeAt: string;
}

/** A message to the pager, with how many kills were before it. */
export interface Page {
  readonly service: string;
  readonly action: string;
  readonly key: string;
  readonly life: number;
}

/** A sample that was sent, and when it was answered. */
export interface Beat {
  readonly timeMs: number;
  readonly answeredMs: number;
}

export class RulesRound {
  readonly beats: Beat[] = [];
  /** What each service has ever had, and in which life that began. */
  readonly faults = new Map<string, { readonly fault: Fault; readonly life: number }>();
  /** Services whose fault ended before the last kill. */
  readonly endedEarly = new Set<string>();
  readonly beganMs = Date.now();
  readonly killedMs: number[] = [];
  readonly #bench: ServerBench;
  readonly #random: Generator;
  readonly #receivers: FakeReceivers;
  readonly #levels = new Map<string, number>();
  readonly #settings: Readonly<Record<string, string>>;
  #server: ServerProcess | undefined;
  #isClosed = false;

  private constructor(bench: ServerBench, seed: number, receivers: FakeReceivers) {
    this.#bench = bench;
    this.#random = generator(seed);
    this.#receivers = receivers;
    const folder = bench.dataFolder();
    const rules = join(folder, "rules");
    mkdirSync(rules);
    writeFileSync(join(rules, "rules.json"), JSON.stringify(RULES));
    this.#settings = {
      ENGINES: "1",
      DATA_DIR: join(folder, "data"),
      RULES_DIR: rules,
      PAGER_ROUTING_KEY: KEY,
      PAGER_URL: `${receivers.origin}/pd/v2/enqueue`,
      NOTIFY_LIMITS: "pager=1000",
    };
  }

  static async open(bench: ServerBench, seed: number): Promise<RulesRound> {
    return new RulesRound(bench, seed, await FakeReceivers.open());
  }

  close(): void {
    this.#isClosed = true;
    this.#receivers.close();
  }

  get kills(): number {
    return this.killedMs.length;
  }

  /** What the pager has heard, in its order. */
  get pages(): Page[] {
    return this.#receivers.at("/pd/").map(({ atMs, body }) => ({
      service: body.payload?.source ?? "",
      action: body.event_action,
      key: body.dedup_key,
      life: this.killedMs.filter((killedMs) => killedMs <= atMs).length,
    }));
  }

  /** Kills it so often; then nothing but what has lasted goes on. Returns the server that has told everything. */
  async run(kills: number): Promise<ServerProcess> {
    let server = await this.#start();
    void this.#feed();
    await this.#beginLasting(server);
    while (this.kills < kills) {
      this.#change();
      if (this.#random.uniform() < EVALUATED_SHARE) await this.#evaluated(server);
      await pause(LIFE_MS_MAX * this.#random.uniform());
      await server.kill();
      this.killedMs.push(Date.now());
      server = await this.#start();
    }
    await this.#settled(server);
    return server;
  }

  /** Alerts of rules that are pending or fire. */
  async shown(server: ServerProcess): Promise<ShownAlert[]> {
    return (await server.get<{ data: { alerts: ShownAlert[] } }>("/prometheus/api/v1/alerts")).data.alerts;
  }

  async #start(): Promise<ServerProcess> {
    this.#server = await this.#bench.start(this.#settings);
    return this.#server;
  }

  /** `for` of them has begun before the server did: an hour of it is not over, half an hour is. */
  async #beginLasting(server: ServerProcess): Promise<void> {
    for (const fault of ["In1h", "In30m"] as const) this.#begin(fault);
    const seconds = Math.floor((this.beganMs - LASTED_MS) / 1_000);
    const series = [...this.faults].map(([service, { fault }]) => ({
      labels: labelsOf("ALERTS_FOR_STATE", { alertname: fault, service_id: service, severity: "critical" }),
      samples: [{ time: Date.now(), value: seconds }],
    }));
    await this.#send(server, series);
    const hasBoth = (alerts: readonly ShownAlert[]) =>
      alerts.filter(({ activeAt }) => Date.parse(activeAt) < this.beganMs - 60_000).length === 2;
    await until("`for` goes on from before the start", () => this.shown(server), hasBoth, { patienceMs: PATIENCE_MS });
  }

  async #evaluated(server: ServerProcess): Promise<void> {
    const hasAlerts = (alerts: readonly ShownAlert[]) => alerts.length > 0;
    await until("rules are evaluated", () => this.shown(server), hasAlerts, { patienceMs: PATIENCE_MS });
  }

  #begin(fault: Fault): void {
    const service = `service-${this.faults.size}`;
    this.faults.set(service, { fault, life: this.kills });
    this.#levels.set(service, LEVELS[fault]);
  }

  #change(): void {
    for (const [service, { life }] of this.faults) {
      const isOver = this.kills - life >= 1 + Math.floor(FAULT_LIVES_MAX * this.#random.uniform());
      if (!this.#isShort(service) || !isOver) continue;
      this.#levels.set(service, OVER);
      this.endedEarly.add(service);
    }
    for (const fault of ["At0", "In2s"] as const) this.#begin(fault);
  }

  /** Sends without end; what a kill cuts off is sent no more. */
  async #feed(): Promise<void> {
    for (; !this.#isClosed; await pause(FEED_MS)) {
      const timeMs = Date.now();
      const faults = [...this.#levels].map(([service, value]) => ({
        labels: labelsOf("fault", { service_id: service }),
        samples: [{ time: timeMs, value }],
      }));
      const beat = { labels: labelsOf("beat", { service_id: "beat" }), samples: [{ time: timeMs, value: timeMs }] };
      const isSent = await this.#send(this.#server as ServerProcess, [beat, ...faults]).catch(() => false);
      if (isSent) this.beats.push({ timeMs, answeredMs: Date.now() });
    }
  }

  async #send(server: ServerProcess, series: readonly Series[]): Promise<boolean> {
    const headers = { "content-type": "application/x-protobuf", "content-encoding": "snappy" };
    const body = compressSync(Buffer.from(encodeBody(series)));
    return (await fetch(`${server.origin}/api/v1/rwmetrics/write`, { method: "POST", headers, body })).status === 204;
  }

  /** All that is short fires or is over; then it ends, and everybody has heard. */
  async #settled(server: ServerProcess): Promise<void> {
    const isFiring = (alerts: readonly ShownAlert[]) => {
      const firing = new Set(alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels.service_id));
      return [...this.#levels].every(([service, level]) => Number.isNaN(level) || level === LEVELS.In1h || firing.has(service));
    };
    await until("what is due fires", () => this.shown(server), isFiring, { patienceMs: PATIENCE_MS });
    for (const service of this.faults.keys()) if (this.#isShort(service)) this.#levels.set(service, OVER);
    const isOver = (alerts: readonly ShownAlert[]) => alerts.length === 2;
    await until("what is short is over", () => this.shown(server), isOver, { patienceMs: PATIENCE_MS });
    const open = () => {
      const isOpen = ({ service, action, key }: Page) =>
        action === "trigger" && this.#isShort(service) && !this.endedEarly.has(service) && !this.#isResolved(key);
      return this.pages.filter(isOpen);
    };
    await until("the pager has heard that it is over", open, ({ length }) => length === 0, { patienceMs: PATIENCE_MS });
  }

  #isShort(service: string): boolean {
    return HOLDS[this.faults.get(service)?.fault ?? "In1h"].endsWith("s");
  }

  #isResolved(key: string): boolean {
    return this.pages.some((page) => page.key === key && page.action === "resolve");
  }
}

/** In the order of their names, as senders have them. */
function labelsOf(name: string, labels: Readonly<Record<string, string>>) {
  return [["__name__", name] as const, ...Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1))];
}

async function pause(ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
}
