// A level that somebody takes for the usual one, in whole servers: the alert ends as accepted, the streams are judged by it, and a kill right behind it changes nothing.
import { describe, expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { seededRandom } from "../../src/domain/detection/multivariate/isolation-forest.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const STEP_MS = 15_000;
/** The service has no warm-up any more. */
const USUAL_STEPS = 260;

interface Told {
  readonly alert_id: string;
  readonly state: string;
  readonly resolved_by: string | null;
  readonly accepted_level: { readonly from: number; readonly to: number } | null;
  readonly resolution: string | null;
  readonly explanation: string;
}

class Rig {
  readonly clock = new VirtualClock(START);
  readonly machine = { clock: this.clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  #epoch = 0;
  #step = 0;
  server!: SimulatedServer;

  async start(): Promise<void> {
    const sizes = { ...SMALL_SIZES, watchdogIntervalMs: MINUTE_MS };
    this.server = new SimulatedServer({ engines: 2, epoch: ++this.#epoch, seed: 1, ...sizes }, this.machine);
    await this.server.open();
    await this.server.rest();
  }

  async kill(): Promise<void> {
    this.server.kill();
    await this.start();
  }

  /** Values about a level, with noise, each with time for what it brings about. */
  async feed(steps: number, level: number): Promise<void> {
    for (let end = this.#step + steps; this.#step < end; this.#step++) {
      this.clock.advance(STEP_MS);
      const noise = 1 + 0.02 * (seededRandom(1 + this.#step)() - 0.5);
      const record = {
        service_id: "shop",
        metric_name: "queue.depth",
        value: level * noise,
        timestamp: formatRfc3339(this.clock.wallMs()),
      };
      let status = 0;
      this.server.submit(this.#step % 2, BODY_JSON_BATCH, Buffer.from(JSON.stringify([record])), "", (answer) => {
        status = answer.status;
      });
      await this.server.rest();
      expect(status).toBe(200);
    }
  }

  async alerts(): Promise<Told[]> {
    return ((await this.server.query("alerts", { limit: "100" })) as { alerts: Told[] }).alerts;
  }

  async accept(alert_id: string): Promise<Told> {
    return (await this.server.query("acceptAlert", {}, "default", { comment: "the new queue" }, { alert_id })) as Told;
  }
}

/** A shift from 100 to 300 that has an alert. */
async function shifted() {
  const rig = new Rig();
  await rig.start();
  await rig.feed(USUAL_STEPS, 100);
  await rig.feed(16, 300);
  const alerts = await rig.alerts();
  expect(alerts).toMatchObject([{ state: "firing" }]);
  return { rig, id: (alerts[0] as Told).alert_id };
}

describe("a level that somebody accepts", () => {
  it("ends the alert in these words, and is what the series is judged by, through a kill right behind the answer", async () => {
    for (const isKilled of [false, true]) {
      const { rig, id } = await shifted();
      const answer = await rig.accept(id);
      expect(answer).toMatchObject({ state: "resolved", resolved_by: "accepted" });
      expect(Math.round(answer.accepted_level?.from ?? 0)).toBe(100);
      expect(Math.abs((answer.accepted_level?.to ?? 0) - 300)).toBeLessThan(4);
      expect(answer.resolution).toMatch(/^new level: from [\d.]+ to [\d.]+, accepted by /);
      if (isKilled) await rig.kill();
      await rig.feed(40, 300);
      if (isKilled) await rig.kill();
      expect(await rig.alerts()).toMatchObject([{ alert_id: id, state: "resolved" }]);
      const open = (await rig.server.query("anomalies", { state: "open" })) as { anomalies: unknown[] };
      expect(open.anomalies).toEqual([]);
      // The dedup age passes: nothing is asked again.
      await rig.feed(160, 300);
      expect(await rig.alerts()).toHaveLength(1);
    }
  });

  it("is no licence: far beyond it there is a new alert, and the way back to what was usual is none", async () => {
    const { rig, id } = await shifted();
    await rig.accept(id);
    await rig.feed(40, 300);
    await rig.feed(20, 100);
    expect(await rig.alerts()).toHaveLength(1);
    const other = await shifted();
    await other.rig.accept(other.id);
    await other.rig.feed(40, 300);
    await other.rig.feed(16, 1_200);
    // Within the dedup age it is the same alert again, with a page.
    const [again] = await other.rig.alerts();
    expect(again).toMatchObject({ state: "firing", resolved_by: null, pages: 2 });
    expect(again?.explanation).toMatch(/1[12]\d\d.* (29|30)\d/);
  });
});
