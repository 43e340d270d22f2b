// Stored values by schema (schemas/stored.proto): {version u8, bytes of the message u32, message}. The length is there so that a value that was cut off is known
// as damaged: a message alone would be read as one with fewer fields.
import { ID_BYTES, knownIdBytes } from "./tables.ts";

const HEAD_BYTES = 5;

/** Encoder and decoder of one message, as protobufjs generates them. */
export interface MessageCodec {
  encode(message: object): { finish(): Uint8Array };
  // biome-ignore lint/suspicious/noExplicitAny: generated code has no types; whoever reads a row gives each field its own.
  decode(bytes: Uint8Array): any;
}

/** The stored value of a message that stands in pieces, one behind the other. */
export function storedMessage(version: number, ...pieces: readonly Uint8Array[]): Uint8Array {
  const length = pieces.reduce((bytes, piece) => bytes + piece.length, 0);
  const value = new Uint8Array(HEAD_BYTES + length);
  new DataView(value.buffer).setUint32(1, length, true);
  value[0] = version;
  let at = HEAD_BYTES;
  for (const piece of pieces) {
    value.set(piece, at);
    at += piece.length;
  }
  return value;
}

/** Reads a stored value whose version is known, and gives what `read` makes of its message. Throws Error with `damage` where it is not whole. */
export function readStoredMessage<T>(
  codec: MessageCodec,
  bytes: Uint8Array,
  damage: string,
  read: (message: ReturnType<MessageCodec["decode"]>) => T,
): T {
  const isWhole =
    bytes.length >= HEAD_BYTES &&
    new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(1, true) === bytes.length - HEAD_BYTES;
  if (!isWhole) throw new Error(damage);
  try {
    return read(codec.decode(bytes.subarray(HEAD_BYTES)));
  } catch (error) {
    throw new Error(damage, { cause: error });
  }
}

/** Halves of surrogate pairs cannot be stored as text. */
export function storedText(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed();
}

/** An id as a message has it. */
export interface StoredId {
  readonly hex?: Uint8Array;
  readonly text?: string;
}

export function storedId(id: string): StoredId {
  const hex = knownIdBytes(id);
  return hex === undefined ? { text: storedText(id) } : { hex };
}

/** Throws RangeError where there is none. */
export function idOfStored(id: { readonly hex: Uint8Array | null; readonly text: string | null } | null): string {
  if (id?.hex?.length === ID_BYTES) return Buffer.from(id.hex.buffer, id.hex.byteOffset, id.hex.byteLength).toString("hex");
  if (id?.text == null) throw new RangeError("a stored id has 16 bytes or a text");
  return id.text;
}
