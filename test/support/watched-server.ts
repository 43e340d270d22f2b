// A simulated server whose Watchdog runs on the virtual clock: a minute of telemetry, a cycle, and what people would see of it.

import { BODY_IMPORT_CSV, BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { VirtualClock } from "./cluster.ts";
import { MemoryDisk } from "./memory-log.ts";
import { type SimulatedMachine, SimulatedServer, SMALL_SIZES } from "./simulation-server.ts";

export const MINUTE_MS = 60_000;
const encoder = new TextEncoder();
const TURNS_MAX = 20_000;

export interface SentRecord {
  readonly service: string;
  readonly metric: string;
  readonly value: number;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly type?: string;
  /** Now where it is not given. */
  readonly atMs?: number;
}

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
type Json = any;

export class WatchedServer {
  readonly machine: SimulatedMachine;
  readonly engines: number;
  server: SimulatedServer;
  #epoch = 1;

  readonly #tenants: readonly string[];

  private constructor(startMs: number, engines: number, tenants: readonly string[]) {
    this.#tenants = tenants;
    this.machine = { clock: new VirtualClock(startMs), disk: new MemoryDisk(), control: new Map(), series: new Map() };
    this.engines = engines;
    this.server = this.#make();
  }

  static async open(startMs: number, engines = 2, tenants: readonly string[] = ["default"]): Promise<WatchedServer> {
    const watched = new WatchedServer(startMs, engines, tenants);
    await watched.#open();
    return watched;
  }

  get nowMs(): number {
    return this.machine.clock.wallMs();
  }

  /** As after kill -9: what is on the disk and in the stores is all that is left. */
  async kill(): Promise<void> {
    await this.server.kill();
    await this.#openAgain();
  }

  /** As after SIGTERM. */
  async restart(): Promise<void> {
    await this.server.stop();
    await this.#openAgain();
  }

  async #openAgain(): Promise<void> {
    this.#epoch++;
    this.server = this.#make();
    await this.#open();
  }

  /** Sends records; engine 0 takes them. */
  async send(records: readonly SentRecord[]): Promise<void> {
    const rows = records.map(({ service, metric, value, attributes, type, atMs }) => ({
      service_id: service,
      metric_name: metric,
      value,
      timestamp: formatRfc3339(atMs ?? this.nowMs),
      ...(attributes !== undefined && { attributes }),
      ...(type !== undefined && { type }),
    }));
    let status = 0;
    this.server.submit(0, BODY_JSON_BATCH, encoder.encode(JSON.stringify(rows)), "", (answer) => {
      status = answer.status;
    });
    await this.server.rest();
    if (status !== 200 && status !== 202) throw new Error(`the body was answered with ${status}`);
  }

  /** Imports history; engine 0 takes it. */
  async importCsv(text: string): Promise<void> {
    let status = 0;
    this.server.submit(0, BODY_IMPORT_CSV, encoder.encode(text), "", (answer) => {
      status = answer.status;
    });
    await this.server.rest();
    if (status !== 200) throw new Error(`the import was answered with ${status}`);
  }

  /** Lets a minute pass, with the cycle that comes due in it. */
  minute(): Promise<void> {
    return this.cycle(MINUTE_MS);
  }

  /** Lets time pass in which a cycle comes due. */
  async cycle(advanceMs: number): Promise<void> {
    const before = this.server.counter("watchdogCycles") + this.server.counter("watchdogFailures");
    this.machine.clock.advance(advanceMs);
    for (let turns = 0; this.server.counter("watchdogCycles") + this.server.counter("watchdogFailures") === before; turns++) {
      if (turns > TURNS_MAX) throw new Error("no cycle came to its end");
      await this.server.rest();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await this.server.rest();
  }

  async fires(query: Record<string, string> = {}): Promise<Json[]> {
    return ((await this.server.query("saturationFires", query)) as Json).fires;
  }

  async anomalies(query: Record<string, string> = {}): Promise<Json[]> {
    return ((await this.server.query("anomalies", { limit: "1000", ...query })) as Json).anomalies;
  }

  #make(): SimulatedServer {
    return new SimulatedServer(
      {
        ...SMALL_SIZES,
        blockBytes: 65_536,
        engines: this.engines,
        epoch: this.#epoch,
        seed: this.#epoch,
        tenants: this.#tenants,
        watchdogIntervalMs: MINUTE_MS,
      },
      this.machine,
    );
  }

  async #open(): Promise<void> {
    await this.server.open();
    await this.server.rest();
  }
}
