// A made-up world of services whose metrics follow one load each, over whole simulated servers: engines, coordinator, store and trainings on a virtual clock.

import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { seededRandom } from "../../src/domain/detection/multivariate/isolation-forest.ts";
import { VirtualClock } from "./cluster.ts";
import { MemoryDisk } from "./memory-log.ts";
import { type SimulatedMachine, SimulatedServer, type SimulatedServerOptions, SMALL_SIZES } from "./simulation-server.ts";

/** Wall clock of the minute behind the history. */
export const SERVICE_WORLD_START_MS = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
/** Minutes of history. */
export const HISTORY = 300;
export const METRICS = ["cpu", "latency.p95", "memory", "queue", "requests"];
export const SERVICES = ["a", "b", "c", "d"];
const encoder = new TextEncoder();

const EVERYWHERE = ["prod", "test"].flatMap((environment) => SERVICES.map((service) => [environment, service] as const));

export interface Found {
  readonly anomaly_id: string;
  readonly service_id: string;
  readonly environment: string;
  readonly metric_name: string;
  readonly detector: string;
  readonly started_at: string;
  readonly resolved: boolean;
  readonly z_score: number;
  readonly explanation: string;
  readonly verdict: { readonly contributions: ReadonlyArray<{ readonly feature: string }> };
}

/** Minutes [from, to) in which a metric of production's `b` goes the other way. */
interface Broken {
  readonly metric: string;
  readonly from: number;
  readonly to: number;
}

/** What is broken besides, and the service whose records are sent, alone; all of them where none is named. */
interface WorldContents {
  readonly further: readonly Broken[];
  readonly sent: string | undefined;
}

/** Services, each of whose metrics follow one load, but for what is broken. */
export class World {
  readonly machine: SimulatedMachine = {
    clock: new VirtualClock(SERVICE_WORLD_START_MS),
    disk: new MemoryDisk(),
    control: new Map(),
    series: new Map(),
  };
  readonly #random = seededRandom(11);
  readonly #loads = new Map<string, number>();
  readonly #broken: readonly Broken[];
  readonly #sent: string | undefined;
  server: SimulatedServer;
  #epoch = 1;
  #minute = 0;

  private constructor(server: (machine: SimulatedMachine) => SimulatedServer, broken: readonly Broken[], sent?: string) {
    this.server = server(this.machine);
    this.#broken = broken;
    this.#sent = sent;
  }

  /** The queue is broken from minute to minute, and what else is told. */
  static async open(
    options: Partial<SimulatedServerOptions>,
    [from, to]: readonly [number, number],
    { further = [], sent }: Partial<WorldContents> = {},
  ): Promise<World> {
    const broken = [{ metric: "queue", from, to }, ...further];
    const world = new World((machine) => new SimulatedServer(optionsOf(1, options), machine), broken, sent);
    await world.server.open();
    return world;
  }

  /** An orderly stop, and a start with so many engines. */
  async restart(engines: number): Promise<void> {
    await this.server.stop();
    this.server = new SimulatedServer(optionsOf(++this.#epoch, { engines }), this.machine);
    await this.server.open();
    await this.rest();
  }

  /** Values of the minutes before the start, as senders that were cut off for a while bring them. */
  async history(): Promise<void> {
    await this.#send(HISTORY);
    await this.rest();
  }

  /** Minutes with their values and a cycle each. */
  async minutes(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      await this.#send(1);
      this.machine.clock.advance(MINUTE_MS);
      await this.rest();
    }
  }

  async #send(count: number): Promise<void> {
    const records: object[] = [];
    for (let i = 0; i < count; i++) records.push(...this.#records());
    for (let at = 0; at < records.length; at += 5_000) {
      this.server.submit(0, BODY_JSON_BATCH, encoder.encode(JSON.stringify(records.slice(at, at + 5_000))), "", () => undefined);
      await this.rest();
    }
  }

  /** Until nobody does anything, promises of cycles and trainings included. */
  async rest(): Promise<void> {
    for (let quiet = 0; quiet < 6; quiet++) {
      await this.server.rest();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #records(): object[] {
    const minute = this.#minute++;
    const timestamp = formatRfc3339(SERVICE_WORLD_START_MS + (minute - HISTORY) * MINUTE_MS);
    return EVERYWHERE.flatMap(([environment, service_id]) => {
      const key = `${environment} ${service_id}`;
      const load = 0.9 * (this.#loads.get(key) ?? 0) + this.#random() - 0.5;
      this.#loads.set(key, load);
      const broken = key === "prod b" ? this.#broken.filter(({ from, to }) => minute >= from && minute < to) : [];
      const at = broken.length > 0 ? Math.sign(load) * Math.max(0.8, Math.abs(load)) : load;
      const records = METRICS.map((metric_name, j) => {
        const sign = broken.some(({ metric }) => metric === metric_name) ? -1 : 1;
        const value = 50 + sign * (j + 1) * at + 0.05 * (j + 1) * (this.#random() - 0.5);
        return { service_id, metric_name, value, timestamp, attributes: { environment } };
      });
      return this.#sent === undefined || key === `prod ${this.#sent}` ? records : [];
    });
  }

  async found(): Promise<Found[]> {
    const { anomalies } = (await this.server.query("anomalies", { limit: "1000" })) as { anomalies: Found[] };
    return anomalies.filter(({ metric_name }) => metric_name === "service.multivariate");
  }
}

function optionsOf(epoch: number, options: Partial<SimulatedServerOptions>): SimulatedServerOptions {
  return { ...SMALL_SIZES, engines: 1, epoch, seed: 5, watchdogIntervalMs: MINUTE_MS, servicesMax: 100, ...options };
}
