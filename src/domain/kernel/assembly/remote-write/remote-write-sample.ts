// Samples of a remote-write series that are not written the usual way.
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
