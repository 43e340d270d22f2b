// A thread of engines: waits until it is told what is stored, builds its engines over their memories, then steps one after another for ever and sleeps on the
// doorbell when there is nothing to do.
// No timers, promises or console here: they never run in a thread that blocks.
import { writeCrashNote } from "../../adapters/log/crash-notes.ts";
import { keepingDamaged } from "../../adapters/log/damaged-bytes.ts";
import { nodeFileSystem } from "../../adapters/log/log-file-system.ts";
import { readInventory } from "../../adapters/log/log-inventory.ts";
import { mergeBlocks, writerKey } from "../../adapters/log/log-merge.ts";
import { listSegments } from "../../adapters/log/log-segment.ts";
import { openLogWriter } from "../../adapters/log/log-writer.ts";
import { logDirectory } from "../../adapters/log/meta-file.ts";
import { systemClock } from "../../adapters/platform/clock.ts";
import { yieldEngine } from "../../adapters/platform/engine-priority.ts";
import { idleCollection } from "../../adapters/platform/idle-collection.ts";
import { nameSources } from "../../adapters/platform/source-positions.ts";
import { type EngineMemory, ProcessSlots } from "../../adapters/shared-memory/engine-memory.ts";
import { viewMemories } from "../../adapters/shared-memory/engine-threads.ts";
import { Mailbox, type MessagePort } from "../../adapters/threads/mailbox.ts";
import { threadData } from "../../adapters/threads/threads.ts";
import type { EngineCommand, EngineReply, EngineReport, EngineRequest, FramesPlaced } from "../../core/protocol/engine-control.ts";
import { messageOf } from "../../core/text/error-text.ts";
import type { IngestExports } from "../../domain/kernel/ingest-kernel.ts";
import { instantiateKernel } from "../../domain/kernel/kernel-instance.ts";
import type { ShardExports } from "../../domain/kernel/shard-kernel.ts";
import { Engine } from "./engine.ts";
import type { EngineOptions } from "./engine-options.ts";
import { replayStart } from "./recovery/recovery.ts";
import { rehearse } from "./rehearsal.ts";
import { EngineCounters } from "./report/engine-counters.ts";

/** Main tells an engine once what it is made with, before anything else. */
export interface EngineBegin {
  readonly type: "begin";
  readonly options: EngineOptions;
  readonly kernelModule: WebAssembly.Module;
}

/** One engine of a thread. */
export interface EngineData {
  readonly engine: number;
  readonly mainPort: MessagePort;
  readonly coordinatorPort: MessagePort;
}

/** Start data of a thread of engines, from main. */
export interface EngineThreadData {
  /** At least one. */
  readonly engines: readonly EngineData[];
  /** Number of threads of all engines. */
  readonly threads: number;
  readonly dataDir: string;
  readonly syncEach: boolean;
  /** Memories of all engines. */
  readonly memories: readonly WebAssembly.Memory[];
  readonly processSlots: SharedArrayBuffer;
}

/** An engine that this thread runs. */
interface HostedEngine {
  readonly engine: Engine;
  readonly memory: EngineMemory;
  readonly counters: EngineCounters;
  /** Notes what it was working at. */
  noteEnd(error: unknown): void;
  close(): void;
}

/** Longest sleep while an engine waits to be told to begin; main rings the bell. */
const BEGIN_WAIT_MS = 1_000;

/** Blocks until an engine is told to begin; what is told behind it is left for the engine. */
function awaitBegin(main: Mailbox<EngineBegin, EngineReport>, memory: EngineMemory): EngineBegin {
  for (;;) {
    const bell = memory.bell();
    const begin = main.take();
    if (begin !== undefined) return begin;
    memory.sleep(bell, BEGIN_WAIT_MS);
  }
}

function host(
  { engine: number, mainPort, coordinatorPort }: EngineData,
  data: EngineThreadData,
  memories: readonly EngineMemory[],
): HostedEngine {
  const memory = memories[number] as EngineMemory;
  const { options, kernelModule } = awaitBegin(new Mailbox<EngineBegin, EngineReport>(mainPort), memory);
  if (number === data.engines[0]?.engine) rehearse(options, { kernelModule, clock: systemClock });
  const main = new Mailbox<EngineCommand, EngineReport>(mainPort);
  const coordinator = new Mailbox<EngineRequest, EngineReply | FramesPlaced>(coordinatorPort);
  const directory = logDirectory(data.dataDir);
  const segments = listSegments(directory).filter(({ epoch }) => epoch < options.epoch);
  const replayFrom = new Map(replayStart(options).map((mark) => [writerKey(mark.epoch, mark.lane), mark]));
  const engine = new Engine(options, {
    memories,
    kernel: instantiateKernel<IngestExports & ShardExports>(kernelModule, memory.memory),
    processSlots: new ProcessSlots(data.processSlots),
    log: openLogWriter({ directory, dataDir: data.dataDir, epoch: options.epoch, writer: options.engine, syncEach: data.syncEach }),
    replay: keepingDamaged(mergeBlocks(segments, replayFrom, nodeFileSystem, readInventory(data.dataDir)), data.dataDir, options.engine),
    clock: systemClock,
    report: (report) => main.send(report),
    ringCoordinator: () => coordinator.send({ type: "frames" }),
    takeCommand: () => main.take(),
    takeRequest: () => coordinator.take(),
    reply: (reply, moved) => coordinator.send(reply, moved),
  });
  const close = () => {
    main.close();
    coordinator.close();
  };
  const noteEnd = (error: unknown) => {
    const position = engine.crashPosition;
    const reason = messageOf(error);
    if (position !== null)
      writeCrashNote(data.dataDir, { epoch: options.epoch, actor: `engine-${options.engine}`, reason, place: position });
  };
  return { engine, memory, counters: new EngineCounters(memory), noteEnd, close };
}

/** Until all have stopped. */
function loop(hosted: readonly HostedEngine[]): void {
  const { memory, counters } = hosted[0] as HostedEngine;
  const collection = idleCollection();
  while (hosted.some(({ engine }) => engine.phase !== "stopped")) {
    const bell = memory.bell();
    if (stepAll(hosted)) continue;
    collection.check();
    memory.sleep(bell, Math.min(...hosted.map(({ engine }) => engine.restMs)));
    counters.add("wakeups", 1);
  }
}

/** Steps each engine once; true when one of them did anything. */
function stepAll(hosted: readonly HostedEngine[]): boolean {
  let any = false;
  let sinceMs = systemClock.monotonicMs();
  for (const each of hosted) {
    any = stepOne(each) || any;
    const nowMs = systemClock.monotonicMs();
    each.counters.add("busySeconds", (nowMs - sinceMs) / 1000);
    sinceMs = nowMs;
  }
  return any;
}

/** A throw is the end of the process (ADR 8); the next start leaves out what it was over. */
function stepOne({ engine, noteEnd }: HostedEngine): boolean {
  try {
    return engine.step();
  } catch (error) {
    noteEnd(error);
    throw error;
  }
}

function run(data: EngineThreadData): void {
  yieldEngine();
  const memories = viewMemories(data.memories, data.threads);
  const hosted = data.engines.map((each) => host(each, data, memories));
  loop(hosted);
  for (const each of hosted) each.close();
}

nameSources();
run(threadData<EngineThreadData>());
