// The thread of one engine: builds it over its memory, then steps it for ever and sleeps on the doorbell when there is nothing to do.
// No timers, promises or console here: they never run in a thread that blocks.
import { laneKey, mergeBlocks } from "../../adapters/log/log-reader.ts";
import { listSegments } from "../../adapters/log/log-segment.ts";
import { openLogWriter } from "../../adapters/log/log-writer.ts";
import { logDirectory } from "../../adapters/log/meta-file.ts";
import { systemClock } from "../../adapters/runtime/clock.ts";
import { EngineMemory, ProcessWords } from "../../adapters/runtime/engine-memory.ts";
import { yieldEngine } from "../../adapters/runtime/engine-priority.ts";
import { adoptPort, type MessagePort, threadData } from "../../adapters/runtime/threads.ts";
import type { EngineCommand, EngineReply, EngineReport, EngineRequest } from "../../core/protocol/engine-control.ts";
import type { CoordinatorCommand } from "../../core/protocol/query.ts";
import { instantiateKernel } from "../../domain/kernel/kernel-instance.ts";
import type { LaneExports } from "../../domain/kernel/lane-kernel.ts";
import type { ShardExports } from "../../domain/kernel/shard-kernel.ts";
import { Engine } from "./engine.ts";
import { EngineCounters } from "./engine-counters.ts";
import type { EngineOptions } from "./engine-options.ts";
import { replayStart } from "./recovery.ts";

/** What main gives an engine's thread. */
export interface EngineThreadData {
  readonly options: EngineOptions;
  readonly dataDir: string;
  readonly syncEach: boolean;
  readonly kernelModule: WebAssembly.Module;
  readonly memories: readonly WebAssembly.Memory[];
  readonly processWords: SharedArrayBuffer;
  readonly mainPort: MessagePort;
  readonly coordinatorPort: MessagePort;
}

function run(data: EngineThreadData): void {
  const { options } = data;
  yieldEngine();
  const memories = data.memories.map((memory) => new EngineMemory(memory));
  const memory = memories[options.engine] as EngineMemory;
  const main = adoptPort<EngineCommand, EngineReport>(data.mainPort);
  const coordinator = adoptPort<EngineRequest, EngineReply | CoordinatorCommand>(data.coordinatorPort);
  const directory = logDirectory(data.dataDir);
  const segments = listSegments(directory).filter(({ epoch }) => epoch < options.epoch);
  const start = replayStart(options);
  const engine = new Engine(options, {
    memories,
    kernel: instantiateKernel<LaneExports & ShardExports>(data.kernelModule, memory.memory),
    processWords: new ProcessWords(data.processWords),
    log: openLogWriter({ directory, epoch: options.epoch, lane: options.engine, syncEach: data.syncEach }),
    replay: mergeBlocks(segments, new Map(start.map((mark) => [laneKey(mark.epoch, mark.lane), mark]))),
    clock: systemClock,
    report: (report) => main.send(report),
    ringCoordinator: () => coordinator.send({ type: "frames", engine: options.engine }),
    takeCommand: () => main.take(),
    takeRequest: () => coordinator.take(),
    reply: (reply) => coordinator.send(reply),
  });
  loop(engine, memory);
  main.close();
  coordinator.close();
}

function loop(engine: Engine, memory: EngineMemory): void {
  const counters = new EngineCounters(memory);
  let busySinceMs = systemClock.monotonicMs();
  while (engine.phase !== "stopped") {
    const bell = memory.bell();
    if (engine.step()) continue;
    counters.add("busySeconds", (systemClock.monotonicMs() - busySinceMs) / 1000);
    memory.sleep(bell, engine.restMs);
    busySinceMs = systemClock.monotonicMs();
    counters.add("wakeups", 1);
  }
}

run(threadData<EngineThreadData>());
