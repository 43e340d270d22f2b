/**
 * Roll-ups of a partition: their rows, and how far the partition is rolled up. Little-endian.
 *
 *   span  version u8 = 1, first hour u32, last hour u32 (since 1970), bytes u32, first stream 16 bytes, last stream 16 bytes
 *   mark  version u8 = 1, first block u32: those below are rolled up; next roll-up u32: those from it on do not count
 */
import type { StoreOperation, StoreReader } from "../../../adapters/storage/key-value-store.ts";
import { STREAM_ID_BYTES } from "../../../domain/codec/chunk-block.ts";
import { KeyReader } from "../../../domain/codec/key.ts";
import type { RollupValue } from "../../../domain/rollup/hourly-aggregate.ts";
import { scanNewest } from "../../state/scan.ts";
import { blockKey, partitionKey } from "../../state/tables.ts";

const VERSION = 1;
const SPAN_STREAMS = 13;
const SPAN_BYTES = SPAN_STREAMS + 2 * STREAM_ID_BYTES;
const MARK_BYTES = 9;
/** Spans read at a time: one stands for 32 KiB. */
const SPANS_PER_READ = 256;

/** Metadata of a roll-up, known without reading it. */
export interface RollupSpan {
  readonly partition: number;
  readonly number: number;
  readonly firstHour: number;
  readonly lastHour: number;
  readonly bytes: number;
  readonly firstStream: Uint8Array;
  readonly lastStream: Uint8Array;
}

/** Progress of a partition's roll-ups; immutable, so that two looks can be compared. */
export interface RollupMark {
  readonly firstBlock: number;
  readonly nextRollup: number;
}

/** The mark of a partition that was never rolled up. */
export const NO_ROLLUPS: RollupMark = { firstBlock: 0, nextRollup: 0 };

/** The operations that store a roll-up. */
export function rollupOperations(partition: number, number: number, value: RollupValue): StoreOperation[] {
  const key = blockKey(partition, number);
  const span = new Uint8Array(SPAN_BYTES);
  const view = new DataView(span.buffer);
  span[0] = VERSION;
  view.setUint32(1, value.firstHour, true);
  view.setUint32(5, value.lastHour, true);
  view.setUint32(9, value.block.length, true);
  span.set(value.firstStream, SPAN_STREAMS);
  span.set(value.lastStream, SPAN_STREAMS + STREAM_ID_BYTES);
  return [
    { table: "rollups", key, value: value.block },
    { table: "rollup_spans", key, value: span },
  ];
}

/** The operations that delete the roll-up of a key. */
export function deleteRollup(key: Uint8Array): StoreOperation[] {
  return ["rollups", "rollup_spans"].map((table) => ({ table, key, value: undefined }));
}

/** Reads a span as it is stored. */
export function decodeRollupSpan(key: Uint8Array, value: Uint8Array): RollupSpan {
  if (value[0] !== VERSION) throw new Error(`a stored roll-up span has version ${value[0]}, this program reads ${VERSION}`);
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  const reader = new KeyReader(key);
  const partition = reader.u16();
  return {
    partition,
    number: reader.u32(),
    firstHour: view.getUint32(1, true),
    lastHour: view.getUint32(5, true),
    bytes: view.getUint32(9, true),
    firstStream: value.subarray(SPAN_STREAMS, SPAN_STREAMS + STREAM_ID_BYTES),
    lastStream: value.subarray(SPAN_STREAMS + STREAM_ID_BYTES),
  };
}

/** Yields the spans of a partition's roll-ups that count, newest first. */
export function* newestRollups(store: StoreReader, partition: number, { nextRollup }: RollupMark): Generator<RollupSpan> {
  const entries = scanNewest(store, "rollup_spans", partitionKey(partition), blockKey(partition, nextRollup), SPANS_PER_READ);
  for (const { key, value } of entries) yield decodeRollupSpan(key, value);
}

/** The operation that stores a mark. */
export function markOperation(partition: number, mark: RollupMark): StoreOperation {
  const value = new Uint8Array(MARK_BYTES);
  const view = new DataView(value.buffer);
  value[0] = VERSION;
  view.setUint32(1, mark.firstBlock, true);
  view.setUint32(5, mark.nextRollup, true);
  return { table: "rollup_marks", key: partitionKey(partition), value };
}

/** Reads the mark of a partition as it is stored. */
export function readMark(store: StoreReader, partition: number): RollupMark {
  const value = store.get("rollup_marks", partitionKey(partition));
  if (value === undefined) return NO_ROLLUPS;
  if (value[0] !== VERSION) throw new Error(`a stored roll-up mark has version ${value[0]}, this program reads ${VERSION}`);
  const view = new DataView(value.buffer, value.byteOffset, value.byteLength);
  return { firstBlock: view.getUint32(1, true), nextRollup: view.getUint32(5, true) };
}
