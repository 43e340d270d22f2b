// A coordinator, an engine that finds what a plan says, a pager that takes what it is sent, and kills: on a virtual clock that goes from event to event.
import { Notifier } from "../../src/actors/notifier/notifier.ts";
import type { ChannelSender } from "../../src/adapters/notify/channel-sender.ts";
import { CALLS_HEADER_BYTES, type EngineFrame, FRAME_CALLS } from "../../src/core/protocol/coordinator-frame.ts";
import type { AlertMessage } from "../../src/domain/notification/alert-message.ts";
import { CallEdges } from "../../src/domain/trace/call-edges.ts";
import { episode, Rig, START_MS } from "./coordinator-rig.ts";
import type { IncidentPlan, PlannedFinding, PlannedSilence, WorldPlan } from "./incident-plan.ts";
import { NO_CHANNELS, NO_EVENTS } from "./notifier-senders.ts";

const MINUTE = 60_000;
const NAMED = { named: [], enabled: false, initial: null };
const OPTIONS = {
  watchdogIntervalMs: MINUTE,
  groupWaitMs: 10_000,
  seed: 1,
  notification: {
    routing: {
      destinations: {
        ...{ chat: NAMED, oncall: NAMED, email: { ...NAMED, allowedDomains: [] } },
        pager: { named: [], enabled: true, initial: "" },
      },
      defaultChannels: null,
    },
    publicUrl: null,
    hints: [],
  },
};
const LIMITS = { chat: 1_000, pager: 1_000, email: 1_000, oncall: 1_000 };
/** Behind the last event, so that everything ends. */
const REST_MS = 30 * MINUTE;
/** Turns after which nothing goes on by itself. */
const TURNS = 10;
const SETTLED_ROUNDS = 3;
/** What is due again and again has this much rest. */
const STEP_MS_MIN = 200;

export interface PagedMessage {
  readonly message: AlertMessage;
  /** Since the start of the world. */
  readonly atMs: number;
}

interface Happening {
  readonly atMs: number;
  readonly run: () => Promise<unknown>;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
export type Json = any;

export class IncidentWorld {
  /** Wall clock of its start. */
  readonly epochMs = START_MS;
  readonly messages: PagedMessage[] = [];
  /** When the server started, the first time included. */
  readonly startsMs: number[] = [0];
  readonly #plan: WorldPlan;
  readonly #open = new Map<PlannedFinding, EngineFrame[]>();
  readonly #silenceIds = new Map<PlannedSilence, string>();
  #rig: Rig;
  #notifier: Notifier | undefined;

  private constructor(plan: WorldPlan, rig: Rig) {
    this.#plan = plan;
    this.#rig = rig;
    this.#connect();
  }

  /** Plays a plan to its end. */
  static async play(plan: WorldPlan): Promise<IncidentWorld> {
    const world = new IncidentWorld(plan, await Rig.open(OPTIONS));
    const happenings = plan.incidents.flatMap((incident) => world.#happenings(incident));
    for (const [place, atMs] of plan.killsMs.entries()) happenings.push({ atMs, run: () => world.#kill(place) });
    for (const { atMs, run } of happenings.sort((a, b) => a.atMs - b.atMs)) {
      await world.#advanceTo(Math.max(atMs, 1));
      await run();
    }
    await world.#advanceTo(world.#nowMs + REST_MS);
    return world;
  }

  /** All alerts as they are now. */
  async alerts(): Promise<Json[]> {
    return (await this.#rig.ask("alerts", { limit: "1000" })).body.alerts;
  }

  async anomalies(): Promise<Json[]> {
    return (await this.#rig.ask("anomalies", { limit: "1000" })).body.anomalies;
  }

  get #nowMs(): number {
    return this.#rig.nowMs - START_MS;
  }

  /** Lets time pass, from one moment at which something is due to the next. */
  async #advanceTo(toMs: number): Promise<void> {
    for (;;) {
      const dueMs = await this.#settle();
      const leftMs = toMs - this.#nowMs;
      if (leftMs <= 0) return;
      const stepMs = Math.min(leftMs, Math.max(STEP_MS_MIN, Math.ceil(dueMs - this.#rig.monotonicMs)));
      this.#rig.nowMs += stepMs;
      this.#rig.monotonicMs += stepMs;
    }
  }

  /** Until nothing goes on by itself; the monotonic time at which something is due. */
  async #settle(): Promise<number> {
    let dueMs = 0;
    for (let round = 0; round < SETTLED_ROUNDS; round++) {
      ({ dueMs } = await this.#rig.drain());
      await turns(TURNS);
      this.#notifier?.step();
    }
    return dueMs;
  }

  #happenings({ findings, inhibitor, silence, services, environment, shape }: IncidentPlan): Happening[] {
    const happenings: Happening[] = [];
    for (const finding of [...findings, ...(inhibitor === undefined ? [] : [inhibitor])]) {
      happenings.push({ atMs: finding.fromMs, run: () => this.#find(finding, environment) });
      const { growsTo } = finding;
      if (growsTo !== undefined) happenings.push({ atMs: growsTo.atMs, run: () => this.#grow(finding, environment, growsTo.z) });
      happenings.push({ atMs: finding.toMs, run: () => this.#over(finding, environment) });
    }
    if (shape === "cascade") happenings.push({ atMs: 0, run: () => this.#call(services, environment, findings) });
    if (inhibitor !== undefined) happenings.push({ atMs: 0, run: () => this.#inhibit(inhibitor, services) });
    if (silence !== undefined) {
      happenings.push({ atMs: silence.fromMs, run: () => this.#silence(silence, services) });
      if (silence.isEnded) happenings.push({ atMs: silence.untilMs, run: () => this.#unsilence(silence) });
    }
    return happenings;
  }

  async #find(finding: PlannedFinding, environment: string): Promise<void> {
    if (finding.detector === "external") return this.#upstream(finding, environment, "firing");
    const frame = frameOf(finding, environment);
    this.#open.set(finding, [frame]);
    await this.#rig.take(copy(frame));
  }

  async #grow(finding: PlannedFinding, environment: string, z: number): Promise<void> {
    const frame = frameOf(finding, environment, { transition: "update", z });
    this.#open.get(finding)?.push(frame);
    await this.#rig.take(copy(frame));
  }

  async #over(finding: PlannedFinding, environment: string): Promise<void> {
    if (finding.detector === "external") return this.#upstream(finding, environment, "resolved");
    this.#open.delete(finding);
    await this.#rig.take(frameOf(finding, environment, { transition: "close" }));
  }

  async #upstream({ serviceId, metricName }: PlannedFinding, environment: string, status: "firing" | "resolved"): Promise<void> {
    const labels = { alertname: metricName, service_id: serviceId, severity: "critical", ...(environment !== "" && { environment }) };
    const principal = { tenant: "default", subject: "alertmanager", role: "operator" } as const;
    const content = { alerts: [{ status, labels, annotations: {} }], groupLabels: {} };
    const { status: code } = await this.#rig.askAs(principal, "alertWebhook", { content });
    if (code !== 200) throw new Error(`an alert was answered with ${code}`);
  }

  /** The first calls the second, and so on, from the first finding to the last. */
  async #call(services: readonly string[], environment: string, findings: readonly PlannedFinding[]): Promise<void> {
    const fromMinute = Math.floor((START_MS + Math.min(...findings.map(({ fromMs }) => fromMs))) / MINUTE);
    const sums = new CallEdges(1_000);
    const name = (serviceId: string) => ({ tenant: "default", environment, serviceId });
    const noted = { calls: 100, errors: 0, microseconds: 1_000, gapCalls: 0, gapMicroseconds: 0 };
    for (let place = 1; place < services.length; place++)
      for (let minute = fromMinute; minute < fromMinute + 120; minute += 5)
        sums.addEdge({ caller: name(services[place - 1] ?? ""), callee: name(services[place] ?? ""), minute, ...noted });
    const encoded = sums.encode();
    const payload = new Uint8Array(CALLS_HEADER_BYTES + encoded.length);
    new DataView(payload.buffer).setUint32(0, findings[0]?.incident ?? 0, true);
    payload.set(encoded, CALLS_HEADER_BYTES);
    await this.#rig.take({ kind: FRAME_CALLS, payload });
  }

  #inhibit(inhibitor: PlannedFinding, services: readonly string[]): Promise<unknown> {
    const of = (value: string, operator: string) => [{ name: "service_id", operator, value }];
    const content = {
      source_matchers: of(inhibitor.serviceId, "="),
      target_matchers: of(services.join("|"), "=~"),
      equal: ["environment"],
    };
    return this.#made("createInhibition", content);
  }

  async #silence(silence: PlannedSilence, services: readonly string[]): Promise<void> {
    const matchers = [{ name: "service_id", operator: "=~", value: services.join("|") }];
    // One that somebody ends would last for a day.
    const endsMs = silence.isEnded ? this.#nowMs + 24 * 60 * MINUTE : silence.untilMs;
    const made = await this.#made("createSilence", { matchers, ends_at: new Date(START_MS + endsMs).toISOString(), comment: "work" });
    this.#silenceIds.set(silence, made.silence_id);
  }

  async #unsilence(silence: PlannedSilence): Promise<void> {
    await this.#rig.ask("deleteSilence", {}, { id: this.#silenceIds.get(silence) ?? "" });
  }

  async #made(endpoint: string, content: object): Promise<Json> {
    const { status, body } = await this.#rig.ask(endpoint, {}, {}, "default", content);
    if (status !== 201) throw new Error(`${endpoint} was answered with ${status}: ${JSON.stringify(body)}`);
    return body;
  }

  /** Between any two turns of what goes on: the number of the kill says which. The engine reads its log again. */
  async #kill(number: number): Promise<void> {
    this.#rig.monotonicMs += MINUTE;
    void this.#rig.coordinator.step().catch(() => undefined);
    await turns(3 * number);
    this.#notifier = undefined;
    const { outbox } = this.#rig.coordinator.outbound;
    outbox.disconnect();
    outbox.stop();
    this.#rig.control.kill();
    this.#rig.series.kill();
    this.#rig = await this.#rig.restarted({ ...OPTIONS, nowMs: this.#rig.nowMs + 1, seed: 2 + number });
    this.startsMs.push(this.#nowMs);
    this.#connect();
    await this.#rig.take(...[...this.#open.values()].flat().map(copy));
  }

  #connect(): void {
    const rig = this.#rig;
    const { outbox } = rig.coordinator.outbound;
    const sender: ChannelSender = {
      send: async (_, messages) => {
        for (const message of messages) this.messages.push({ message, atMs: rig.nowMs - START_MS });
        return { kind: "delivered" };
      },
    };
    const notifier = new Notifier(LIMITS, {
      ...NO_EVENTS,
      channels: { ...NO_CHANNELS, pager: sender },
      nowMs: () => rig.nowMs,
      report: (reports) => this.#notifier === notifier && outbox.take(reports),
      wake: () => void notifier.step(),
    });
    this.#notifier = notifier;
    outbox.connect({
      send: (command) => {
        notifier.take(command);
        notifier.step();
      },
    });
    const [engine] = rig.engines;
    if (engine !== undefined) engine.found = (pass) => (pass === "pairs" ? this.#confirmed() : undefined);
  }

  /** What the pass over pairs tells: its own episodes that are open, and departures that hold. */
  #confirmed() {
    const open = [...this.#open];
    const firing = open.filter(([{ detector }]) => detector === "adaptive").map(([, frames]) => episodeIdOf(frames[0] as EngineFrame));
    const confirmed = open
      .filter(([{ confirmedMs }]) => confirmedMs <= this.#nowMs)
      .map(([{ serviceId, metricName, incident }]) => {
        const environment = this.#plan.incidents[incident]?.environment ?? "";
        return { tenant: "default", environment, serviceId, metricName, isAlone: true, side: 0, direction: null };
      });
    return { detector: "adaptive", firing, confirmed };
  }
}

function frameOf(
  { serviceId, metricName, detector, fromMs, z, baselineValues, isRare }: PlannedFinding,
  environment: string,
  change: { readonly transition?: "update" | "close"; readonly z?: number } = {},
): EngineFrame {
  const gates = isRare ? [{ name: "own_tail", passed: true }] : [];
  const verdict = { observed: 1, threshold: detector === "z_score" ? 3 : 2.5, baseline: { n: baselineValues }, gates };
  const [startedAtMs, observedAtMs] = [START_MS + fromMs, START_MS + fromMs];
  return episode({ ...{ environment, serviceId, metricName, detector, startedAtMs, observedAtMs, z, verdict }, ...change });
}

/** The rig overwrites what it has read. */
function copy({ kind, payload }: EngineFrame): EngineFrame {
  return { kind, payload: Uint8Array.from(payload) };
}

function episodeIdOf({ payload }: EngineFrame): string {
  return (JSON.parse(new TextDecoder().decode(payload)) as { readonly episodeId: string }).episodeId;
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}
