// Placement: which of the 256 fixed partitions holds a service, and which engine owns a partition.
import { PARTITIONS } from "../../core/layout/memory-map.ts";

/** FNV-1a over UTF-16 units with a final mix: 32 bits, the same in every process and release, because partitions are durable. */
function stableHash(text: string, start: number): number {
  let hash = start;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ (text.charCodeAt(i) & 0xff), 16777619);
    hash = Math.imul(hash ^ (text.charCodeAt(i) >> 8), 16777619);
  }
  return hash;
}

/** Seed of the hash of a tenant's services; the kernel, which hashes most services, gets it. */
export function serviceSeed(tenant: string): number {
  return stableHash(tenant, 0x811c9dc5) ^ 0x1f;
}

/** The partition of all streams of one service, 0..255. */
export function partitionOf(tenant: string, serviceId: string): number {
  let hash = stableHash(serviceId, serviceSeed(tenant));
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) % PARTITIONS;
}

/** The engine that owns a partition while `engines` run. */
export function engineOf(partition: number, engines: number): number {
  return partition % engines;
}
