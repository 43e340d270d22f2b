// The services of a tenant that have streams in this engine's memory, each environment for itself, with the times of their values: what a list of services shows.
// Sketch: a service costs 0.6 us a stream that is looked at; 10,000 services of ten streams take 60 ms, in slices.
import { SERVICE_STREAMS_LISTED_MAX, SERVICES_LISTED_MAX } from "../../../core/config/interface-limits.ts";
import type { ListedService } from "../../../core/protocol/service-list.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { serviceIdOf } from "../../../domain/series/stream-identity.ts";
import type { ServiceIndex } from "../streams/service-index.ts";

/** Streams looked at between two turns of others: some 0.3 ms. */
const STREAMS_PER_SLICE = 512;

/** Walks over the services; yields where others may have their turn. */
export function* listServices(services: ServiceIndex, { records }: ShardKernel, tenant: string): Generator<void, ListedService[]> {
  const rows: ListedService[] = [];
  let looked = 0;
  for (const [key, slots] of [...services.servicesOf(tenant)]) {
    const byEnvironment = new Map<string, { streams: number; firstMs: number; lastMs: number }>();
    const stride = Math.max(1, Math.ceil(slots.length / SERVICE_STREAMS_LISTED_MAX));
    for (let at = 0; at < slots.length; at += stride) {
      const slot = slots[at] as number;
      const environment = services.environmentOf(slot);
      const row = byEnvironment.get(environment) ?? { streams: 0, firstMs: Number.POSITIVE_INFINITY, lastMs: 0 };
      byEnvironment.set(environment, row);
      row.streams += Math.min(stride, slots.length - at);
      row.lastMs = Math.max(row.lastMs, records.lastTimeMs(slot));
      const firstMs = records.firstTimeMs(slot);
      if (firstMs > 0) row.firstMs = Math.min(row.firstMs, firstMs);
    }
    const serviceId = serviceIdOf(key);
    for (const [environment, { streams, firstMs, lastMs }] of byEnvironment)
      rows.push([serviceId, environment, streams, Number.isFinite(firstMs) ? firstMs : 0, lastMs]);
    if (rows.length >= SERVICES_LISTED_MAX) return rows.slice(0, SERVICES_LISTED_MAX);
    looked += Math.ceil(slots.length / stride) + 1;
    if (looked < STREAMS_PER_SLICE) continue;
    looked = 0;
    yield;
  }
  return rows;
}
