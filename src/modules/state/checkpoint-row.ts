// A stored checkpoint: {version u8 = 2, three zero bytes} and the payload of its frame, so that header and state keep their alignment.
// The parts of the state before the last are rows of their own, as they came.
import {
  CHECKPOINT_PART_HEADER_BYTES,
  type CheckpointHeader,
  type CheckpointNote,
  joinCheckpoint,
} from "../../core/protocol/coordinator-frame.ts";
import { decodePayload } from "./stored-json.ts";

const VERSION = 2;
const ROW_HEADER_BYTES = 4;

/** Encodes the payload of a checkpoint frame, but for what it changes among the streams that left memory: {header bytes u32} JSON CheckpointHeader padded to 4, last part of the state. */
export function encodeCheckpointRow(payload: Uint8Array): Uint8Array {
  const retained = payload.subarray(0, payload.length - readCheckpointHeader(payload).coldBytes);
  const row = new Uint8Array(ROW_HEADER_BYTES + retained.length);
  row[0] = VERSION;
  row.set(retained, ROW_HEADER_BYTES);
  return row;
}

/** The row of a checkpoint that covers more of the log now. Throws where that is not the one that is meant. */
export function notedCheckpointRow(row: Uint8Array, { partition, generation, epoch, vector, parts }: CheckpointNote): Uint8Array {
  const { header, last } = decodeCheckpointRow(row);
  if (header.generation !== generation || header.parts < parts)
    throw new Error(`partition ${partition} has no checkpoint ${generation} of ${parts} parts`);
  return encodeCheckpointRow(joinCheckpoint({ ...header, epoch, vector, parts, coldBytes: 0 }, last, new Uint8Array(0)));
}

/** Changes of a checkpoint frame among the streams that left memory. */
export function readColdChanges(payload: Uint8Array): Uint8Array {
  return payload.subarray(payload.length - readCheckpointHeader(payload).coldBytes);
}

/** Reads a stored checkpoint's header and the last part of its state, a view of `row`. */
export function decodeCheckpointRow(row: Uint8Array): { header: CheckpointHeader; last: Uint8Array } {
  if (row[0] !== VERSION) throw new Error(`a stored checkpoint has version ${row[0]}, this program reads ${VERSION}`);
  const payload = row.subarray(ROW_HEADER_BYTES);
  return { header: readCheckpointHeader(payload), last: payload.subarray(stateOffset(payload)) };
}

/** Reads the header of a frame's payload. */
export function readCheckpointHeader(payload: Uint8Array): CheckpointHeader {
  return decodePayload<CheckpointHeader>(payload.subarray(4, 4 + headerBytes(payload)));
}

/** Header of a part's frame, and the part, a view. */
export function readPartFrame(payload: Uint8Array): { partition: number; generation: number; part: number; bytes: Uint8Array } {
  const view = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  const bytes = payload.subarray(CHECKPOINT_PART_HEADER_BYTES);
  return { partition: view.getUint32(0, true), generation: view.getUint32(4, true), part: view.getUint32(8, true), bytes };
}

function headerBytes(payload: Uint8Array): number {
  return new DataView(payload.buffer, payload.byteOffset, payload.byteLength).getUint32(0, true);
}

function stateOffset(payload: Uint8Array): number {
  return 4 + ((headerBytes(payload) + 3) & ~3);
}
