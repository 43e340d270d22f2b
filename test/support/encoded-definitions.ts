// The definitions of streams in a section of a block, as the server reads them one by one.
import { type Definition, decodeDefinition, definitionBytes } from "../../src/actors/engine/unit/work-unit.ts";
import { DEFINE_HEADER_BYTES } from "../../src/core/layout/row-frame.ts";

/** Returns the encoded definitions; their arrays are copies. Throws where an identity leaves the bytes. */
export function* decodeDefinitions(bytes: Uint8Array): Generator<Definition> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let at = 0; at + DEFINE_HEADER_BYTES <= bytes.byteLength; at += definitionBytes(view, at)) yield decodeDefinition(view, at);
}
