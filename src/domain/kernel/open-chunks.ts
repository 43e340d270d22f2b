// What a stream in the store has that is in no chunk yet, as chunks: the slow twin of what an engine makes of a stream in its memory (actors/engine/shard/stream-chunks.ts).
import {
  FLAG_COUNTER,
  FLAG_HAS_RAW,
  SR_ANCHOR,
  SR_FLAGS,
  SR_LAST_RAW,
  SR_LAST_TIME,
  SR_UNCHUNKED,
  WINDOW_MAX,
} from "../../core/layout/stream-record.ts";
import { CHUNK_BYTES_MAX, encodeChunkApart, encodeCountedChunk, encodeSampleChunk } from "../codec/sample-chunk.ts";
import type { SnapshotReader } from "./stream-snapshot.ts";

const out = new Uint8Array(CHUNK_BYTES_MAX);
const times = new Float64Array(WINDOW_MAX);
const newest = new Float64Array(1);
const raw = new Float64Array(1);

/** Chunks of the values of a snapshot that are in none yet, and of a counter that has no such value its newest. */
export function openChunks({ header, values, intervals, count }: SnapshotReader): Uint8Array[] {
  const unchunked = header.getUint32(SR_UNCHUNKED, true);
  const first = count - unchunked;
  const flags = header.getUint32(SR_FLAGS, true);
  const isCounter = (flags & FLAG_COUNTER) !== 0;
  newest[0] = header.getFloat64(SR_LAST_TIME, true);
  if (unchunked === 0) {
    raw[0] = header.getFloat64(SR_LAST_RAW, true);
    return isCounter && (flags & FLAG_HAS_RAW) !== 0 ? [out.slice(0, encodeChunkApart("sent", newest, raw, 1, out, 0))] : [];
  }
  for (let i = unchunked - 1, time = newest[0] as number; i >= 0; time -= intervals[first + i] as number, i--) times[i] = time;
  const open = values.subarray(first, count);
  const anchor = header.getFloat64(SR_ANCHOR, true);
  const end =
    isCounter && !Object.is(anchor, 0)
      ? encodeCountedChunk({ anchor, gapMs: intervals[first] as number }, times, open, unchunked, out, 0)
      : encodeSampleChunk(times, open, unchunked, out, 0);
  return [out.slice(0, end)];
}
