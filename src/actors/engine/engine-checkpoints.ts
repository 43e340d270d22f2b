// Checkpoints and eviction of an engine that serves: made once the logs have been read.
import { LogWriteError } from "../../adapters/log/log-writer.ts";
import { CHECKPOINT_CYCLE_LOG_BYTES, CHECKPOINT_LOG_SHARE, CHECKPOINT_PART_BYTES } from "../../core/config/limits.ts";
import { ROW_BYTES } from "../../core/layout/row-frame.ts";
import { StreamEviction } from "./cold/stream-eviction.ts";
import type { EngineDependencies, EngineOptions } from "./engine-options.ts";
import type { EngineParts } from "./engine-parts.ts";
import { Checkpoints } from "./recovery/checkpoints.ts";
import { EngineCounters } from "./report/engine-counters.ts";

/** Checkpoints of one engine, which has applied what its logs held. */
export function makeCheckpoints(options: EngineOptions, dependencies: EngineDependencies, parts: EngineParts): Checkpoints {
  const { epoch, engine, engines, checkpointCycleBytes: cycleBytes = CHECKPOINT_CYCLE_LOG_BYTES } = options;
  const { checkpointLogShare: logShare = CHECKPOINT_LOG_SHARE, checkpointPartBytes: partBytes = CHECKPOINT_PART_BYTES } = options;
  const { memories, log } = dependencies;
  const { kernel, readers, shard, outbox, counters, ingest, recovery } = parts;
  const engineCounters = memories.map((memory) => new EngineCounters(memory));
  const replayedBytes = recovery.rows * ROW_BYTES;
  return new Checkpoints(
    { epoch, engine, engines, cycleBytes, logShare, partBytes },
    {
      memories,
      kernel,
      readers,
      shard,
      eviction: makeEviction(options, dependencies, parts),
      outbox,
      counters,
      logPosition: () => log.position,
      takeUsage: () => ingest.takeUsage(),
      endSegment: () => endSegment(dependencies, parts),
      // A start has the rows to apply, however small they are packed.
      logBytes: () =>
        engineCounters.reduce((sum, one) => sum + Math.max(one.get("logBytes"), one.get("rowsPlaced") * ROW_BYTES), replayedBytes),
    },
    recovery,
  );
}

function makeEviction(
  { idleMs, retentionMs }: EngineOptions,
  { clock, processSlots }: EngineDependencies,
  parts: EngineParts,
): StreamEviction {
  const { memory, kernel, shard, services, counters, handlers, baselines } = parts;
  const removing = (slots: readonly number[]) => {
    shard.chunks.storeSent(slots);
    handlers.families.removeSlots(slots);
    baselines.pairScan.removeSlots(slots);
    for (const slot of slots) {
      const { records } = kernel;
      shard.changes.left(shard.hashOf(slot), records.tenant(slot), records.firstTimeMs(slot), records.newestTimeMs(slot));
    }
  };
  return new StreamEviction(
    { idleMs, retentionMs },
    { memory, kernel, cold: shard.cold, services, removing, counters, processSlots, wallMs: () => clock.wallMs() },
  );
}

/** Ends the log's segment between two bodies; false where one is under way, or the log cannot be written. */
function endSegment({ log }: EngineDependencies, { ingest, counters, memory }: EngineParts): boolean {
  if (!ingest.isIdle) return false;
  try {
    if (log.position.offset > 0) log.endSegment();
  } catch (error) {
    if (!(error instanceof LogWriteError)) throw error;
    counters.add("logErrors", 1);
    return false;
  }
  memory.publishPlaced(log.position);
  return true;
}
