// Front ports, engines and a virtual clock on one thread, over an in-memory disk: real rings, real kernels, real log; no thread, no timer.
// What the engines send to the coordinator goes to whatever drains their rings.
import { readFileSync } from "node:fs";
import { Engine } from "../../src/actors/engine/engine.ts";
import { replayStart } from "../../src/actors/engine/recovery/recovery.ts";
import { EngineCounters } from "../../src/actors/engine/report/engine-counters.ts";
import { BodyPort } from "../../src/actors/front/body-port.ts";
import type { LogFileSystem } from "../../src/adapters/log/log-file-system.ts";
import { mergeBlocks, writerKey } from "../../src/adapters/log/log-merge.ts";
import { listSegments } from "../../src/adapters/log/log-segment.ts";
import { openLogWriter } from "../../src/adapters/log/log-writer.ts";
import type { Clock } from "../../src/adapters/platform/clock.ts";
import { CoordinatorRingReader } from "../../src/adapters/shared-memory/coordinator-ring.ts";
import { createEngineMemory, EngineMemory, ProcessSlots, type RingSizes } from "../../src/adapters/shared-memory/engine-memory.ts";
import type { EngineCounter, EngineSharedLimit } from "../../src/core/layout/counters.ts";
import { PROCESS_LENGTH_BYTES } from "../../src/core/layout/memory-map.ts";
import type { EngineFrame, LogMark, MetricMetadataEnvelope, MetricScopeEnvelope } from "../../src/core/protocol/coordinator-frame.ts";
import type { CrashNote } from "../../src/core/protocol/crash-note.ts";
import type {
  DetectorStates,
  DetectorStatesWanted,
  EngineAnswer,
  EngineCommand,
  EngineQuery,
  EngineRequest,
  SettingsUpdate,
  StatePart,
  StatePartWanted,
  StoredCheckpoint,
  StreamsWanted,
  WrittenCounts,
} from "../../src/core/protocol/engine-control.ts";
import type { SetAsideItem } from "../../src/core/protocol/set-aside.ts";
import type { IngestExports } from "../../src/domain/kernel/ingest-kernel.ts";
import { instantiateKernel } from "../../src/domain/kernel/kernel-instance.ts";
import type { ShardExports } from "../../src/domain/kernel/shard-kernel.ts";
import { engineOf } from "../../src/domain/placement/partition.ts";
import type { EngineLink } from "../../src/modules/engines/engine-link.ts";

/** A clock that stands still until it is moved. */
export class VirtualClock implements Clock {
  #wallMs: number;
  #monotonicMs = 1000;

  constructor(wallMs: number) {
    this.#wallMs = wallMs;
  }

  wallMs(): number {
    return this.#wallMs;
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  advance(ms: number): void {
    this.#wallMs += ms;
    this.#monotonicMs += ms;
  }

  /** Somebody sets the machine's clock. */
  stepWall(ms: number): void {
    this.#wallMs += ms;
  }
}

export interface ClusterOptions {
  readonly engines: number;
  readonly epoch: number;
  readonly checkpoints?: readonly StoredCheckpoint[];
  readonly logMarks?: readonly LogMark[];
  readonly metadata?: readonly MetricMetadataEnvelope[];
  readonly metricScopes?: readonly MetricScopeEnvelope[];
  readonly watchdogSettings?: SettingsUpdate;
  readonly seriesLimit?: number;
  readonly timeZone?: string;
  readonly pairsMax?: number;
  readonly sharedLimits?: Partial<Readonly<Record<EngineSharedLimit, number>>>;
  readonly leaveOut?: readonly CrashNote[];
  readonly threshold?: number;
  readonly segmentBytes?: number;
  readonly blockBytes?: number;
  readonly checkpointCycleBytes?: number;
  readonly checkpointLogShare?: number;
  readonly checkpointPartBytes?: number;
  /** Default: streams stay in memory. */
  readonly idleMs?: number;
  readonly rings?: RingSizes;
  readonly retentionMs?: number;
  /** WATCHDOG_SERVICES_MAX and the interval of cycles; by default no services are judged. */
  readonly servicesMax?: number;
  readonly watchdogIntervalMs?: number;
  /** By number; `default` where none are given. */
  readonly tenants?: readonly string[];
}

export interface ClusterDependencies {
  readonly clock: VirtualClock;
  readonly disk: LogFileSystem;
  /** Order in which engines are stepped; default: one after another. */
  readonly chooseEngine?: (engines: number) => number;
  /** Answers what engines ask of the coordinator at their start. */
  readonly loadStatePart?: (wanted: StatePartWanted) => StatePart;
  /** The same for states of the Watchdog's detectors; none are stored where it is not given. */
  readonly loadDetectorStates?: (wanted: DetectorStatesWanted) => DetectorStates;
  /** Takes what an engine asks of the coordinator later; what it wants comes by `link(engine).deliver`. */
  readonly returnStreams?: (engine: number, wanted: StreamsWanted) => void;
}

/** An answer of ingestion. */
export interface ClusterAnswer {
  readonly status: number;
  readonly body: string | null;
  /** Of remote-write 2.0. */
  readonly written: WrittenCounts | null;
}

/** One engine with its ends of rings and ports. */
interface Member {
  readonly engine: Engine;
  readonly bodies: BodyPort;
  readonly ring: CoordinatorRingReader;
  readonly commands: EngineCommand[];
  readonly queries: EngineRequest[];
}

let compiled: WebAssembly.Module | undefined;

function kernelModule(): WebAssembly.Module {
  compiled ??= new WebAssembly.Module(readFileSync("dist/domain/kernel/kernel.wasm"));
  return compiled;
}

const SEEDS = [1n, 2n, 3n, 4n] as const;
const STEPS_MAX = 2_000_000;

const noStates = (wanted: DetectorStatesWanted): DetectorStates => ({ ...wanted, type: "detector-states", pages: [], next: null });

/** Blocks whose payloads are spoiled at the next step, as their reader may do; Buffers, of which a slice is a view. */
function* spoiling(blocks: ReturnType<typeof mergeBlocks>): ReturnType<typeof mergeBlocks> {
  let step = blocks.next();
  for (; !step.done; step = blocks.next()) {
    const payload = Buffer.allocUnsafeSlow(step.value.payload.length);
    payload.set(step.value.payload);
    yield { ...step.value, payload };
    payload.fill(0xee);
  }
  return step.value;
}

/** Those of the settings that have a default of their own which are given. */
function given(options: ClusterOptions) {
  const names = [
    "watchdogSettings",
    "timeZone",
    "pairsMax",
    "sharedLimits",
    "leaveOut",
    "servicesMax",
    "watchdogIntervalMs",
    "blockBytes",
    "checkpointLogShare",
    "checkpointPartBytes",
    "checkpointCycleBytes",
  ] as const;
  return Object.fromEntries(names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]));
}

/** Some engines with their front ports. */
export class Cluster {
  readonly members: readonly Member[];
  readonly #dependencies: ClusterDependencies;
  readonly #askers = new Map<string, (answer: EngineAnswer) => void>();
  readonly #counters: readonly EngineCounters[];
  #admissions = 0;
  #queries = 0;
  replayedRows = 0;
  /** What engines left out of the logs. */
  readonly leftOut: SetAsideItem[] = [];

  constructor(options: ClusterOptions, dependencies: ClusterDependencies) {
    this.#dependencies = dependencies;
    const memories = Array.from(
      { length: options.engines },
      () => new EngineMemory(createEngineMemory(), options.rings === undefined ? {} : { rings: options.rings }),
    );
    const processSlots = new ProcessSlots(new SharedArrayBuffer(PROCESS_LENGTH_BYTES));
    this.#counters = memories.map((memory) => new EngineCounters(memory));
    this.members = memories.map((memory, engine) => this.#makeMember(options, memories, memory, engine, processSlots));
  }

  #makeMember(options: ClusterOptions, memories: EngineMemory[], memory: EngineMemory, engine: number, processSlots: ProcessSlots): Member {
    const { clock, disk } = this.#dependencies;
    const { epoch, engines } = options;
    const checkpoints = (options.checkpoints ?? []).filter(({ partition }) => engineOf(partition, engines) === engine);
    const logMarks = options.logMarks ?? [];
    const segments = listSegments("log", disk).filter((segment) => segment.epoch < epoch);
    const start = replayStart({ engine, engines, checkpoints, logMarks });
    const commands: EngineCommand[] = [];
    const queries: EngineRequest[] = [];
    const bodies = new BodyPort(memory, () => ++this.#admissions);
    const actor = new Engine(
      {
        engine,
        engines,
        epoch,
        checkpoints,
        logMarks,
        seeds: SEEDS,
        idleMs: options.idleMs ?? Number.POSITIVE_INFINITY,
        retentionMs: options.retentionMs ?? Number.POSITIVE_INFINITY,
        tenants: options.tenants ?? ["default"],
        metadata: options.metadata ?? [],
        metricScopes: options.metricScopes ?? [],
        seriesLimit: options.seriesLimit ?? 1_000_000,
        zThreshold: options.threshold ?? 3,
        samplesMin: 12,
        window: 120,
        ...given(options),
      },
      {
        memories,
        processSlots,
        clock,
        kernel: instantiateKernel<IngestExports & ShardExports>(kernelModule(), memory.memory),
        log: openLogWriter(
          { directory: "log", dataDir: ".", epoch, writer: engine, syncEach: false, segmentBytes: options.segmentBytes ?? 1024 * 1024 },
          disk,
        ),
        replay: spoiling(mergeBlocks(segments, new Map(start.map((mark) => [writerKey(mark.epoch, mark.lane), mark])), disk)),
        report: (report) => {
          if (report.type === "answers") bodies.answer(report);
          else if (report.type === "ready") {
            this.replayedRows += report.replayedRows;
            this.leftOut.push(...report.leftOut);
          }
        },
        ringCoordinator: () => {},
        takeCommand: () => commands.shift(),
        takeRequest: () => queries.shift(),
        reply: (answer) => {
          if (answer.type === "state-part") {
            queries.push((this.#dependencies.loadStatePart as (wanted: StatePartWanted) => StatePart)(answer));
            return;
          }
          if (answer.type === "detector-states-wanted") {
            queries.push(this.#dependencies.loadDetectorStates?.(answer) ?? noStates(answer));
            return;
          }
          if (answer.type === "streams-wanted") {
            this.#dependencies.returnStreams?.(engine, answer);
            return;
          }
          this.#askers.get(`${engine} ${answer.id}`)?.(answer);
          this.#askers.delete(`${engine} ${answer.id}`);
        },
      },
    );
    return { engine: actor, bodies, ring: new CoordinatorRingReader(memory), commands, queries };
  }

  /** Hands a body to an engine; resolves nothing, the answer comes by callback once steps are taken. */
  submit(
    engine: number,
    kind: number,
    bytes: Uint8Array,
    onAnswer: (answer: ClusterAnswer) => void,
    idempotencyKey = "",
    tenant = 0,
    sender = 0,
  ): boolean {
    const { clock } = this.#dependencies;
    const port = (this.members[engine] as Member).bodies;
    const times = { arrivalMs: clock.monotonicMs(), wallMs: clock.wallMs() };
    const body = { bytes, kind, tenant, idempotencyKey, ...times, isAnonymous: false, sender };
    const taken = port.submit(body, { answer: (status, text, written) => onAnswer({ status, body: text, written }) });
    port.publish();
    return taken;
  }

  /** Steps engines, in the order that `chooseEngine` gives, until none has anything to do. `onFrames` gets what they sent, each engine's in order. */
  run(onFrames: (engine: number, frames: EngineFrame[]) => void): void {
    const count = this.members.length;
    const choose = this.#dependencies.chooseEngine ?? (() => 0);
    let idle = 0;
    for (let steps = 0; idle < count; steps++) {
      if (steps > STEPS_MAX) throw new Error("the cluster does not come to rest");
      if (this.#stepOne(choose(count), onFrames)) idle = 0;
      else if (this.#stepOne(steps % count, onFrames)) idle = 0;
      else idle++;
    }
  }

  #stepOne(index: number, onFrames: (engine: number, frames: EngineFrame[]) => void): boolean {
    const member = this.members[index] as Member;
    const did = member.engine.step();
    const frames = member.ring.take(1000);
    if (frames.length > 0) onFrames(index, frames);
    return did || frames.length > 0;
  }

  /** Steps one engine once; false when it had nothing to do. Its frames stay in its ring. */
  step(engine: number): boolean {
    return (this.members[engine] as Member).engine.step();
  }

  /** Whether every engine has read its logs. */
  get isReady(): boolean {
    return this.members.every(({ engine }) => engine.phase !== "recovering");
  }

  get isStopped(): boolean {
    return this.members.every(({ engine }) => engine.phase === "stopped");
  }

  /** Sum over the engines. */
  counter(name: EngineCounter): number {
    return this.#counters.reduce((sum, counters) => sum + counters.get(name), 0);
  }

  /** The coordinator's end of an engine. */
  link(engine: number): EngineLink {
    const { ring, queries } = this.members[engine] as Member;
    return {
      takeFrames: (most) => ring.take(most),
      reuse: (payload) => ring.reuse(payload.fill(0xff)), // whoever reads it later is found out
      deliver: (streams) => void queries.push(streams),
      notify: (message) => void queries.push(message),
      ask: (query) => {
        queries.push(query);
        return new Promise((resolve) => this.#askers.set(`${engine} ${query.id}`, resolve));
      },
    };
  }

  /** Asks one engine; the answer comes once it is stepped. */
  ask(engine: number, query: Omit<EngineQuery, "id">): Promise<EngineAnswer> {
    const id = ++this.#queries;
    (this.members[engine] as Member).queries.push({ ...query, id } as EngineQuery);
    return new Promise((resolve) => this.#askers.set(`${engine} ${id}`, resolve));
  }

  /** Tells every engine of a tenant, as main does before it publishes the tenant's first body. */
  announce(index: number, name: string): void {
    for (const member of this.members) member.commands.push({ type: "tenant", index, name });
  }

  stop(): void {
    for (const member of this.members) member.commands.push({ type: "stop" });
  }
}
