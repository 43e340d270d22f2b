// Looks a stream up in a shard's table from another thread. Reads race with the owner's writes only where that does no harm: entries and records
// are moved within a region only between two counts of CONTROL_TABLE_EDITS, a larger region is filled before its size is published, and the old one stays as it was.
import { SHARD_TABLE, STREAM_RECORDS } from "../../core/layout/memory-map.ts";
import { SR_HASH, SR_TENANT, STREAM_RECORD_BYTES } from "../../core/layout/stream-record.ts";

const ENTRY_BYTES = 8;
/** Bits of the first region (assembly/shard/shard-table.ts); each further one is twice as large and follows it. */
export const TABLE_BITS_FIRST = 13;

/** Whether the shard over `view` holds the stream with this hash (16 bytes at `hashAt` of `hashView`), by its table of 2^bits entries. */
export function shardHolds(view: DataView, bits: number, hashView: DataView, hashAt: number, tenant: number): boolean {
  const table = SHARD_TABLE + ENTRY_BYTES * (2 ** bits - 2 ** TABLE_BITS_FIRST);
  const low = hashView.getUint32(hashAt, true);
  for (let i = low % 2 ** bits; ; i = (i + 1) % 2 ** bits) {
    const entry = table + i * ENTRY_BYTES;
    const stored = view.getUint32(entry + 4, true);
    if (stored === 0) return false;
    if (view.getUint32(entry, true) !== low) continue;
    const record = STREAM_RECORDS + (stored - 1) * STREAM_RECORD_BYTES;
    if (isHash(view, record + SR_HASH, hashView, hashAt) && view.getUint32(record + SR_TENANT, true) === tenant) return true;
  }
}

function isHash(view: DataView, at: number, hashView: DataView, hashAt: number): boolean {
  for (let i = 0; i < 16; i += 4) {
    if (view.getUint32(at + i, true) !== hashView.getUint32(hashAt + i, true)) return false;
  }
  return true;
}
