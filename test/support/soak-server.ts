// A server in compressed time: real engines and the real coordinator over real LMDB files, a log in memory, and a clock that whoever drives it moves.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Coordinator } from "../../src/actors/coordinator/coordinator.ts";
import { CONTROL_TABLES, SERIES_TABLES } from "../../src/actors/coordinator/nouns/modules.ts";
import type { KeyValueStore } from "../../src/adapters/storage/key-value-store.ts";
import { openLmdbStore } from "../../src/adapters/storage/lmdb-store.ts";
import type { CoordinatorEndpoint } from "../../src/api/endpoints.ts";
import { COORDINATOR_COUNTERS, COORDINATOR_SLOTS, type CoordinatorCounter } from "../../src/core/layout/counters.ts";
import type { QueryAnswer } from "../../src/core/protocol/query.ts";
import { Cluster, VirtualClock } from "./cluster.ts";
import { deleteCoveredSegments } from "./covered-segments.ts";
import { MemoryDisk } from "./memory-log.ts";

const DAY_MS = 24 * 3600 * 1000;
/** Where a flush costs nothing: weeks have thousands of commits. */
const FOLDER = existsSync("/dev/shm") ? "/dev/shm" : tmpdir();

export interface SoakOptions {
  readonly startMs: number;
  readonly engines: number;
  readonly retentionDays: number;
  readonly retentionRawDays: number;
  readonly blockBytes: number;
  readonly segmentBytes: number;
  readonly checkpointCycleBytes: number;
}

export class SoakServer {
  readonly clock: VirtualClock;
  readonly disk = new MemoryDisk();
  readonly control: KeyValueStore;
  readonly series: KeyValueStore;
  readonly #engines: number;
  readonly #folder = mkdtempSync(join(FOLDER, "vedette-soak-"));
  readonly #cluster: Cluster;
  readonly #coordinator: Coordinator;
  readonly #slots = new Float64Array(COORDINATOR_SLOTS);
  #answer: QueryAnswer | undefined;
  refused = 0;

  private constructor(options: SoakOptions) {
    const { startMs, engines, blockBytes, segmentBytes, checkpointCycleBytes } = options;
    this.clock = new VirtualClock(startMs);
    this.#engines = engines;
    this.control = openLmdbStore({ path: join(this.#folder, "control"), tables: CONTROL_TABLES });
    this.series = openLmdbStore({ path: join(this.#folder, "series"), tables: SERIES_TABLES });
    this.#cluster = new Cluster(
      { engines, epoch: 1, blockBytes, segmentBytes, checkpointCycleBytes },
      { clock: this.clock, disk: this.disk },
    );
    this.#coordinator = this.#makeCoordinator(options);
  }

  #makeCoordinator({ retentionDays, retentionRawDays, engines }: SoakOptions): Coordinator {
    const settings = { version: "1.0.0", zThreshold: 3, samplesMin: 12, window: 120 };
    return new Coordinator(
      { ...settings, retentionMs: retentionDays * DAY_MS, rawRetentionMs: retentionRawDays * DAY_MS },
      {
        controlStore: this.control,
        seriesStore: this.series,
        engines: Array.from({ length: engines }, (_, engine) => this.#cluster.link(engine)),
        counters: this.#slots,
        nowMs: () => this.clock.wallMs(),
        monotonicMs: () => this.clock.monotonicMs(),
        emit: (message) => {
          if (message.type === "answer") this.#answer = message;
        },
        observeLatencySeconds: () => undefined,
        deleteLogSegments: (floor) => void deleteCoveredSegments("log", floor, this.disk),
        measureDisk: () => ({ logBytes: this.disk.usedBytes, logSegments: 1, freeBytes: Number.MAX_SAFE_INTEGER }),
        randomBytes: (count) => new Uint8Array(count).fill(7),
        yieldToLoop: () => Promise.resolve(),
        sleep: () => Promise.resolve(),
      },
    );
  }

  static async open(options: SoakOptions): Promise<SoakServer> {
    const server = new SoakServer(options);
    await server.#coordinator.open();
    server.#stepEngines();
    await server.#coordinator.handle({ type: "engines-ready", tornEnds: new Map() });
    return server;
  }

  counter(name: CoordinatorCounter): number {
    return this.#slots[COORDINATOR_COUNTERS.indexOf(name)] as number;
  }

  /** Takes a body in; what engines send the coordinator waits for `commit`. */
  send(engine: number, kind: number, bytes: Uint8Array): void {
    const onAnswer = ({ status }: { status: number }) => {
      this.refused += status === 200 ? 0 : 1;
    };
    if (!this.#cluster.submit(engine, kind, bytes, onAnswer)) this.refused++;
    this.#stepEngines();
  }

  /** Lets time pass in so many equal pieces: in each the engines look at what is due. */
  pass(ms: number, pieces: number): void {
    for (let piece = 0; piece < pieces; piece++) {
      this.clock.advance(ms / pieces);
      this.#stepEngines();
    }
  }

  /** The coordinator takes all there is and does what is due. */
  async commit(): Promise<void> {
    for (let more = true; more; ) {
      ({ more } = await this.#coordinator.step());
      this.#stepEngines();
    }
  }

  #stepEngines(): void {
    for (let idle = 0; idle < this.#engines; ) {
      idle = 0;
      for (let engine = 0; engine < this.#engines; engine++) idle += this.#cluster.step(engine) ? 0 : 1;
    }
  }

  /** Asks as a client would. Throws on any status but 200. */
  async query<T>(endpoint: CoordinatorEndpoint, query: Readonly<Record<string, string>>): Promise<T> {
    const principal = { tenant: "default", subject: "soak", role: "viewer" } as const;
    const asked = this.#coordinator.handle({ type: "query", id: 1, endpoint, principal, path: {}, query, body: null, requestId: "test" });
    let isAnswered = false;
    void asked.then(() => {
      isAnswered = true;
    });
    while (!isAnswered) {
      this.#stepEngines();
      await new Promise((resolve) => setImmediate(resolve));
    }
    if (this.#answer?.status !== 200) throw new Error(`${endpoint} is answered ${this.#answer?.status} ${this.#answer?.body}`);
    return JSON.parse(this.#answer.body) as T;
  }

  async close(): Promise<void> {
    await Promise.all([this.control.close(), this.series.close()]);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
