// Long baselines in whole servers: what is found, that it is the same with any number of engines and after a kill, and that no alert stays open for ever.
import { describe, expect, it } from "vitest";
import { BODY_IMPORT_CSV, BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { seededRandom } from "../../src/domain/detection/multivariate/isolation-forest.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { SimulatedServer, type SimulatedServerOptions, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const STEP_MS = 5 * MINUTE_MS;
const STEPS_PER_BODY = 4;
const SERVICES = 8;
/** Service 3 rises by 3.6 of its standard deviations here: too little for a single value to be strange at the threshold of these servers. */
const THRESHOLD = 6;
const SHIFT_AT = 200;
const STEPS = 230;
/** Steps before an import: more values than a ring holds, so that only the stored baseline knows them all. */
const LIVE = 160;

interface Found {
  readonly service_id: string;
  readonly detector: string;
  readonly direction: string;
  readonly started_at: string;
  readonly resolved: boolean;
  readonly z_score: number;
  readonly explanation: string;
  readonly verdict: { readonly suppressed_by: string | null; readonly baseline: { readonly n: number } };
}

class Rig {
  readonly clock = new VirtualClock(START);
  readonly machine = { clock: this.clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  #epoch = 0;
  server!: SimulatedServer;

  async start(engines: number, options: Partial<SimulatedServerOptions> = {}): Promise<void> {
    await this.#open(engines, options);
    await this.server.rest();
  }

  async #open(engines: number, options: Partial<SimulatedServerOptions> = {}): Promise<void> {
    const sizes = { ...SMALL_SIZES, watchdogIntervalMs: MINUTE_MS, threshold: THRESHOLD, ...options };
    this.server = new SimulatedServer({ engines, epoch: ++this.#epoch, seed: 1, ...sizes }, this.machine);
    await this.server.open();
  }

  /** Starts, and imports the values of all services of steps [from, to) in the moment in which all engines are ready. */
  async startAndImport(engines: number, from: number, to: number): Promise<void> {
    await this.#open(engines);
    while (!this.server.cluster.isReady) for (let engine = 0; engine < engines; engine++) this.server.cluster.step(engine);
    const lines = Array.from({ length: SERVICES * (to - from) }, (_, i) => {
      const [s, at] = [i % SERVICES, from + Math.floor(i / SERVICES)];
      return `${formatRfc3339(START + at * STEP_MS)},service-${s},m,${valueAt(s, at)}`;
    });
    await this.#accepted(BODY_IMPORT_CSV, ["timestamp,service_id,metric_name,value", ...lines].join("\n"), engines - 1, true);
  }

  /** Steps [from, to), some in each body: a value of every service each, then time for the cycle. */
  async feed(from: number, to: number): Promise<void> {
    for (let step = from; step < to; step += STEPS_PER_BODY) {
      const end = Math.min(to, step + STEPS_PER_BODY);
      const records = Array.from({ length: (end - step) * SERVICES }, (_, i) => {
        const [at, s] = [step + Math.floor(i / SERVICES), i % SERVICES];
        return { service_id: `service-${s}`, metric_name: "m", value: valueAt(s, at), timestamp: formatRfc3339(START + at * STEP_MS) };
      });
      this.clock.advance(START + end * STEP_MS - this.clock.wallMs());
      await this.send(records, step % this.server.engines);
      await this.server.rest();
    }
  }

  async send(records: readonly object[], engine = 0): Promise<void> {
    await this.#accepted(BODY_JSON_BATCH, JSON.stringify(records), engine);
  }

  /** `isQuick` lets the engine come as far as it can before any other moves. */
  async #accepted(kind: number, body: string, engine: number, isQuick = false): Promise<void> {
    let status = 0;
    this.server.submit(engine, kind, new TextEncoder().encode(body), "", (answer) => {
      status = answer.status;
    });
    while (isQuick && this.server.cluster.step(engine));
    await this.server.rest();
    expect(status).toBe(200);
  }

  async anomalies(): Promise<Found[]> {
    return ((await this.server.query("anomalies", { limit: "100" })) as { anomalies: Found[] }).anomalies;
  }

  async adaptive(): Promise<Found[]> {
    return (await this.anomalies()).filter(({ detector }) => detector === "adaptive");
  }
}

/** Noise of standard deviation 1 around 100, the same for every call. */
function valueAt(service: number, step: number): number {
  const random = seededRandom(1 + service * 100_000 + step);
  const noise = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  return 100 + noise + (service === 3 && step >= SHIFT_AT ? 3.6 : 0);
}

async function undisturbed(engines: number): Promise<Found[]> {
  const rig = new Rig();
  await rig.start(engines);
  await rig.feed(0, STEPS);
  return rig.adaptive();
}

describe("long baselines", () => {
  let whole: Found[] | undefined;

  it("find a shift that no single value shows, whatever the number of engines", async () => {
    const answers: Found[][] = [];
    for (const engines of [1, 2, 4]) answers.push(await undisturbed(engines));
    const [first = []] = answers;
    whole = first;
    expect(first.map(({ service_id, direction }) => [service_id, direction])).toEqual([["service-3", "high"]]);
    const startedMs = Date.parse(first[0]?.started_at ?? "");
    expect(startedMs).toBeGreaterThanOrEqual(START + SHIFT_AT * STEP_MS);
    expect(startedMs).toBeLessThan(START + (SHIFT_AT + 12) * STEP_MS);
    expect(first[0]?.verdict.suppressed_by).toBeNull();
    expect(first[0]?.explanation).toMatch(
      /^m was .* on average over its last 12 values \(equivalent z \d\.\d\), above the .*\(expected .* to .*\)$/,
    );
    expect(answers[1]).toEqual(first);
    expect(answers[2]).toEqual(first);
  });

  it.each([
    ["soon after it", SHIFT_AT + 12, 1],
    ["before it, with other engines afterwards", SHIFT_AT - 4, 3],
    ["long after states were stored", SHIFT_AT + 4, 2],
  ])("find the same when the server is killed %s", async (_, killedAt, engines) => {
    const killed = new Rig();
    await killed.start(1);
    await killed.feed(0, killedAt);
    killed.server.kill();
    await killed.start(engines);
    await killed.feed(killedAt, STEPS);
    whole ??= await undisturbed(1);
    expect(await killed.adaptive()).toEqual(whole);
    expect((await killed.adaptive()).length).toBe(1);
  });

  it("keep their states over an orderly stop, for other engines too", async () => {
    const rig = new Rig();
    await rig.start(2);
    await rig.feed(0, SHIFT_AT - 1);
    await rig.server.stop();
    expect(rig.machine.series.get("detector_states")?.size).toBe(SERVICES);
    await rig.start(3);
    await rig.feed(SHIFT_AT - 1, STEPS);
    const [found] = await rig.adaptive();
    expect(found?.service_id).toBe("service-3");
    // More values than the ring of its stream holds.
    expect(found?.verdict.baseline.n).toBeGreaterThan(SHIFT_AT);
  });

  it.each([
    ["one engine", 1, false],
    ["two engines", 2, false],
    ["a kill right behind the answer", 1, true],
  ])("take in all history that is imported in the moment of readiness: %s", async (_, engines, isKilled) => {
    const rig = new Rig();
    await rig.start(engines);
    await rig.feed(0, LIVE);
    await rig.server.stop();
    rig.clock.advance((SHIFT_AT - LIVE) * STEP_MS);
    await rig.startAndImport(engines, LIVE, SHIFT_AT);
    if (isKilled) {
      rig.server.kill();
      await rig.start(2);
    }
    await rig.feed(SHIFT_AT, STEPS);
    const [found] = await rig.adaptive();
    expect(found?.service_id).toBe("service-3");
    expect(found?.verdict.baseline.n).toBeGreaterThanOrEqual(SHIFT_AT);
  });

  it("close an alert whose state is lost", async () => {
    const rig = new Rig();
    await rig.start(1);
    await rig.feed(0, SHIFT_AT + 14);
    expect((await rig.adaptive()).map(({ resolved }) => resolved)).toEqual([false]);
    rig.server.kill();
    rig.machine.series.get("detector_states")?.clear();
    await rig.start(1);
    await rig.feed(SHIFT_AT + 14, SHIFT_AT + 16);
    expect((await rig.adaptive()).map(({ resolved }) => resolved)).toEqual([true]);
  });

  it("leave a level alone that a deployment has brought, and find the same without one", async () => {
    const rig = new Rig();
    await rig.start(2);
    await rig.feed(0, SHIFT_AT);
    const timestamp = formatRfc3339(START + SHIFT_AT * STEP_MS - MINUTE_MS);
    const attributes = { event_type: "deployment", version: "2" };
    await rig.send([{ type: "event", service_id: "service-3", body: "deployed", attributes, timestamp }]);
    await rig.feed(SHIFT_AT, STEPS);
    expect(await rig.adaptive()).toEqual([]);
  });

  it("are kept for as many streams as are allowed, over all engines", async () => {
    const rig = new Rig();
    await rig.start(2, { pairsMax: 5 });
    await rig.feed(0, 8);
    expect(rig.server.cluster.counter("watchdogPairs")).toBe(5);
    const { watchdog } = (await rig.server.query("status")) as { watchdog: { layers: string[]; passes: object[] } };
    expect(watchdog.layers).toEqual(["statistical", "adaptive"]);
    expect(watchdog.passes[1]).toMatchObject({ pass: "pairs", evaluated: 0, learning: 5, skipped: { pair_limit: SERVICES - 5 } });
  });

  it("give their places back when streams leave memory", async () => {
    const rig = new Rig();
    await rig.start(1, { idleMs: 60 * MINUTE_MS, pairsMax: SERVICES });
    await rig.feed(0, 20);
    expect(rig.server.cluster.counter("watchdogPairs")).toBe(SERVICES);
    for (let passed = 0; passed < 300; passed++) {
      rig.clock.advance(MINUTE_MS);
      await rig.server.rest();
    }
    expect([rig.server.cluster.counter("streams"), rig.server.cluster.counter("watchdogPairs")]).toEqual([0, 0]);
  });
});
