// An engine: one lane, one shard, their recovery and their checkpoints, as a loop that can be stepped. It never waits and holds no timer;
// its shell (worker.ts, or a simulation) steps it, sleeps when a step had nothing to do, and delivers messages.
import { LogWriteError } from "../../adapters/log/log-writer.ts";
import type { EngineMemory } from "../../adapters/runtime/engine-memory.ts";
import { InboxReader } from "../../adapters/runtime/inbox-ring.ts";
import { BLOCK_BYTES, CHECKPOINT_LOG_SHARE, CHECKPOINT_PART_BYTES, CHECKPOINT_ROUND_LOG_BYTES } from "../../core/config/limits.ts";
import { ARRIVAL_HISTORY, ROW_BYTES } from "../../core/layout/row-frame.ts";
import type { LogFlaw } from "../../core/protocol/data-fault.ts";
import { fillThresholdTables } from "../../domain/detection/thresholds.ts";
import { environmentSettings } from "../../domain/detection/watchdog-settings.ts";
import { ShardKernel } from "../../domain/kernel/shard-kernel.ts";
import { partitionOf } from "../../domain/placement/partition.ts";
import { MetadataBook } from "../../domain/series/metadata-book.ts";
import { StreamEviction } from "./cold/stream-eviction.ts";
import { EngineCommands } from "./engine-commands.ts";
import { EngineInbox } from "./engine-inbox.ts";
import type { EngineDependencies, EngineOptions } from "./engine-options.ts";
import { Lane } from "./lane/lane.ts";
import { makeLaneDecoders } from "./lane/lane-decoders.ts";
import { Placement } from "./lane/placement.ts";
import { BehaviourWalk } from "./queries/behaviour-walk.ts";
import { DelayedQueries } from "./queries/delayed-queries.ts";
import { EvidenceWalk } from "./queries/evidence-walk.ts";
import { SeriesQueries } from "./queries/series-queries.ts";
import { Checkpoints } from "./recovery/checkpoints.ts";
import { isHistoryBlock, Recovery, type ReplayBlock } from "./recovery/recovery.ts";
import { EngineCounters } from "./report/engine-counters.ts";
import { type EngineShares, makeEngineShares } from "./report/engine-shares.ts";
import { Outbox } from "./report/outbox.ts";
import { Shard } from "./shard/shard.ts";
import { ShardHandlers } from "./shard-handlers.ts";
import { ServiceIndex } from "./streams/service-index.ts";
import { runsOfAnswers } from "./unit/answer-runs.ts";
import type { WorkUnit } from "./unit/work-unit.ts";
import type { EngineWatchdog } from "./watchdog/cycle/engine-watchdog.ts";
import { makeEngineWatchdog } from "./watchdog/detectors.ts";
import { LongBaselines } from "./watchdog/pairs/long-baselines.ts";

/** Frames taken from one ring before the others get their turn. */
const FRAMES_PER_TURN = 16;
/** What waits for the coordinator while logs are read before it is told. */
const REPLAY_FLUSH_BYTES = 256 * 1024;
/** Milliseconds between two looks at what is due by time. */
const TICK_MS = 200;
/** How long an orderly stop waits for the store to take the last frames; what it has not taken is in the log. */
const STOP_MS_MAX = 10_000;

type Phase = "recovering" | "serving" | "stopping" | "stopped";

/** One engine of the process. */
export class Engine {
  readonly #options: EngineOptions;
  readonly #dependencies: EngineDependencies;
  readonly #memory: EngineMemory;
  readonly #counters: EngineCounters;
  readonly #outbox: Outbox;
  readonly #shard: Shard;
  readonly #handlers: ShardHandlers;
  readonly #lane: Lane;
  readonly #placement: Placement;
  readonly #recovery: Recovery;
  /** A block of the logs that has been read and waits to be applied. */
  #block: ReplayBlock | undefined;
  /** What the logs ended with, once they have been read. */
  #replayed: readonly LogFlaw[] | undefined;
  /** Once the logs have been read. */
  #checkpoints: Checkpoints | undefined;
  readonly #watchdog: EngineWatchdog;
  readonly #baselines: LongBaselines;
  readonly #services: ServiceIndex;
  readonly #kernel: ShardKernel;
  readonly #delayed: DelayedQueries;
  readonly #commands: EngineCommands;
  readonly #inbox: EngineInbox;
  readonly #readers: ReadonlyArray<InboxReader | undefined>;
  readonly #shares: EngineShares;
  readonly #metadata: MetadataBook;
  readonly #startMs: number;
  #phase: Phase = "recovering";
  #nextTickMs = 0;
  #stopByMs = Number.POSITIVE_INFINITY;
  #lastMark = false;

  constructor(options: EngineOptions, dependencies: EngineDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#commands = new EngineCommands(options.tenants, dependencies.takeCommand);
    const { tenants } = this.#commands;
    const tenantIndex = (name: string) => tenants.number(name);
    this.#startMs = dependencies.clock.monotonicMs();
    const memory = dependencies.memories[options.engine] as EngineMemory;
    this.#memory = memory;
    this.#counters = new EngineCounters(memory);
    this.#shares = makeEngineShares(options, tenants, this.#counters);
    this.#metadata = new MetadataBook(this.#shares.ledger("metric_metadata"));
    this.#metadata.take(options.metadata ?? []);
    this.#outbox = new Outbox(memory, dependencies.ringCoordinator);
    this.#placement = new Placement(options.engine, dependencies.memories);
    this.#readers = dependencies.memories.map((_, lane) => (lane === options.engine ? undefined : new InboxReader(memory, lane)));
    dependencies.kernel.setSeeds(...options.seeds);
    const { processWords, reply: ask } = dependencies;
    const [outbox, { threshold, minSamples, window }] = [this.#outbox, options];
    const kernel = new ShardKernel({ window }, { kernel: dependencies.kernel, buffer: memory.memory.buffer });
    fillThresholdTables(kernel.thresholdTables, threshold, minSamples);
    const settings = environmentSettings({ ...options, zThreshold: threshold });
    this.#services = new ServiceIndex(memory, dependencies.kernel);
    this.#shard = new Shard(
      { engine: options.engine, engines: options.engines, settings, minSamples, blockBytes: options.blockBytes ?? BLOCK_BYTES },
      {
        memory,
        kernel,
        processWords,
        outbox,
        counters: this.#counters,
        services: this.#services,
        tenantIndex,
        askForStreams: dependencies.reply,
      },
    );
    if (options.watchdogSettings !== undefined) this.#shard.profiles.take(options.watchdogSettings);
    const { seriesLimit, idleMs, normalizeTemporality: normalize = true } = options;
    const [shard, counters, shares] = [this.#shard, this.#counters, this.#shares];
    const shared = { ...dependencies, memory, kernel, outbox, tenantIndex, tenants: () => tenants.count, counters, shard, shares };
    this.#handlers = new ShardHandlers({ seriesLimit, idleMs, normalize }, shared);
    this.#delayed = new DelayedQueries({
      returns: this.#shard.returns,
      outbox,
      queries: new SeriesQueries(this.#shard, kernel, this.#services),
      reply: dependencies.reply,
    });
    this.#baselines = new LongBaselines(options, { ...shared, ask });
    const [services, metadata] = [this.#services, this.#metadata];
    this.#watchdog = makeEngineWatchdog(options, { pairs: this.#baselines.pass }, { ...shared, services, metadata });
    this.#recovery = this.#makeRecovery(kernel);
    this.#inbox = new EngineInbox({
      ...shared,
      metadata,
      behaviour: this.#makeBehaviour(kernel),
      evidence: this.#makeEvidence(kernel),
      baselines: this.#baselines,
      watchdog: this.#watchdog,
      delayed: this.#delayed,
      restore: (part) => this.#recovery.restore(part),
      markLane: () => this.#checkpoints?.markNow(),
    });
    this.#kernel = kernel;
    this.#lane = this.#makeLane();
  }

  #makeEvidence(kernel: ShardKernel): EvidenceWalk {
    return new EvidenceWalk({
      kernel,
      services: this.#services,
      nameOf: (slot) => this.#shard.nameOf(slot),
      lines: (tenant, name, minutes) => this.#handlers.logs.lines(partitionOf(tenant, name.serviceId), name, minutes),
      monotonicMs: () => this.#dependencies.clock.monotonicMs(),
    });
  }

  #makeBehaviour(kernel: ShardKernel): BehaviourWalk {
    return new BehaviourWalk({
      kernel,
      services: this.#services,
      metricNameOf: (slot) => this.#shard.nameOf(slot).metricName,
      monotonicMs: () => this.#dependencies.clock.monotonicMs(),
    });
  }

  #makeRecovery(kernel: ShardKernel): Recovery {
    const { engine, engines, laneMarks, checkpoints } = this.#options;
    const { processWords, kernel: lane, reply: askForPart } = this.#dependencies;
    const tenantIndex = (name: string) => this.#commands.tenants.number(name);
    return new Recovery(
      { engine, engines, laneMarks, checkpoints },
      { memory: this.#memory, shard: this.#shard, kernel, lane, outbox: this.#outbox, processWords, tenantIndex, askForPart },
    );
  }

  #makeCheckpoints(): Checkpoints {
    const { epoch, engine, engines, checkpointRoundBytes: roundBytes = CHECKPOINT_ROUND_LOG_BYTES } = this.#options;
    const { checkpointLogShare: logShare = CHECKPOINT_LOG_SHARE, checkpointPartBytes: partBytes = CHECKPOINT_PART_BYTES } = this.#options;
    const { memories, log } = this.#dependencies;
    const lanes = memories.map((memory) => new EngineCounters(memory));
    const replayedBytes = this.#recovery.rows * ROW_BYTES;
    return new Checkpoints(
      { epoch, engine, engines, roundBytes, logShare, partBytes },
      {
        memories,
        kernel: this.#kernel,
        readers: this.#readers,
        shard: this.#shard,
        eviction: this.#makeEviction(),
        outbox: this.#outbox,
        counters: this.#counters,
        logPosition: () => log.position,
        takeUsage: () => this.#lane.takeUsage(),
        endSegment: () => this.#endSegment(),
        // A start has the rows to apply, however small they are packed.
        logBytes: () =>
          lanes.reduce((sum, lane) => sum + Math.max(lane.get("logBytes"), lane.get("rowsPlaced") * ROW_BYTES), replayedBytes),
      },
      this.#recovery.restoredBytes,
    );
  }

  #makeEviction(): StreamEviction {
    const { idleMs, keptMs } = this.#options;
    const { clock, processWords } = this.#dependencies;
    return new StreamEviction(
      { idleMs, keptMs },
      {
        memory: this.#memory,
        kernel: this.#kernel,
        cold: this.#shard.cold,
        services: this.#services,
        removing: (slots) => {
          this.#handlers.families.removeSlots(slots);
          this.#baselines.pass.removeSlots(slots);
        },
        counters: this.#counters,
        processWords,
        wallMs: () => clock.wallMs(),
      },
    );
  }

  #makeLane(): Lane {
    const { kernel, log, clock, processWords, memories } = this.#dependencies;
    const memory = this.#memory;
    const counters = this.#counters;
    const requestId = (admission: number) => this.#requestId(admission);
    const shared = { memory, memories, processWords, kernel, counters, requestId, metadata: this.#metadata };
    const decoders = makeLaneDecoders(this.#options, {
      ...shared,
      wallMs: () => clock.wallMs(),
      tenantName: (index) => this.#commands.tenants.name(index),
      tenantIndex: (name) => this.#commands.tenants.number(name),
    });
    return new Lane(
      { engines: this.#options.engines },
      {
        ...decoders,
        memory,
        kernel,
        log,
        counters,
        requestId,
        placement: this.#placement,
        outbox: this.#outbox,
        takesHistory: () => this.#baselines.load(),
        monotonicMs: () => clock.monotonicMs(),
        applyOwn: (unit, rowBytes) => this.#applyOwn(unit, rowBytes),
        answer: (answers) => this.#dependencies.report({ type: "answers", ...runsOfAnswers(answers) }),
      },
    );
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Does what can be done now; false when that was nothing. */
  step(): boolean {
    if (this.#phase === "stopped") return false;
    const did = this.#phase === "recovering" ? this.#recover() : this.#serve();
    this.#shard.returns.flush();
    const moved = this.#holdsBack(did) ? false : this.#outbox.flush();
    return moved || did;
  }

  /** While logs are read nobody waits for a verdict: telling the coordinator of each costs as much as the rows. */
  #holdsBack(did: boolean): boolean {
    return did && this.#phase === "recovering" && this.#outbox.waitingBytes < REPLAY_FLUSH_BYTES;
  }

  /** A stop that comes before the start is over leaves everything to the next one, as a kill would. */
  #recover(): boolean {
    this.#commands.takeAll();
    if (this.#commands.isStopAsked) return this.#end();
    if (this.#outbox.isOverLimit) return false;
    if (!this.#recovery.isRestored) {
      this.#recovery.askForStates();
      return this.#inbox.takeOne("restoring");
    }
    const did = this.#inbox.takeOne("replaying");
    const { returns } = this.#shard;
    if (returns.isFull) return did;
    if (this.#replayed !== undefined) return this.#endReplay(this.#replayed) || did;
    return this.#replay() || did;
  }

  /** Applies the next block; one of history waits for the long baselines that it goes into. */
  #replay(): boolean {
    if (this.#block === undefined) {
      const step = this.#dependencies.replay.next();
      if (step.done) this.#replayed = step.value;
      else this.#block = step.value;
    }
    if (this.#block === undefined) return true;
    if (isHistoryBlock(this.#block) && !this.#baselines.load()) return false;
    this.#recovery.apply(this.#block);
    this.#block = undefined;
    this.#handlers.families.settle();
    this.#counters.set("rowsReplayed", this.#recovery.rows);
    return true;
  }

  /** The last rows may wait for streams. */
  #endReplay(flaws: readonly LogFlaw[]): boolean {
    if (!this.#shard.returns.isIdle) return false;
    this.#finishRecovery(flaws);
    return true;
  }

  #finishRecovery(flaws: readonly LogFlaw[]): void {
    this.#recovery.finish();
    this.#phase = "serving";
    this.#checkpoints = this.#makeCheckpoints();
    this.#shard.publishCounters();
    const replayMs = this.#dependencies.clock.monotonicMs() - this.#startMs;
    const streams = this.#dependencies.kernel.streams();
    this.#dependencies.report({ type: "ready", streams, replayedRows: this.#recovery.rows, replayMs, flaws });
  }

  #serve(): boolean {
    let did = this.#drainInboxes(FRAMES_PER_TURN);
    if (!this.#shard.returns.isFull) did = this.#lane.step() || did;
    if (did) this.#watchdog.noteBody();
    did = this.#takeMessages() || did;
    did = this.#shard.profiles.step() || did;
    did = this.#handlers.families.settle() || did;
    did = this.#delayed.answerSome(this.#checkpoints?.isCarrying === true) || did;
    did = this.#tick() || did;
    if (this.#phase === "serving") did = this.#handlers.doDue(did) || did;
    did = this.#checkpoints?.step() || did;
    // A cycle that a stop cuts off is made again by the next start: at its end it would only be stored.
    if (this.#phase === "serving") did = this.#stepWatchdog() || did;
    else did = this.#stop() || did;
    return this.#services.keepUp(did) || did;
  }

  #stepWatchdog(): boolean {
    if (!this.#watchdog.isDue(this.#lane.waiting > 0)) return false;
    const answer = this.#watchdog.step();
    if (answer !== undefined) this.#dependencies.reply(answer);
    return true;
  }

  /** Applies frames from the other lanes; true when there were any. */
  #drainInboxes(framesMax: number): boolean {
    let any = false;
    this.#readers.forEach((reader, lane) => {
      if (reader === undefined) return;
      let taken = 0;
      const { returns } = this.#shard;
      for (
        let frame = returns.isFull ? undefined : reader.peek();
        frame !== undefined;
        frame = taken < framesMax && !returns.isFull ? reader.peek() : undefined
      ) {
        if (frame.arrivalMs === ARRIVAL_HISTORY && !this.#baselines.load()) break;
        this.#shard.applyFrame(frame);
        // Verdicts go first: the lane answers once the frame is released, and who was answered and asks finds them in the ring.
        this.#outbox.flush();
        reader.release();
        taken++;
      }
      if (taken === 0) return;
      any = true;
      (this.#dependencies.memories[lane] as EngineMemory).ringBell();
    });
    return any;
  }

  #applyOwn(unit: WorkUnit, rowBytes: number): void {
    const self = this.#options.engine;
    this.#shard.define(unit);
    if (rowBytes > 0) this.#shard.applyStaged(unit, rowBytes, self);
    this.#shard.takeOwnMessages(unit);
  }

  #takeMessages(): boolean {
    const any = this.#commands.takeAll();
    if (this.#commands.isStopAsked && this.#phase === "serving") this.#phase = "stopping";
    return this.#inbox.takeOne("serving") || any;
  }

  #tick(): boolean {
    const nowMs = this.#dependencies.clock.monotonicMs();
    if (nowMs < this.#nextTickMs) return false;
    this.#nextTickMs = nowMs + TICK_MS;
    this.#publishCounters();
    if (this.#phase === "serving") this.#baselines.tick(nowMs);
    if (this.#phase === "serving") for (const handler of this.#shard.handlers) handler.tick(this.#dependencies.clock.wallMs());
    return this.#phase === "serving" && !this.#outbox.isOverLimit && this.#checkpoints?.tick(nowMs) === true;
  }

  /** How long the engine may sleep when it has nothing to do. */
  get restMs(): number {
    return Math.min(TICK_MS, this.#handlers.dueInMs);
  }

  #endSegment(): boolean {
    const { log } = this.#dependencies;
    if (!this.#lane.isIdle) return false;
    try {
      if (log.position.offset > 0) log.endSegment();
    } catch (error) {
      if (!(error instanceof LogWriteError)) throw error;
      this.#counters.add("logErrors", 1);
      return false;
    }
    this.#memory.publishPlaced(log.position);
    return true;
  }

  #publishCounters(): void {
    const counters = this.#counters;
    this.#shard.publishCounters();
    counters.raise("inboxFillMax", this.#placement.inboxFill);
    counters.set("coordinatorRingFill", this.#outbox.ringFill);
    counters.set("overflowFrames", this.#outbox.frames);
    counters.set("laneTableEntries", this.#dependencies.kernel.laneTableEntries());
    counters.set("laneTextBytes", this.#dependencies.kernel.laneTextBytes());
  }

  /** Once nothing is under way: checkpoints of all partitions, then the end. */
  #stop(): boolean {
    const checkpoints = this.#checkpoints as Checkpoints;
    if (!this.#lane.isIdle || !this.#shard.returns.isIdle) return false;
    if (this.#stopByMs === Number.POSITIVE_INFINITY) {
      this.#stopByMs = this.#dependencies.clock.monotonicMs() + STOP_MS_MAX;
      this.#watchdog.storeAll();
      checkpoints.beginLast();
      return true;
    }
    const isLate = this.#dependencies.clock.monotonicMs() >= this.#stopByMs;
    if (!isLate && !this.#baselines.storeAll()) return false;
    if (!isLate && !this.#lastMark) {
      if (!checkpoints.isDone) return false;
      this.#lastMark = true;
      checkpoints.markNow();
      return true;
    }
    if (!isLate && !this.#outbox.drained) return false;
    return this.#end();
  }

  #end(): boolean {
    this.#dependencies.log.close();
    this.#phase = "stopped";
    this.#dependencies.report({ type: "stopped" });
    return true;
  }

  #requestId(admission: number): string {
    return `${this.#options.epoch.toString(16).padStart(7, "0")}-${admission.toString(16).padStart(13, "0")}`;
  }
}
