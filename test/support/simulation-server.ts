// A whole server on one thread: the cluster of engines and the real coordinator over memory stores and a memory disk. Nothing moves by itself:
// whoever drives it steps engines and the coordinator, lets commits of the stores go on, and moves the clock. `kill` leaves the disk and the stores.
import { Coordinator } from "../../src/actors/coordinator/coordinator.ts";
import { CONTROL_TABLES, PACKED_TABLES, SERIES_TABLES } from "../../src/actors/coordinator/nouns/modules.ts";
import type { RingSizes } from "../../src/adapters/shared-memory/engine-memory.ts";
import { PackedStore } from "../../src/adapters/storage/packed-store.ts";
import type { CoordinatorEndpoint } from "../../src/api/endpoints.ts";
import { COORDINATOR_COUNTERS, COORDINATOR_SLOTS, type CoordinatorCounter } from "../../src/core/layout/counters.ts";
import { BODY_ACCEPTED_LEVELS, BODY_JSON_OWN } from "../../src/core/protocol/body-kind.ts";
import type {
  DetectorStatesWanted,
  EngineNotice,
  ReturnedStreams,
  StatePartWanted,
  StreamsWanted,
} from "../../src/core/protocol/engine-control.ts";
import type { OwnTelemetry } from "../../src/core/protocol/own-telemetry.ts";
import type { QueryAnswer } from "../../src/core/protocol/query.ts";
import { trainService } from "../../src/domain/detection/multivariate/service-training.ts";
import { readTrainingInput } from "../../src/domain/detection/multivariate/training-input.ts";
import { Cluster, type ClusterAnswer, type VirtualClock } from "./cluster.ts";
import { deleteCoveredSegments } from "./covered-segments.ts";
import type { MemoryDisk } from "./memory-log.ts";
import { MemoryStore, type MemoryStoreContents } from "./memory-store.ts";

const DAY_MS = 24 * 3600 * 1000;
/** Turns after which something that should have ended never will. */
const TURNS_MAX = 200_000;
/** After so many rounds in which nobody had anything to do, time has to pass. */
const IDLE_ROUNDS = 3;

/** What outlives the process. */
export interface SimulatedMachine {
  readonly clock: VirtualClock;
  readonly disk: MemoryDisk;
  readonly control: MemoryStoreContents;
  readonly series: MemoryStoreContents;
}

export interface SimulatedServerOptions {
  readonly engines: number;
  readonly epoch: number;
  readonly seed: number;
  /** Most turns that a commit takes beyond one. */
  readonly commitTurnsMax: number;
  readonly segmentBytes: number;
  readonly blockBytes: number;
  readonly checkpointCycleBytes: number;
  readonly checkpointLogShare: number;
  readonly checkpointPartBytes: number;
  readonly idleMs: number;
  readonly retentionMs?: number;
  /** Seven days where it is not given. */
  readonly rawRetentionMs?: number;
  readonly seriesLimit?: number;
  /** No cycle of the Watchdog runs where it is not given. */
  readonly watchdogIntervalMs?: number;
  /** |z| of layer 1; 3 where it is not given. */
  readonly threshold?: number;
  readonly timeZone?: string;
  readonly pairsMax?: number;
  readonly rings?: RingSizes;
  /** How long frames for the series store gather; not at all where it is not given. */
  readonly seriesGatherMs?: number;
  /** WATCHDOG_SERVICES_MAX; none where it is not given. */
  readonly servicesMax?: number;
  /** By number; `default` where none are given. */
  readonly tenants?: readonly string[];
  /** What trainings of models wait for before they begin. */
  readonly trainingGate?: Promise<void>;
}

/** Sizes at which some bodies already make several segments, blocks and parts of checkpoints; streams stay in memory. */
export const SMALL_SIZES = {
  segmentBytes: 65536,
  blockBytes: 4096,
  checkpointCycleBytes: 2 ** 20,
  checkpointLogShare: 4,
  checkpointPartBytes: 1024,
  commitTurnsMax: 2,
  idleMs: Number.POSITIVE_INFINITY,
} as const;

/** Lets every promise that can go on go on. */
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

/** One start of the server. Call `open` first. */
export class SimulatedServer {
  readonly control: MemoryStore;
  readonly series: MemoryStore;
  readonly engines: number;
  readonly #options: SimulatedServerOptions;
  readonly #machine: SimulatedMachine;
  readonly #turns: Array<() => void> = [];
  /** What engines ask for, in order. */
  readonly #wanted: Array<() => void> = [];
  readonly #slots = new Float64Array(COORDINATOR_SLOTS);
  readonly #answers = new Map<number, (answer: QueryAnswer) => void>();
  #coordinator: Coordinator;
  #cluster: Cluster | undefined;
  #calls = 0;
  #stepping = false;
  #hasMore = true;
  #isTurn = false;
  #dueMs = 0;
  #reported = false;
  #stopped = false;
  #failure: unknown;
  segmentsDeleted = 0;

  constructor(options: SimulatedServerOptions, machine: SimulatedMachine) {
    this.#options = options;
    this.#machine = machine;
    this.engines = options.engines;
    const turn = () => new Promise<void>((resolve) => this.#turns.push(resolve));
    const pace = { delayTurnsMax: options.commitTurnsMax, turn };
    this.control = new MemoryStore({ tables: CONTROL_TABLES, contents: machine.control, seed: options.seed, ...pace });
    this.series = new MemoryStore({ tables: SERIES_TABLES, contents: machine.series, seed: options.seed + 1, ...pace });
    this.#coordinator = this.#makeCoordinator();
  }

  #makeCoordinator(): Coordinator {
    const { clock } = this.#machine;
    const links = Array.from({ length: this.engines }, (_, engine) => ({
      deliver: (streams: ReturnedStreams) => this.cluster.link(engine).deliver(streams),
      notify: (message: EngineNotice) => this.#cluster?.link(engine).notify(message),
      takeFrames: (most: number) => this.#cluster?.link(engine).takeFrames(most) ?? [],
      reuse: (payload: Uint8Array) => this.#cluster?.link(engine).reuse(payload),
      ask: (query: Parameters<ReturnType<Cluster["link"]>["ask"]>[0]) => this.cluster.link(engine).ask(query),
    }));
    const { watchdogIntervalMs, seriesGatherMs } = this.#options;
    // Different ones in each start, and the same in each run.
    let drawn = 16 * this.#options.epoch;
    const settings = {
      version: "1.0.0",
      zThreshold: 3,
      samplesMin: 12,
      window: 120,
      retentionMs: 30 * DAY_MS,
      rawRetentionMs: this.#options.rawRetentionMs ?? 7 * DAY_MS,
      ...(watchdogIntervalMs !== undefined && { watchdogIntervalMs }),
      ...(seriesGatherMs !== undefined && { seriesGatherMs }),
    };
    return new Coordinator(settings, {
      controlStore: new PackedStore(this.control, PACKED_TABLES.control),
      seriesStore: new PackedStore(this.series, PACKED_TABLES.series),
      engines: links,
      counters: this.#slots,
      nowMs: () => clock.wallMs(),
      monotonicMs: () => clock.monotonicMs(),
      emit: (message) => {
        if (message.type === "answer") this.#answers.get(message.id)?.(message);
        else if (message.type === "stopped") this.#stopped = true;
        else if (message.type === "own-telemetry") this.#wanted.push(() => this.#submitOwn(message));
      },
      observeLatencySeconds: () => undefined,
      deleteLogSegments: (floor) => {
        this.segmentsDeleted += deleteCoveredSegments("log", floor, this.#machine.disk);
      },
      measureDisk: () => ({ logBytes: this.#machine.disk.usedBytes, logSegments: 1, freeBytes: Number.MAX_SAFE_INTEGER }),
      randomBytes: (count) => new Uint8Array(count).fill(7).fill(++drawn, 0, 1),
      yieldToLoop: () => Promise.resolve(),
      sleep: () => Promise.resolve(),
      wake: () => {
        this.#hasMore = true;
      },
      train: async (input) => {
        await this.#options.trainingGate;
        return trainService(readTrainingInput(input));
      },
    });
  }

  #submitOwn({ id, tenant, holds, body }: OwnTelemetry): void {
    const number = this.#options.tenants?.indexOf(tenant) ?? 0;
    const kind = holds === "records" ? BODY_JSON_OWN : BODY_ACCEPTED_LEVELS;
    const answered = (answer: ClusterAnswer) => void this.#coordinator.handle({ type: "own-telemetry-answer", id, ...answer });
    this.submit(this.engines - 1, kind, body, "", answered, number);
  }

  get cluster(): Cluster {
    if (this.#cluster === undefined) throw new Error("the server is not open");
    return this.#cluster;
  }

  /** Reads the stores and builds the engines, which then have their logs to read. `turnsMax` less than it needs leaves it half open: false. */
  async open(turnsMax = TURNS_MAX): Promise<boolean> {
    let isOpen = false;
    void this.#coordinator.open().then(
      () => {
        isOpen = true;
      },
      (error) => this.#fail(error),
    );
    for (let turns = 0; !isOpen && turns < turnsMax; turns++) await this.turn();
    if (!isOpen) return false;
    const { seed: _seed, commitTurnsMax: _turns, seriesGatherMs: _rest, ...options } = this.#options;
    const checkpoints = [...this.#coordinator.loadCheckpoints()];
    const logMarks = this.#coordinator.loadLogMarks();
    const returnStreams = (engine: number, wanted: StreamsWanted) =>
      void this.#wanted.push(() => this.#coordinator.returnStreams(engine, wanted));
    const loadDetectorStates = (wanted: DetectorStatesWanted) => this.#coordinator.loadDetectorStates(wanted);
    const loadStatePart = (wanted: StatePartWanted) => this.#coordinator.loadStatePart(wanted);
    this.#cluster = new Cluster(
      {
        ...options,
        checkpoints,
        logMarks,
        metadata: this.#coordinator.loadMetadata(),
        metricScopes: this.#coordinator.loadMetricScopes(),
        watchdogSettings: this.#coordinator.loadWatchdogSettings(),
      },
      { ...this.#machine, loadStatePart, loadDetectorStates, returnStreams },
    );
    return true;
  }

  /** Lets the oldest waiting commit go on by one turn. */
  async turn(): Promise<void> {
    this.#turns.shift()?.();
    this.#wanted.shift()?.();
    await settle();
    this.#throwFailure();
  }

  /** Begins a step of the coordinator, or lets the one under way go on; false when there is nothing to do now. */
  async stepCoordinator(): Promise<boolean> {
    const becameReady = this.#cluster?.isReady === true && !this.#reported;
    const isDue =
      becameReady ||
      this.#hasMore ||
      this.#machine.clock.monotonicMs() >= this.#dueMs ||
      this.#cluster?.members.some(({ ring }) => ring.fill > 0);
    // Between steps a commit of the series store may be under way: half of the turns are its own.
    this.#isTurn = !this.#isTurn || isDue !== true;
    if (this.#stepping || (this.#turns.length + this.#wanted.length > 0 && this.#isTurn)) {
      await this.turn();
      return true;
    }
    if (isDue !== true) return false;
    if (becameReady) {
      this.#reported = true;
      await this.#coordinator.handle({ type: "engines-ready", tornEnds: new Map() });
    }
    this.#stepping = true;
    this.#coordinator.step().then(
      ({ more, dueMs }) => {
        this.#stepping = false;
        this.#hasMore = more;
        this.#dueMs = dueMs;
      },
      (error) => this.#fail(error),
    );
    await settle();
    this.#throwFailure();
    return true;
  }

  /** Whether the front refuses writes. */
  get isReadOnly(): boolean {
    return this.counter("storeReadOnly") === 1;
  }

  counter(name: CoordinatorCounter): number {
    return this.#slots[COORDINATOR_COUNTERS.indexOf(name)] as number;
  }

  submit(
    engine: number,
    kind: number,
    bytes: Uint8Array,
    idempotencyKey: string,
    onAnswer: (answer: ClusterAnswer) => void,
    tenant = 0,
    sender = 0,
  ): boolean {
    return this.cluster.submit(engine, kind, bytes, onAnswer, idempotencyKey, tenant, sender);
  }

  /** Everything that was sent is applied and stored, and nobody has anything to do at this time. */
  async rest(): Promise<void> {
    for (let idle = 0, rounds = 0; idle < IDLE_ROUNDS; rounds++) {
      if (rounds > TURNS_MAX) throw new Error("the server does not come to rest");
      let did = false;
      for (let engine = 0; engine < this.engines; engine++) did = this.cluster.step(engine) || did;
      const isPaused = this.isReadOnly && !this.#stepping && this.#turns.length === 0;
      if (isPaused) this.#machine.clock.advance(100);
      did = (await this.stepCoordinator()) || did || isPaused;
      did = (!did && this.#endSeriesRest()) || did;
      idle = did ? 0 : idle + 1;
    }
  }

  /** Passes the time in which frames gather; false where none can. */
  #endSeriesRest(): boolean {
    const { clock } = this.#machine;
    const restMs = this.#dueMs - clock.monotonicMs();
    if (restMs <= 0 || restMs > (this.#options.seriesGatherMs ?? 0)) return false;
    clock.advance(restMs);
    return true;
  }

  /** An orderly stop. */
  async stop(): Promise<void> {
    this.cluster.stop();
    for (let rounds = 0; !this.cluster.isStopped; rounds++) {
      if (rounds > TURNS_MAX) throw new Error("the engines do not stop");
      for (let engine = 0; engine < this.engines; engine++) this.cluster.step(engine);
      await this.stepCoordinator();
      this.#machine.clock.advance(1);
    }
    await this.#coordinator.handle({ type: "stop" });
    for (let rounds = 0; !this.#stopped; rounds++) {
      if (rounds > TURNS_MAX) throw new Error("the coordinator does not stop");
      this.#hasMore = true;
      await this.stepCoordinator();
    }
    this.kill();
  }

  /** The process is gone. */
  kill(): void {
    this.control.kill();
    this.series.kill();
    this.#machine.disk.kill();
  }

  /** Asks as a client would. Throws on a status that is no success. */
  async query(
    endpoint: CoordinatorEndpoint,
    query: Readonly<Record<string, string>> = {},
    tenant = "default",
    body: unknown = null,
    path: Readonly<Record<string, string>> = {},
  ): Promise<unknown> {
    const id = ++this.#calls;
    let answer: QueryAnswer | undefined;
    this.#answers.set(id, (given) => {
      answer = given;
    });
    void this.#coordinator.handle({
      type: "query",
      id,
      endpoint,
      principal: { tenant, subject: "simulation", role: "operator" },
      path,
      query,
      body: body === null ? null : JSON.stringify(body),
      requestId: "test",
    });
    for (let idle = 0, rounds = 0; answer === undefined; rounds++) {
      if (rounds > TURNS_MAX) throw new Error(`${endpoint} is never answered`);
      let did = false;
      for (let engine = 0; engine < this.engines; engine++) did = this.cluster.step(engine) || did;
      // The coordinator goes on: an engine with a full ring could not answer.
      did = (await this.stepCoordinator()) || did;
      if (!did) await this.turn();
      idle = did ? 0 : idle + 1;
      // What is asked may wait for a stream that gathers with other frames on its way to the store.
      if (idle > IDLE_ROUNDS && this.#endSeriesRest()) idle = 0;
    }
    this.#answers.delete(id);
    if (answer.status >= 300) throw new Error(`${endpoint} ${JSON.stringify(query)} is answered ${answer.status} ${answer.body}`);
    return answer.body === "" ? null : JSON.parse(answer.body);
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
  }

  #throwFailure(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
