// The pass over services within an engine.
import { hash128 } from "../../../../core/hashing/hash128.ts";
import { encodeStatesFrame, episodeKind, FRAME_DETECTOR_STATES } from "../../../../core/protocol/coordinator-frame.ts";
import type { ShardKernel } from "../../../../domain/kernel/shard-kernel.ts";
import type { EngineCounters } from "../../report/engine-counters.ts";
import type { EngineShares } from "../../report/engine-shares.ts";
import type { Outbox } from "../../report/outbox.ts";
import type { Shard } from "../../shard/shard.ts";
import { ServicesPass } from "./services-pass.ts";

/** Between cycles of the Watchdog where nothing is set. */
const DEFAULT_INTERVAL_MS = 60_000;

export interface ServicesSettings {
  readonly engines: number;
  readonly servicesMax?: number;
  readonly watchdogIntervalMs?: number;
}

interface EngineParts {
  readonly kernel: ShardKernel;
  readonly shard: Shard;
  readonly outbox: Outbox;
  readonly counters: EngineCounters;
  readonly shares: EngineShares;
}

/** Connects the pass with the engine's streams, its outbox and its counters. */
export function makeServicesPass(
  { watchdogIntervalMs: intervalMs = DEFAULT_INTERVAL_MS }: ServicesSettings,
  { kernel, shard, outbox, counters, shares }: EngineParts,
): ServicesPass {
  return new ServicesPass(
    { intervalMs },
    {
      shares: shares.ledger("monitored_services"),
      records: kernel.records,
      nameOf: (slot) => shard.nameOf(slot),
      hashOf: (slot) => shard.hashOf(slot),
      partition: (number) => shard.streams.partition(number),
      hashText: hash128,
      send: (frame) => outbox.sendJson(episodeKind(frame), frame),
      store: (at, row) => outbox.send(FRAME_DETECTOR_STATES, encodeStatesFrame(at, row)),
      publish: ({ services, bytes }) => {
        counters.set("servicesMonitored", services);
        counters.set("serviceModelBytes", bytes);
      },
    },
  );
}
