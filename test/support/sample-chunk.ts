// A chunk of samples, encoded.
import { CHUNK_BYTES_MAX, encodeSampleChunk } from "../../src/domain/codec/sample-chunk.ts";

export function sampleChunk(times: Float64Array, values: Float64Array): Uint8Array {
  const out = new Uint8Array(CHUNK_BYTES_MAX);
  return out.slice(0, encodeSampleChunk(times, values, times.length, out, 0));
}
