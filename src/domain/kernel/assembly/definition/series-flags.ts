// Flags of a remote-write series by the suffix of its name: the kernel's twin of flagsOfSeries() in domain/series/classification.ts.
import { FLAG_COUNTER, FLAG_PERCENT } from "../../../../core/layout/stream-record";

/** Flags of the series with this name. Eight bytes at `name` must be readable. Words are ASCII, little-endian. */
export function flagsOfName(name: usize, bytes: u32): u32 {
  const last = bytes >= 8 ? load<u64>(name + bytes - 8) : bytes == 0 ? 0 : load<u64>(name) << (64 - 8 * <u64>bytes);
  if (isCounter(last)) return FLAG_COUNTER;
  return isPercent(name, bytes, last) ? FLAG_PERCENT : 0;
}

// @ts-ignore
@inline
function isCounter(last: u64): bool {
  const six = last >> 16;
  return (
    six == 0x6c61746f745f || // _total
    six == 0x746e756f635f || // _count
    last >> 32 == 0x6d75735f || // _sum
    last >> 8 == 0x74656b6375625f // _bucket
  );
}

// @ts-ignore
@inline
function isPercent(name: usize, bytes: u32, last: u64): bool {
  const five = last >> 24;
  if (last >> 8 == 0x746e6563726570 || last >> 40 == 0x746370 || last >> 32 == 0x6c697475) return true; // percent, pct, util
  if (five == 0x6f69746172 || five == 0x64616f6c5f) return true; // ratio, _load
  if (last == 0x6e6f6974617a696c || last == 0x6e6f69746173696c) return bytes >= 11 && (load<u32>(name + bytes - 11) & 0xffffff) == 0x697475; // utilization, utilisation
  return last == 0x6e6f697461727574 && bytes >= 10 && load<u16>(name + bytes - 10) == 0x6173; // saturation
}
