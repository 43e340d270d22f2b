// A stored checkpoint: {version u8 = 1, three zero bytes} and the payload of its frame, so that header and state keep their alignment.
import type { CheckpointHeader } from "../../../core/protocol/coordinator-frame.ts";
import type { StoredCheckpoint } from "../../../core/protocol/engine-control.ts";
import { decodePayload } from "./stored-json.ts";

const VERSION = 1;
const ROW_HEADER_BYTES = 4;

/** Encodes the payload of a checkpoint frame: {header bytes u32} JSON CheckpointHeader padded to 4, state. */
export function encodeCheckpointRow(payload: Uint8Array): Uint8Array {
  const row = new Uint8Array(ROW_HEADER_BYTES + payload.length);
  row[0] = VERSION;
  row.set(payload, ROW_HEADER_BYTES);
  return row;
}

/** Reads a stored checkpoint; its state is a view of `row`. */
export function decodeCheckpointRow(row: Uint8Array): StoredCheckpoint {
  if (row[0] !== VERSION) throw new Error(`a stored checkpoint has version ${row[0]}, this program reads ${VERSION}`);
  const payload = row.subarray(ROW_HEADER_BYTES);
  const { partition, epoch, vector, nextBlock } = readCheckpointHeader(payload);
  return { partition, epoch, vector, nextBlock, state: payload.subarray(stateOffset(payload)) };
}

/** Reads the header of a frame's payload. */
export function readCheckpointHeader(payload: Uint8Array): CheckpointHeader {
  return decodePayload<CheckpointHeader>(payload.subarray(4, 4 + headerBytes(payload)));
}

function headerBytes(payload: Uint8Array): number {
  return new DataView(payload.buffer, payload.byteOffset, payload.byteLength).getUint32(0, true);
}

function stateOffset(payload: Uint8Array): number {
  return 4 + ((headerBytes(payload) + 3) & ~3);
}
