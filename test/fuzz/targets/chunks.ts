// What is stored of samples: chunks, blocks of chunks, and the chunks that wait for a block. None of them may throw, read outside its bytes or say more
// than it holds; what they take comes back the same when it is written again.
import { crc32 } from "../../../src/core/hashing/crc32.ts";
import { ChunkBlock } from "../../../src/domain/codec/chunk-block.ts";
import { ChunkBlockBuilder } from "../../../src/domain/codec/chunk-block-builder.ts";
import { CHUNK_BYTES_MAX, CHUNK_SAMPLES_MAX, decodeSampleChunk, encodeSampleChunk } from "../../../src/domain/codec/sample-chunk.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { type FuzzTarget, magnitude, must } from "../target.ts";

const CANARY = 1234.5678;
const STREAM_ID_BYTES = 16;
const STREAM_BYTES = 20;
const CHECKSUM_BYTES = 4;

/** A column with a canary on either side. */
function column(): { readonly all: Float64Array; readonly inner: Float64Array } {
  const all = new Float64Array(CHUNK_SAMPLES_MAX + 2);
  return { all, inner: all.subarray(1, CHUNK_SAMPLES_MAX + 1) };
}

function bytesOf(values: Float64Array, count: number): Uint8Array {
  return new Uint8Array(values.buffer, values.byteOffset, 8 * count);
}

export function sampleChunkTarget(): FuzzTarget {
  const [times, values, timesAgain, valuesAgain] = [column(), column(), column(), column()];
  const encoded = new Uint8Array(CHUNK_BYTES_MAX);
  const check = (input: Uint8Array): number => {
    for (const { all } of [times, values]) all[0] = all[CHUNK_SAMPLES_MAX + 1] = CANARY;
    const count = decodeSampleChunk(input, times.inner, values.inner);
    for (const { all } of [times, values]) must(all[0] === CANARY && all[CHUNK_SAMPLES_MAX + 1] === CANARY, "wrote outside a column");
    if (count === undefined) return -1;
    must(Number.isInteger(count) && count >= 1 && count <= CHUNK_SAMPLES_MAX && count === input[0], `a chunk of ${count} samples`);
    const end = encodeSampleChunk(times.inner, values.inner, count, encoded, 0);
    must(end <= 5 + 16 * count, `${count} samples take ${end} bytes`);
    must(decodeSampleChunk(encoded.subarray(0, end), timesAgain.inner, valuesAgain.inner) === count, "what was written again is no chunk");
    const same = (a: Float64Array, b: Float64Array) => Buffer.compare(bytesOf(a, count), bytesOf(b, count)) === 0;
    must(same(times.inner, timesAgain.inner) && same(values.inner, valuesAgain.inner), "what was written again has other numbers");
    return (magnitude(count) * 32 + ((input[1] ?? 0) & 31)) * 64 + magnitude(input.length);
  };
  return { name: "sample-chunk", bytesMax: 768, tokens: [], write: writeChunk, check };
}

const chunkTimes = new Float64Array(CHUNK_SAMPLES_MAX);
const chunkValues = new Float64Array(CHUNK_SAMPLES_MAX);
const chunkBytes = new Uint8Array(CHUNK_BYTES_MAX);

/** A chunk as streams make them: constant, walking, with gaps, or of any doubles. */
function writeChunk(out: InputWriter, random: Random): void {
  const count = random.oneIn(3) ? random.between(1, CHUNK_SAMPLES_MAX) : random.between(1, 12);
  const kind = random.below(4);
  let time = 1_795_220_000_000 + random.below(1e9);
  let value = random.below(1000);
  for (let i = 0; i < count; i++) {
    chunkTimes[i] = time;
    chunkValues[i] = kind === 3 ? random.next() / random.next() : kind === 2 && random.oneIn(20) ? Number.NaN : value;
    time += random.oneIn(10) ? random.below(100_000) : 1000;
    if (kind > 0) value = Math.round(value * 1000 + random.between(-500, 500)) / 1000;
  }
  const end = encodeSampleChunk(chunkTimes, chunkValues, count, chunkBytes, 0);
  out.raw(chunkBytes.subarray(0, end));
}

const streamId = new Uint8Array(STREAM_ID_BYTES);

function fillBuilder(builder: ChunkBlockBuilder, random: Random, out: InputWriter): void {
  for (let chunks = random.between(1, 6); chunks > 0; chunks--) {
    streamId.fill(random.below(4));
    streamId[STREAM_ID_BYTES - 1] = random.below(3);
    const firstMs = random.oneIn(8) ? random.below(1e13) - 5e12 : 1_795_220_000_000 + random.below(1e7);
    writeChunk(out.clear(), random);
    builder.append(streamId, out.bytes.subarray(0, 60), firstMs, firstMs + random.below(1e6));
  }
  out.clear();
}

export function chunkBlockTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const block = ChunkBlock.open(input);
    if (block === undefined) return -1;
    let count = 0;
    let bytes = 0;
    let found = 0;
    for (const { streamId: id, chunk } of block.chunks()) {
      must(id.length === STREAM_ID_BYTES, `a stream of ${id.length} bytes`);
      must(chunk.byteOffset + chunk.length <= input.byteOffset + input.length, "a chunk beyond the block");
      count++;
      bytes += chunk.length;
    }
    must(count === block.count, `${count} chunks instead of ${block.count}`);
    must(bytes < input.length, `chunks of ${bytes} bytes in a block of ${input.length}`);
    for (const id of [input.subarray(32, 32 + STREAM_ID_BYTES), streamId]) {
      for (const _chunk of block.chunksOf(id)) found++;
    }
    must(found <= 2 * count, `${found} chunks of two streams among ${count}`);
    return magnitude(count) * 64 + magnitude(bytes) * 4 + Math.min(3, found);
  };
  const write = (out: InputWriter, random: Random) => {
    const builder = new ChunkBlockBuilder();
    fillBuilder(builder, random, out);
    out.raw(builder.finish());
  };
  return { name: "chunk-block", bytesMax: 1024, tokens: [], write, repair: repairChecksum, check };
}

/** The checksum at the end, so that damage in front of it is looked at. */
function repairChecksum(input: Uint8Array): void {
  const body = input.length - CHECKSUM_BYTES;
  if (body >= 0) new DataView(input.buffer, input.byteOffset).setUint32(body, crc32(input.subarray(0, body)), true);
}

export function waitingChunksTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const builder = ChunkBlockBuilder.restore(input);
    if (builder === undefined) return -1;
    const again = builder.serialise();
    const pending = [...builder.pending()];
    must(pending.length === builder.count, `${pending.length} chunks wait instead of ${builder.count}`);
    must(ChunkBlockBuilder.restore(again)?.count === builder.count, "what was written again is no state");
    if (builder.count === 0) return 0;
    const { byteLength } = builder;
    const block = builder.finish();
    const most = byteLength + STREAM_BYTES * pending.length; // streams that share the first bytes of their ids are counted as one
    must(block.length <= most, `a block of ${block.length} bytes where ${byteLength} were said`);
    must(ChunkBlock.open(block)?.count === pending.length, "the block of what waited does not open");
    return magnitude(pending.length) * 32 + magnitude(block.length);
  };
  const write = (out: InputWriter, random: Random) => {
    const builder = new ChunkBlockBuilder();
    fillBuilder(builder, random, out);
    out.raw(builder.serialise());
  };
  return { name: "waiting-chunks", bytesMax: 1024, tokens: [], write, check };
}
