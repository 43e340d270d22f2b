// Samples of a remote-write series that are not written the usual way, and what its labels say of a NaN.
import { fieldNumber, payload, readField, readVarint, varint } from "../wire/protobuf-wire";
import { FIELD_SAMPLE_START } from "./remote-write-2-index";
import { FIELD_SAMPLE_TIME, FIELD_SAMPLE_VALUE } from "./remote-write-index";

// The sample that was read last.
export let sampleBits: u64 = 0;
export let sampleTime: i64 = 0;
export let sampleStart: i64 = 0;

/** Reads a sample that is not written the usual way; fields that are absent are 0, of repeated ones the last counts. */
export function readSample(p: usize, end: usize, hasStart: bool): void {
  sampleBits = 0;
  sampleTime = 0;
  sampleStart = 0;
  while (p < end) {
    p = readField(p, end);
    if (fieldNumber == FIELD_SAMPLE_VALUE) {
      sampleBits = load<u64>(payload);
    } else if (fieldNumber == FIELD_SAMPLE_TIME) {
      readVarint(payload);
      sampleTime = <i64>varint;
    } else if (hasStart && fieldNumber == FIELD_SAMPLE_START) {
      readVarint(payload);
      sampleStart = <i64>varint;
    }
  }
}

/** A label's tag and the length of its name, and the name: of a summary's quantile. */
const QUANTILE_HEAD: u16 = 0x080a;
const QUANTILE: u64 = 0x656c69746e617571;

/** Whether label bytes have a label `quantile`; what their values hold is not told apart from labels. */
export function haveQuantile(p: usize, bytes: u32): bool {
  const end = p + bytes;
  if (p == 0) return false;
  for (; p + 10 <= end; p++) if (load<u16>(p) == QUANTILE_HEAD && load<u64>(p, 2) == QUANTILE) return true;
  return false;
}

