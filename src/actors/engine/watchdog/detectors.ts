// The detectors of an engine's Watchdog, put together.
import type { Clock } from "../../../adapters/runtime/clock.ts";
import { SATURATION_SERIES_MAX } from "../../../core/config/limits.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { EngineCounters } from "../engine-counters.ts";
import type { Outbox } from "../outbox.ts";
import type { MetadataBook } from "../remote-write/metadata-book.ts";
import type { ServiceIndex } from "../service-index.ts";
import type { Shard } from "../shard.ts";
import { EngineWatchdog } from "./engine-watchdog.ts";
import { SaturationPass } from "./saturation/saturation-pass.ts";
import { makeServicesPass, type ServicesSettings } from "./services/make-services-pass.ts";

export interface DetectorDependencies {
  readonly kernel: ShardKernel;
  readonly shard: Shard;
  readonly outbox: Outbox;
  readonly services: ServiceIndex;
  readonly counters: EngineCounters;
  readonly metadata: MetadataBook;
  readonly clock: Clock;
}

/** Of one of so many engines. */
export function makeEngineWatchdog(options: ServicesSettings, dependencies: DetectorDependencies): EngineWatchdog {
  const { engines } = options;
  const { kernel, shard, services, counters, metadata, clock } = dependencies;
  const streams = {
    kernel,
    counters,
    nameOf: (slot: number) => shard.nameOf(slot),
    hashOf: (slot: number) => shard.hashOf(slot),
  };
  const saturation = new SaturationPass(
    { seriesMax: Math.ceil(SATURATION_SERIES_MAX / engines) },
    { ...streams, unitOf: (tenant, metricName) => metadata.find(tenant, metricName)?.unit ?? null },
  );
  return new EngineWatchdog(
    { services: makeServicesPass(options, dependencies), saturation },
    { services, monotonicMs: () => clock.monotonicMs() },
  );
}
