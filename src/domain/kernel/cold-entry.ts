// A stream that left memory, as bytes: {serial u32, bytes of the rest u32, hash 16, bytes of the identity u32, identity, snapshot}. Engine and coordinator
// pass such entries one behind another.
import type { ByteWriter } from "../codec/byte-writer.ts";
import type { ByteCursor } from "../codec/varint.ts";

const HEADER_BYTES = 8;
export const HASH_BYTES = 16;
const IDENTITY_AT = HEADER_BYTES + HASH_BYTES + 4;

/** An entry; all arrays are views. */
export interface ColdEntry {
  readonly serial: number;
  /** All of it. */
  readonly bytes: Uint8Array;
  readonly hash: Uint8Array;
  readonly identity: Uint8Array;
  /** See stream-snapshot.ts. */
  readonly snapshot: ByteCursor;
}

/** Appends an entry; `pack` appends the snapshot. */
export function writeColdEntry(
  writer: ByteWriter,
  { serial, hash, identity }: Pick<ColdEntry, "serial" | "hash" | "identity">,
  pack: () => void,
): void {
  const from = writer.at;
  writer.u32(serial);
  writer.u32(0);
  writer.copy(hash);
  writer.u32(identity.length);
  writer.copy(identity);
  pack();
  writer.view.setUint32(from + 4, writer.at - from - HEADER_BYTES, true);
}

/** Walks entries. Throws when the bytes end within one. */
export function* readColdEntries(bytes: Uint8Array): Generator<ColdEntry> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at < bytes.length; ) {
    const end = at + IDENTITY_AT <= bytes.length ? at + HEADER_BYTES + view.getUint32(at + 4, true) : Number.POSITIVE_INFINITY;
    const snapshotAt = end <= bytes.length ? at + IDENTITY_AT + view.getUint32(at + IDENTITY_AT - 4, true) : Number.POSITIVE_INFINITY;
    if (snapshotAt > end || end > bytes.length) throw new Error("an entry of a stream that left memory is cut off");
    yield {
      serial: view.getUint32(at, true),
      bytes: bytes.subarray(at, end),
      hash: bytes.subarray(at + HEADER_BYTES, at + HEADER_BYTES + HASH_BYTES),
      identity: bytes.subarray(at + IDENTITY_AT, snapshotAt),
      snapshot: { bytes, at: snapshotAt, end },
    };
    at = end;
  }
}
