// Second pass over a JSON body: the records that json-record-scan.ts indexed, in order: stream by the key table, row into the staging area.
// It stops where TypeScript has to act (kernel-status.ts); that record is then behind it, and the next step goes on with the one after.
// Sketch: 3 ns table when records come in the order of earlier bodies (else 5, 20 at a million streams), 3 ns row.
import { STATUS_DONE, STATUS_OK, STATUS_ODD_RECORD, STATUS_UNKNOWN_STREAM } from "../../../../core/layout/kernel-status";
import { ENTRY_BYTES, ENTRY_END, ENTRY_HASH_HIGH, ENTRY_HASH_LOW, ENTRY_IS_ODD, ENTRY_OFFSET, ENTRY_START, ENTRY_VALUE, INDEX } from "./json-record-index";
import { failedAt, indexEnd, scanBody, setFrame } from "./json-record-scan";
import { stageRow } from "../ingest/row-staging";
import { foundDestination, foundRef, keyFind, keyFindNext, keyTouchEntry, keyTouchSlot } from "../ingest/key-table";

/** Places of the table that are touched ahead at once: their cache misses then overlap. */
const TOUCHED_ENTRIES: usize = 16;

let tenant: u32 = 0;
let next: usize = INDEX;
let touchedEnd: usize = INDEX;
let lastTouched: u32 = 0; // so that the loads are not optimised away

/**
 * Scans a body in one of the forms of json-record-scan.ts and sets the steps to its start. Zero bytes (BODY_PADDING_BYTES) must follow it, or for a run the
 * rest of a body that they follow, and its bytes must not change until the last step. Answers the number of records, or that nothing was staged:
 * STATUS_TOO_LARGE for more than `recordsMax`, of which the others were not looked at; STATUS_ODD_BODY for a body that is no JSON or has more than
 * `depthMax` brackets inside each other. Times are ms; records from `min` to `max` are admitted.
 */
export function jsonRecordsBegin(
  pointer: usize, bytes: u32, form: i32, tenantIndex: u32, base: f64, min: f64, max: f64, recordsMax: u32, depthMax: i32,
): i32 {
  tenant = tenantIndex;
  setFrame(tenantIndex, base, min, max);
  const records = scanBody(pointer, bytes, form, recordsMax, depthMax);
  next = touchedEnd = INDEX;
  return records;
}

/** Where the record begins at which a body was found to be odd. */
export function jsonFailedAt(): usize {
  return failedAt;
}

/** Where the record behind the one that the last step stopped at begins; 0 behind the last. */
export function jsonRecordNext(): usize {
  return next < indexEnd ? load<u32>(next, ENTRY_START) : 0;
}

/** Where the last record ends. */
export function jsonRecordsEnd(): usize {
  return load<u32>(indexEnd - ENTRY_BYTES, ENTRY_END);
}

/** Address of the record that the last step stopped at. */
export function jsonRecordPointer(): usize {
  return load<u32>(next - ENTRY_BYTES, ENTRY_START);
}

/** Its length. */
export function jsonRecordBytes(): u32 {
  return load<u32>(next - ENTRY_BYTES, ENTRY_END) - load<u32>(next - ENTRY_BYTES, ENTRY_START);
}

/** Its index in the body, from 0. */
export function jsonRecordIndex(): u32 {
  return <u32>((next - INDEX) / ENTRY_BYTES) - 1;
}

/**
 * Stages records until the body is done or TypeScript has to act: STATUS_DONE, _ODD_RECORD, _UNKNOWN_STREAM (keyInsert() then enters the spelling of
 * the record's stream) or _ROWS_FULL.
 */
export function jsonRecordsStep(): i32 {
  while (next < indexEnd) {
    const entry = next;
    next += ENTRY_BYTES;
    if (load<u32>(entry, ENTRY_IS_ODD) != 0) return STATUS_ODD_RECORD;
    const low = load<u64>(entry, ENTRY_HASH_LOW), high = load<u64>(entry, ENTRY_HASH_HIGH);
    if (!keyFindNext(low, high, tenant)) {
      if (entry >= touchedEnd) touchAhead(entry);
      if (!keyFind(low, high, tenant)) return STATUS_UNKNOWN_STREAM;
    }
    const status = stageRow(foundDestination(), foundRef(), load<u32>(entry, ENTRY_OFFSET), load<f64>(entry, ENTRY_VALUE));
    if (status != STATUS_OK) return status;
  }
  return STATUS_DONE;
}

/** Odd records among them have no hash: what is touched for them is of no account. */
function touchAhead(from: usize): void {
  const end = min(indexEnd, from + TOUCHED_ENTRIES * ENTRY_BYTES);
  let touched: u32 = 0;
  for (let entry = from; entry < end; entry += ENTRY_BYTES) touched ^= keyTouchSlot(load<u64>(entry, ENTRY_HASH_LOW));
  for (let entry = from; entry < end; entry += ENTRY_BYTES) touched ^= keyTouchEntry(load<u64>(entry, ENTRY_HASH_LOW));
  lastTouched = touched;
  touchedEnd = end;
}
