// Finds the service in the canonical text of an identity, ["tenant","environment","service","metric",{...}], without reading the rest.
import { SR_IDENTITY, SR_IDENTITY_BYTES } from "../../../../core/layout/stream-record";
import { partitionOfService } from "../hash/placement-hash";
import { recordOf } from "../shard/shard-table";

const QUOTE: u32 = 0x22;
const BACKSLASH: u32 = 0x5c;

// The JSON text of tenant and service of the identity that was found last.
let tenantAt: usize = 0;
let tenantBytes: u32 = 0;
let serviceAt: usize = 0;
let serviceBytes: u32 = 0;

/** Behind the JSON string at p, which begins with its quote; `stop` when it does not end before. */
// @ts-ignore
@inline
function behindString(p: usize, stop: usize): usize {
  for (p++; p < stop; p++) {
    const byte = <u32>load<u8>(p);
    if (byte == QUOTE) return p + 1;
    if (byte == BACKSLASH) p++;
  }
  return stop;
}

/**
 * Partition of a stream by the part of its identity behind the tenant, `"environment","service",...`; -1 when the service has an escape or other
 * characters than ASCII, or the text is none of ours. `seed` as for partitionOfService().
 */
export function partitionOfIdentity(p: usize, stop: usize, seed: u32): i32 {
  const service = behindString(p, stop) + 1;
  const behind = behindString(service, stop);
  if (behind >= stop) return -1;
  for (let at = service; at < behind; at++) {
    const byte = <u32>load<u8>(at);
    if (byte == BACKSLASH || byte > 127) return -1;
  }
  return partitionOfService(seed, service + 1, <u32>(behind - service) - 2);
}

/** Finds tenant and service of a slot in its identity. */
export function findService(slot: u32): void {
  const r = recordOf(slot);
  const identity = <usize>load<u32>(r, SR_IDENTITY);
  const stop = identity + load<u32>(r, SR_IDENTITY_BYTES);
  tenantAt = identity + 1;
  const behindTenant = behindString(tenantAt, stop);
  tenantBytes = <u32>(behindTenant - tenantAt);
  serviceAt = behindString(behindTenant + 1, stop) + 1;
  serviceBytes = <u32>(behindString(serviceAt, stop) - serviceAt);
}

/** JSON text of the tenant that was found last, and of its service; the environment stands between them. */
export function foundTenant(): usize {
  return tenantAt;
}
export function foundTenantBytes(): u32 {
  return tenantBytes;
}
export function foundService(): usize {
  return serviceAt;
}
export function foundServiceBytes(): u32 {
  return serviceBytes;
}
