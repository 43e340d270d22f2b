// Settings of the Watchdog on their way from the API to the samples that they are for: any number of engines, before and after kills.
import { describe, expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { VirtualClock } from "../support/cluster.ts";
import { type Generator, generator } from "../support/generator.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;

interface Found {
  readonly service_id: string;
  readonly metric_name: string;
  readonly z_score: number;
  readonly resolved: boolean;
}

class Rig {
  readonly clock = new VirtualClock(START);
  readonly #machine = { clock: this.clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  readonly #random: Generator = generator(5);
  #epoch = 0;
  server!: SimulatedServer;

  async start(engines: number): Promise<void> {
    this.server = new SimulatedServer({ engines, epoch: ++this.#epoch, seed: 1, ...SMALL_SIZES }, this.#machine);
    await this.server.open();
    await this.server.rest();
  }

  /** A minute of the services: noise of standard deviation 1 around 100, and `departure` of them. */
  async minute(services: readonly string[], departure = 0): Promise<void> {
    const timestamp = new Date(this.clock.wallMs()).toISOString();
    const records = services.flatMap((service_id) =>
      ["latency", "load"].map((metric_name) => ({ service_id, metric_name, timestamp, value: 100 + departure + this.#random.normal() })),
    );
    this.server.submit(0, BODY_JSON_BATCH, Buffer.from(JSON.stringify(records)), "", () => undefined);
    await this.server.rest();
    this.clock.advance(MINUTE_MS);
  }

  async minutes(count: number, services: readonly string[], departure = 0): Promise<void> {
    for (let i = 0; i < count; i++) await this.minute(services, departure);
  }

  async found(): Promise<Found[]> {
    const { anomalies } = (await this.server.query("anomalies", { limit: "1000" })) as { anomalies: Found[] };
    return anomalies;
  }

  async services(): Promise<string[]> {
    return [...new Set((await this.found()).map(({ service_id, metric_name }) => `${service_id} ${metric_name}`))].sort();
  }

  async set(body: unknown): Promise<void> {
    await this.server.query("setWatchdogSettings", {}, "default", body);
    await this.server.rest();
  }
}

describe.each([1, 2, 3])("with %i engines settings of the Watchdog", (engines) => {
  it("move the threshold of streams that are there and of those that come, and stay over a kill", async () => {
    const rig = new Rig();
    await rig.start(engines);
    await rig.minutes(60, ["known", "other", "half"]);
    await rig.set({ service_id: "known", z_threshold: 8 });
    await rig.set({ service_id: "new", z_threshold: 8 });
    await rig.set({ service_id: "half", metric_name: "load", z_threshold: 8 });
    await rig.minutes(60, ["known", "other", "half", "new"]);
    rig.server.kill();
    await rig.start(4 - engines);
    await rig.minutes(2, ["known", "other", "half", "new"], 6);
    expect(await rig.services()).toEqual(["half latency", "other latency", "other load"]);
    await rig.minutes(2, ["known", "other", "half", "new"], 900);
    expect(await rig.services()).toHaveLength(8);
  });

  it("end the open episodes of what is excluded, and begin anew where it is no longer", async () => {
    const rig = new Rig();
    // The bar of a young service is lower, which noise alone reaches once here.
    const shifts = async () => (await rig.found()).filter(({ z_score: z }) => Math.abs(z) > 5);
    await rig.start(engines);
    await rig.minutes(60, ["a", "b"]);
    await rig.minutes(3, ["a", "b"], 20);
    await rig.set({ service_id: "a", excluded: true });
    const resolved = (await shifts()).map(({ service_id, resolved: is }) => `${service_id} ${is}`).sort();
    expect(resolved).toEqual(["a true", "a true", "b false", "b false"]);
    await rig.minutes(3, ["a"], -60);
    expect(await shifts()).toHaveLength(4);
    await rig.set({ service_id: "a", excluded: null });
    await rig.minutes(130, ["a"]);
    await rig.minutes(2, ["a"], 30);
    expect((await shifts()).filter(({ service_id }) => service_id === "a")).toHaveLength(4);
  });

  it("watch the one direction only, of the tenant or of what is set apart", async () => {
    const rig = new Rig();
    await rig.start(engines);
    await rig.set({ direction: "high" });
    await rig.set({ service_id: "b", direction: "low" });
    await rig.minutes(60, ["a", "b"]);
    await rig.minutes(3, ["a", "b"], -20);
    expect(await rig.services()).toEqual(["b latency", "b load"]);
    await rig.minutes(130, ["a", "b"]);
    await rig.minutes(3, ["a", "b"], 20);
    const high = (await rig.found()).filter(({ z_score }) => z_score > 0);
    expect(high.map(({ service_id }) => service_id)).toEqual(["a", "a"]);
  });
});
