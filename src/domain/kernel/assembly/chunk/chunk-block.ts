// Puts records of chunks (core/layout/chunk-record.ts) together as a block; its slow twin is encodeChunkBlock of domain/codec/chunk-block.ts. Copied in
// pieces of 16 bytes: what is too much lies where the next chunk will, or behind the block.
import {
  CB_CHUNKS, CB_HEADER_BYTES, CB_LENGTH_BYTES, CB_MAX_TIME, CB_MIN_TIME, CB_STREAM_BYTES, CB_STREAM_END, CB_STREAMS, CB_VERSION, CB_VERSION_NOW, CB_ZERO,
} from "../../../../core/layout/chunk-block";
import { CR_CHUNK, CR_CHUNK_BYTES, CR_FIRST_TIME, CR_LAST_TIME, CR_STREAM } from "../../../../core/layout/chunk-record";

// @ts-ignore
@inline
function recordAt(records: usize, positions: usize, index: u32): usize {
  return records + (<usize>load<u32>(positions + (<usize>index << 2)) << 2);
}

// @ts-ignore
@inline
function isSameStream(a: usize, b: usize): bool {
  return !v128.any_true(v128.xor(v128.load(a, CR_STREAM), v128.load(b, CR_STREAM)));
}

/** Streams of ordered records. */
function countStreams(records: usize, positions: usize, count: u32): u32 {
  let streams: u32 = 1;
  let before = recordAt(records, positions, 0);
  for (let i: u32 = 1; i < count; i++) {
    const record = recordAt(records, positions, i);
    if (!isSameStream(before, record)) streams++;
    before = record;
  }
  return streams;
}

/**
 * Writes the block of `count` (at least one) records, which begin so many words behind `records` as the u32 at `places` say, to `block` and returns its
 * bytes without the checksum. Up to 15 bytes behind them are touched.
 */
export function encodeChunkBlock(records: usize, positions: usize, count: u32, block: usize): u32 {
  const streams = countStreams(records, positions, count);
  const area = block + CB_HEADER_BYTES + <usize>streams * CB_STREAM_BYTES;
  let stream = block + CB_HEADER_BYTES - CB_STREAM_BYTES, next = area;
  let before: usize = 0;
  let least: f64 = Infinity, most: f64 = -Infinity;
  for (let i: u32 = 0; i < count; i++) {
    const record = recordAt(records, positions, i);
    if (before == 0 || !isSameStream(before, record)) {
      stream += CB_STREAM_BYTES;
      v128.store(stream, v128.load(record, CR_STREAM));
    }
    before = record;
    least = min(least, load<f64>(record, CR_FIRST_TIME));
    most = max(most, load<f64>(record, CR_LAST_TIME));
    const bytes = <usize>load<u32>(record, CR_CHUNK_BYTES);
    store<u16>(next, <u16>bytes);
    next += CB_LENGTH_BYTES;
    for (let done: usize = 0; done < bytes; done += 16) v128.store(next + done, v128.load(record + done, CR_CHUNK));
    next += bytes;
    store<u32>(stream, <u32>(next - area), CB_STREAM_END);
  }
  store<u32>(block, CB_VERSION_NOW, CB_VERSION);
  store<u32>(block, count, CB_CHUNKS);
  store<u32>(block, streams, CB_STREAMS);
  store<u32>(block, 0, CB_ZERO);
  store<f64>(block, least, CB_MIN_TIME);
  store<f64>(block, most, CB_MAX_TIME);
  return <u32>(next - block);
}
