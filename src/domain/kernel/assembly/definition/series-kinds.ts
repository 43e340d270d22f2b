// Names of series of which metadata say another kind than their suffix: hash of (tenant, name) -> whether they count. Open addressing, linear probing; a
// word's lowest bit is the kind, the second one is set in every entry, the third where senders contradict each other and TypeScript is to be asked. TypeScript fills it anew when metadata change (actors/engine/remote-write).
import { SERIES_KINDS, SERIES_KINDS_MAX } from "../../../../core/layout/memory-map";
import { FLAG_COUNTER } from "../../../../core/layout/stream-record";
import { flagsOfName } from "./series-flags";
import { hashOfKey, hashLow } from "../hash/identity-hash";

const TYPE_COUNTER: u32 = 1;
const TYPE_HISTOGRAM: u32 = 3;
const TYPE_SUMMARY: u32 = 5;
/** `_created`, a time that OpenMetrics puts into the counter's family. */
const CREATED: u64 = 0x646574616572635f;
const SLOTS: u32 = <u32>SERIES_KINDS_MAX * 2;

/** Lowest bits of a word: what it says of its name. */
const COUNTS: u64 = 1;
const ENTERED: u64 = 2;
const CONTESTED: u64 = 4;
const SAID: u64 = 7;
/** No flags: the kind of the series depends on who sends it. */
export const KIND_CONTESTED: u32 = U32.MAX_VALUE;

let entries: u32 = 0;

/** Forgets all names. */
export function seriesKindsClear(): void {
  memory.fill(SERIES_KINDS, 0, <usize>SLOTS << 3);
  entries = 0;
}

/** Enters a name; false when there are SERIES_KINDS_MAX. Eight bytes behind it must be readable. */
export function seriesKindsAdd(name: usize, bytes: u32, tenant: u32, counts: bool, isContested: bool): bool {
  if (entries == <u32>SERIES_KINDS_MAX) return false;
  hashOfKey(name, bytes, tenant);
  const key = hashLow | SAID;
  let probe = <u32>(key >> 32);
  while (true) {
    const at = slotAt(probe++);
    const stored = load<u64>(at);
    if (stored != 0 && (stored | SAID) != key) continue;
    if (stored == 0) entries++;
    store<u64>(at, key - SAID + ENTERED + (counts ? COUNTS : 0) + (isContested ? CONTESTED : 0));
    return true;
  }
}

// @ts-ignore
@inline
function slotAt(probe: u32): usize {
  return <usize>SERIES_KINDS + (<usize>(probe & (SLOTS - 1)) << 3);
}

/** Flags of a series by the type that came with it, as remote-write numbers them (domain/series/metric-metadata.ts): its own, whatever others of its name are; else by its name, or KIND_CONTESTED. */
// @ts-ignore
@inline
export function kindOfSeries(name: usize, bytes: u32, tenant: u32, type: u32): u32 {
  const flags = flagsOfName(name, bytes);
  if (type == 0) return correctKind(name, bytes, tenant, flags);
  if (type == TYPE_HISTOGRAM || type == TYPE_SUMMARY) return flags;
  const counts = type == TYPE_COUNTER && (bytes < 8 || load<u64>(name + bytes - 8) != CREATED);
  return counts ? flags | FLAG_COUNTER : flags & ~(<u32>FLAG_COUNTER);
}

/** Flags of a series by its suffix, put right where metadata say otherwise. */
// @ts-ignore
@inline
function correctKind(name: usize, bytes: u32, tenant: u32, flags: u32): u32 {
  return entries == 0 ? flags : kindFlags(name, bytes, tenant, flags);
}

function kindFlags(name: usize, bytes: u32, tenant: u32, flags: u32): u32 {
  hashOfKey(name, bytes, tenant);
  const key = hashLow | SAID;
  let probe = <u32>(key >> 32);
  while (true) {
    const stored = load<u64>(slotAt(probe++));
    if (stored == 0) return flags;
    if ((stored | SAID) != key) continue;
    if ((stored & CONTESTED) != 0) return KIND_CONTESTED;
    return (stored & COUNTS) != 0 ? flags | FLAG_COUNTER : flags & ~(<u32>FLAG_COUNTER);
  }
}
