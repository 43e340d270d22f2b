// Small objects as stored values: one version byte, then JSON. A migration reads the byte; nothing else does.
const VERSION = 1;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Encodes an object; undefined members are left out. */
export function encodeStored(value: unknown): Uint8Array {
  const text = encoder.encode(JSON.stringify(value));
  const bytes = new Uint8Array(1 + text.length);
  bytes[0] = VERSION;
  bytes.set(text, 1);
  return bytes;
}

/** Decodes what `encodeStored` wrote. Throws on another version: this program must not run on a store that it cannot read. */
export function decodeStored<T>(bytes: Uint8Array): T {
  if (bytes[0] !== VERSION) throw new Error(`a stored value has version ${bytes[0]}, this program reads ${VERSION}`);
  return JSON.parse(decoder.decode(bytes.subarray(1))) as T;
}

/** Decodes the JSON payload of a frame. */
export function decodePayload<T>(payload: Uint8Array): T {
  return JSON.parse(decoder.decode(payload)) as T;
}
