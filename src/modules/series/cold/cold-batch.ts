// A batch of streams of one partition that left memory, in the order of their serials: {version u8 = 1, three zero bytes} and entries
// (domain/kernel/cold-entry.ts). Up to 64 KiB, so about 180 streams; LMDB is 20-40 times cheaper a byte with values of this size.
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import { KeyReader } from "../../../domain/codec/key.ts";
import { type ColdEntry, readColdEntries } from "../../../domain/kernel/cold-entry.ts";
import { coldKey, partitionKey } from "../../state/tables.ts";

const VERSION = 1;
const HEADER_BYTES = 4;

/** A stored batch. */
export interface ColdBatch {
  readonly partition: number;
  readonly firstSerial: number;
  readonly entries: readonly ColdEntry[];
}

export function encodeColdBatch(entries: readonly ColdEntry[]): Uint8Array {
  const bytes = new Uint8Array(entries.reduce((sum, entry) => sum + entry.bytes.length, HEADER_BYTES));
  bytes[0] = VERSION;
  let at = HEADER_BYTES;
  for (const entry of entries) {
    bytes.set(entry.bytes, at);
    at += entry.bytes.length;
  }
  return bytes;
}

/** Reads a stored batch; its entries are views of `value`. */
export function decodeColdBatch(key: Uint8Array, value: Uint8Array): ColdBatch {
  if (value[0] !== VERSION) throw new Error(`a stored batch of streams has version ${value[0]}, this program reads ${VERSION}`);
  const reader = new KeyReader(key);
  const partition = reader.u16();
  return { partition, firstSerial: reader.u32(), entries: [...readColdEntries(value.subarray(HEADER_BYTES))] };
}

/** The batch of a partition in which a serial belongs. */
export function coldBatchOf(store: KeyValueStore, partition: number, serial: number): ColdBatch | undefined {
  const to = serial >= 0xffff_ffff ? partitionKey(partition + 1) : coldKey(partition, serial + 1);
  const [found] = store.range("cold_streams", { from: partitionKey(partition), to, reverse: true, limit: 1 });
  return found && decodeColdBatch(found.key, found.value);
}
