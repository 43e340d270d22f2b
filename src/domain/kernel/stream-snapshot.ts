// A stream's record as bytes of a checkpoint: version u8, count u8, 6 unused; the record's header as it is (192); both peaks (8); then the
// values (f64) and intervals (u32) that the ring holds, oldest first. 208 + 12 bytes a value: 1,648 for a full ring. Numbers keep every bit,
// and the statistics do not depend on where in the ring a value lies, so the stream goes on as if it had never stopped.
import {
  SR_COUNT,
  SR_HEAD,
  SR_INTERVALS,
  SR_MASK,
  SR_PARTITION,
  SR_PEAK_HIGH,
  SR_TENANT,
  SR_VALUES,
  WINDOW_MAX,
} from "../../core/layout/stream-record.ts";
import type { StreamRecords } from "./stream-records.ts";

const VERSION = 1;
const PREFIX_BYTES = 8;
const HEADER_BYTES = SR_VALUES;
const PEAK_BYTES = 8;
const RING_AT = PREFIX_BYTES + HEADER_BYTES + PEAK_BYTES;
const MASK_BYTES = 16;
const PLACE_BYTES = 12;

/** Bytes of a slot's snapshot. Identity, tenant and partition are the caller's; tenant and partition are 0 in it. */
export function snapshotRecord(records: StreamRecords, slot: number): Uint8Array {
  const { view } = records;
  const at = records.address(slot);
  const count = records.count(slot);
  const bytes = new Uint8Array(RING_AT + PLACE_BYTES * count);
  const out = new DataView(bytes.buffer);
  bytes[0] = VERSION;
  bytes[1] = count;
  bytes.set(new Uint8Array(view.buffer, at, HEADER_BYTES), PREFIX_BYTES);
  bytes.set(new Uint8Array(view.buffer, at + SR_PEAK_HIGH, PEAK_BYTES), PREFIX_BYTES + HEADER_BYTES);
  out.setUint32(PREFIX_BYTES + SR_TENANT, 0, true);
  out.setUint32(PREFIX_BYTES + SR_PARTITION, 0, true);
  out.setUint32(PREFIX_BYTES + SR_HEAD, count % WINDOW_MAX, true);
  bytes.fill(0, PREFIX_BYTES + SR_MASK, PREFIX_BYTES + SR_MASK + MASK_BYTES);
  const oldest = (view.getUint32(at + SR_HEAD, true) + WINDOW_MAX - count) % WINDOW_MAX;
  for (let i = 0; i < count; i++) {
    const place = (oldest + i) % WINDOW_MAX;
    if (records.isMasked(slot, place))
      out.setUint8(PREFIX_BYTES + SR_MASK + (i >> 3), out.getUint8(PREFIX_BYTES + SR_MASK + (i >> 3)) | (1 << (i & 7)));
    out.setBigUint64(RING_AT + 8 * i, view.getBigUint64(at + SR_VALUES + 8 * place, true), true);
    out.setUint32(RING_AT + 8 * count + 4 * i, view.getUint32(at + SR_INTERVALS + 4 * place, true), true);
  }
  return bytes;
}

/** Writes a snapshot over a slot's record, but for its identity, hash, tenant and partition; false when the bytes are none of ours. */
export function restoreRecord(records: StreamRecords, slot: number, bytes: Uint8Array): boolean {
  const count = bytes[1] ?? 0;
  if (bytes[0] !== VERSION || count > WINDOW_MAX || bytes.length !== RING_AT + PLACE_BYTES * count) return false;
  const at = records.address(slot);
  const tenant = records.tenant(slot);
  const partition = records.partition(slot);
  const memory = new Uint8Array(records.view.buffer, at, SR_PEAK_HIGH + PEAK_BYTES);
  memory.set(bytes.subarray(PREFIX_BYTES, PREFIX_BYTES + HEADER_BYTES));
  memory.set(bytes.subarray(PREFIX_BYTES + HEADER_BYTES, RING_AT), SR_PEAK_HIGH);
  memory.set(bytes.subarray(RING_AT, RING_AT + 8 * count), SR_VALUES);
  memory.set(bytes.subarray(RING_AT + 8 * count), SR_INTERVALS);
  records.view.setUint32(at + SR_TENANT, tenant, true);
  records.view.setUint32(at + SR_PARTITION, partition, true);
  // The count is told twice; a difference means that the header is not one.
  return records.view.getUint32(at + SR_COUNT, true) === count;
}
