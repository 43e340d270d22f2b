// Rows of decoded bodies, collected per destination engine in the staging area, and rejected samples in the rejects area.
import { ENGINES_MAX, REJECTS, REJECTS_BYTES, STAGING, STAGING_BYTES } from "../../../../core/layout/memory-map";
import { REJECT_BYTES, REJECT_CODE, REJECT_LABELS, REJECT_LABELS_BYTES, REJECT_TIME, REJECT_VALUE } from "../../../../core/layout/kernel-event";
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE, START_MARKER_HIGH } from "../../../../core/layout/row-frame";
import { STATUS_OK, STATUS_ROWS_FULL } from "../../../../core/layout/kernel-status";

/** The one kind of NaN that is a value of its own: Prometheus' mark for a series that ended. */
export const STALE_MARKER: u64 = 0x7ff0000000000002;

const REJECTS_MAX: u32 = REJECTS_BYTES / REJECT_BYTES;

/** u32 per destination: bytes that are staged for it. */
const STAGED = memory.data(4 * 64, 64);
if (ENGINES_MAX > 64) ERROR("a destination has no place for its byte count");

let rows: u32 = 0;
let rejects: u32 = 0;

/** Rows that are staged, over all destinations. */
export function stagedRows(): u32 {
  return rows;
}

/** Bytes that are staged at STAGING + destination * STAGING_BYTES. */
export function stagedBytes(destination: u32): u32 {
  return load<u32>(STAGED + (<usize>destination << 2));
}

/** Empties the staging of the first `engines` destinations. */
export function stagingReset(engines: u32): void {
  memory.fill(STAGED, 0, <usize>engines << 2);
  rows = 0;
}

/** Where the next row for a destination goes. */
// @ts-ignore
@inline
export function stagingPointer(destination: u32): usize {
  return <usize>STAGING + <usize>destination * <usize>STAGING_BYTES + <usize>load<u32>(STAGED + (<usize>destination << 2));
}

/** Takes over rows that were written from stagingPointer() on. */
// @ts-ignore
@inline
export function stagingAdvance(destination: u32, count: u32): void {
  const at = STAGED + (<usize>destination << 2);
  store<u32>(at, load<u32>(at) + count * ROW_BYTES);
  rows += count;
}

/** Writes one row. */
// @ts-ignore
@inline
export function writeRow(at: usize, ref: u32, offset: u32, bits: u64): void {
  store<u32>(at, ref, ROW_REF);
  store<u32>(at, offset, ROW_OFFSET);
  store<u64>(at, bits, ROW_VALUE);
}

/** Stages one row: STATUS_OK, or STATUS_ROWS_FULL when the destination's area has no room. */
export function stageRow(destination: u32, ref: u32, offset: u32, value: f64): i32 {
  return stageBits(destination, ref, offset, reinterpret<u64>(value));
}

/** Stages a row that says from when on the cumulative value of the row behind it, of the same time, was counted. Statuses as of stageRow(). */
export function stageStart(destination: u32, ref: u32, offset: u32, startMs: f64): i32 {
  return stageBits(destination, ref, offset, (<u64>START_MARKER_HIGH << 48) | <u64>startMs);
}

/** Stages the mark of a stream that ended, likewise: a number that JavaScript hands over would not keep its bits. */
export function stageStale(destination: u32, ref: u32, offset: u32): i32 {
  return stageBits(destination, ref, offset, STALE_MARKER);
}

function stageBits(destination: u32, ref: u32, offset: u32, bits: u64): i32 {
  if (stagedBytes(destination) + ROW_BYTES > <u32>STAGING_BYTES) return STATUS_ROWS_FULL;
  writeRow(stagingPointer(destination), ref, offset, bits);
  stagingAdvance(destination, 1);
  return STATUS_OK;
}

/** Entries in the rejects area. */
export function rejectsCount(): u32 {
  return rejects;
}

/** Empties the rejects area. */
export function rejectsReset(): void {
  rejects = 0;
}

/** Enters a rejected sample; false when the area is full. */
export function addReject(code: u32, labels: usize, labelsBytes: u32, time: f64, bits: u64): bool {
  if (rejects == REJECTS_MAX) return false;
  const at = <usize>REJECTS + <usize>rejects * <usize>REJECT_BYTES;
  store<u32>(at, code, REJECT_CODE);
  store<u32>(at, <u32>labels, REJECT_LABELS);
  store<u32>(at, labelsBytes, REJECT_LABELS_BYTES);
  store<f64>(at, time, REJECT_TIME);
  store<u64>(at, bits, REJECT_VALUE);
  rejects++;
  return true;
}
