// What an ingest sends to a shard besides rows: messages of a kind that a handler of the shard takes. They are logged with their unit and come to the shard
// behind the unit's rows; a start replays them as it replays rows.
// A section, in the log and in the rings between engines, is a list of {partition u32, bytes u32, payload padded to 8}; its kind is that of its messages.
import type { ByteWriter } from "./byte-writer.ts";

/** A message of spans or logs leaves at this size: with one more and its texts, at most 6 KiB, it is still below MESSAGE_BYTES_MAX. */
export const MESSAGE_BYTES_FULL = 8 * 1024;

/** Largest payload: with its header it fits a frame between engines several times. */
export const MESSAGE_BYTES_MAX = 16 * 1024;
const MESSAGE_HEADER_BYTES = 8;

const align8 = (bytes: number) => (bytes + 7) & ~7;

/** One message in place. */
export interface ShardMessage {
  readonly partition: number;
  /** Valid until the section's bytes are used again. */
  readonly payload: Uint8Array;
}

/** Appends a message with its header and padding. Throws when the payload is larger than MESSAGE_BYTES_MAX. */
export function writeMessage(writer: ByteWriter, partition: number, payload: Uint8Array): void {
  const bytes = payload.byteLength;
  if (bytes > MESSAGE_BYTES_MAX) throw new RangeError(`a message has ${bytes} of at most ${MESSAGE_BYTES_MAX} bytes`);
  writer.u32(partition);
  writer.u32(bytes);
  writer.copy(payload);
  const padding = align8(bytes) - bytes;
  writer.reserve(padding);
  writer.bytes.fill(0, writer.at, writer.at + padding);
  writer.at += padding;
}

/** A section in pieces of at most `bytesMax`, each of whole messages; a single larger one stands alone. */
export function* piecesOf(section: Uint8Array, bytesMax: number): Generator<Uint8Array> {
  const view = new DataView(section.buffer, section.byteOffset, section.byteLength);
  let from = 0;
  for (let at = 0; section.byteLength - from > bytesMax && at < section.byteLength; ) {
    const end = at + MESSAGE_HEADER_BYTES + align8(view.getUint32(at + 4, true));
    if (at > from && end - from > bytesMax) {
      yield section.subarray(from, at);
      from = at;
    }
    at = end;
  }
  if (from < section.byteLength) yield section.subarray(from);
}

/** Walks the messages of a section. Throws where one leaves the section. */
export function* messagesOf(section: Uint8Array): Generator<ShardMessage> {
  const view = new DataView(section.buffer, section.byteOffset, section.byteLength);
  for (let at = 0; at < section.byteLength; ) {
    const bytes = at + MESSAGE_HEADER_BYTES <= section.byteLength ? view.getUint32(at + 4, true) : Number.POSITIVE_INFINITY;
    const from = at + MESSAGE_HEADER_BYTES;
    if (from + bytes > section.byteLength) throw new Error(`message of ${bytes} bytes at ${at} leaves its section`);
    yield { partition: view.getUint32(at, true), payload: section.subarray(from, from + bytes) };
    at = from + align8(bytes);
  }
}
