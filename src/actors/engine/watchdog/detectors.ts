// The detectors of an engine's Watchdog, put together.
import type { Clock } from "../../../adapters/platform/clock.ts";
import { hash128 } from "../../../core/hashing/hash128.ts";
import { encodeStatesFrame, episodeKind, FRAME_DETECTOR_STATES } from "../../../core/protocol/coordinator-frame.ts";
import { TimeZoneHours } from "../../../domain/detection/seasonal/time-zone-hours.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { MetadataBook } from "../../../domain/series/metadata-book.ts";
import type { EngineCounters } from "../report/engine-counters.ts";
import type { EngineShares } from "../report/engine-shares.ts";
import type { Outbox } from "../report/outbox.ts";
import type { Shard } from "../shard/shard.ts";
import type { ServiceIndex } from "../streams/service-index.ts";
import { EngineWatchdog } from "./cycle/engine-watchdog.ts";
import type { PairScan } from "./pairs/pair-pass.ts";
import { ArrivalRhythms } from "./passes/arrival-rhythms.ts";
import { ArrivalsDetector } from "./passes/arrivals-pass.ts";
import { PastBreaches } from "./passes/past-breaches.ts";
import { SaturationDetector } from "./passes/saturation-pass.ts";
import { ServicesDetector } from "./passes/services-pass.ts";

/** Between cycles of the Watchdog where nothing is set. */
const DEFAULT_INTERVAL_MS = 60_000;

export interface DetectorDependencies {
  readonly kernel: ShardKernel;
  readonly shard: Shard;
  readonly outbox: Outbox;
  readonly services: ServiceIndex;
  readonly counters: EngineCounters;
  readonly metadata: MetadataBook;
  readonly clock: Clock;
  readonly shares: EngineShares;
}

/** WATCHDOG_INTERVAL_SECONDS where it is not given. */
const CYCLE_MS_INITIAL = 60_000;

/** Watchdog of one of so many engines; `detectors` are those that are made elsewhere. */
export function makeEngineWatchdog(
  options: ServicesSettings & { readonly samplesMin: number; readonly timeZone?: string },
  detectors: { readonly pairs?: PairScan },
  dependencies: DetectorDependencies,
): EngineWatchdog {
  const { pairs } = detectors;
  const { kernel, shard, services, counters, metadata, clock, shares } = dependencies;
  const streams = {
    kernel,
    counters,
    nameOf: (slot: number) => shard.nameOf(slot),
    hashOf: (slot: number) => shard.hashOf(slot),
  };
  const breaches = new PastBreaches(options.engines);
  shard.addHandler(breaches);
  const saturation = new SaturationDetector({
    ...streams,
    shares: shares.ledger("bounded_series"),
    breaches,
    unitOf: (tenant, metricName) => metadata.find(tenant, metricName)?.unit ?? null,
  });
  const rhythms = new ArrivalRhythms(new TimeZoneHours(options.timeZone ?? "UTC").offsetMs);
  shard.addHandler(rhythms);
  const arrivals = new ArrivalsDetector(
    { cycleMs: options.watchdogIntervalMs ?? CYCLE_MS_INITIAL },
    {
      kernel,
      counters,
      shares: shares.ledger("arrival_services"),
      rhythms,
      nameOf: streams.nameOf,
      isFiring: (slot) => shard.hasEpisode(slot) || pairs?.isFiring(slot) === true,
      endSilent: (slot) => {
        shard.endEpisodes(slot);
        if (pairs?.isFiring(slot) === true) pairs.endSilent(slot);
      },
      wantsTraffic: (tenant, serviceId) =>
        shard.profiles.settingsOf(tenant, serviceId, "").minimumTraffic > 0 || shard.profiles.hasMetrics(tenant, serviceId),
    },
  );
  return new EngineWatchdog(
    { ...detectors, services: makeServicesDetector(options, dependencies), arrivals, saturation },
    { services, records: kernel.records, samplesMin: options.samplesMin, nameOf: streams.nameOf, monotonicMs: () => clock.monotonicMs() },
  );
}

// The pass over services within an engine.

interface ServicesSettings {
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
function makeServicesDetector(
  { watchdogIntervalMs: intervalMs = DEFAULT_INTERVAL_MS }: ServicesSettings,
  { kernel, shard, outbox, counters, shares }: EngineParts,
): ServicesDetector {
  return new ServicesDetector(
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
