// A point on its way from an ingest to the shard that owns it: {bytes of the identity varint, the identity of its base name, the point}.
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";
import type { Distribution } from "./distribution.ts";
import { writeDistribution } from "./distribution-coding.ts";

/** Writes payloads into a buffer that is used again. */
export class PointMessageWriter {
  readonly #writer = new ByteWriter();

  /** Valid until the next call. */
  write(identity: Uint8Array, point: Distribution): Uint8Array {
    this.#writer.at = 0;
    this.#writer.varint(identity.length);
    this.#writer.copy(identity);
    writeDistribution(this.#writer, point);
    return this.#writer.bytes.subarray(0, this.#writer.at);
  }
}

/** The identity, as text of one byte a character, and the bytes of the point, in place. Throws when the payload is none. */
export function readPointMessage(payload: Uint8Array): { readonly identity: string; readonly bytes: Uint8Array } {
  const reader = new ByteReader(payload, "a message of a point is cut off");
  return { identity: reader.latin1(), bytes: payload.subarray(reader.at) };
}
