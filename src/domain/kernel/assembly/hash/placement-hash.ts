// Partition of a service: the kernel's twin of partitionOf() in domain/placement/partition.ts, for ASCII names.
import { PARTITIONS } from "../../../../core/layout/memory-map";

/** FNV's prime, twice: once for the low byte of a UTF-16 unit and once for the high one, which is 0. */
const PRIME_SQUARED: u32 = 16777619 * 16777619;

/** `seed` is the hash of the tenant's name as partitionOf() has it before the service. */
export function partitionOfService(seed: u32, service: usize, bytes: u32): u32 {
  let hash = seed;
  for (let i: u32 = 0; i < bytes; i++) hash = (hash ^ <u32>load<u8>(service + i)) * PRIME_SQUARED;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6b;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35;
  return (hash ^ (hash >> 16)) % <u32>PARTITIONS;
}
