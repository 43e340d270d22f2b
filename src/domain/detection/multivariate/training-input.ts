// A training's input in one shared buffer (schemas/training-input.fbs): each chunk is written there as it is found, and the thread that trains reads it where it
// lies. FlatBuffers are built from their end to their beginning, so the buffer has its size from the start; pages of it that nothing was written to take no memory.
import { Builder, ByteBuffer } from "flatbuffers";
import { TRAINING_CHUNK_BYTES_MAX } from "../../../core/config/limits.ts";
import { Chunk, TrainingInput as Input, Stream, type Stream as StreamTable } from "./generated/training-input.ts";
import type { RowSelection } from "./selected-rows.ts";
import type { RowRequest, StreamSamples } from "./service-rows.ts";
import type { TrainingJob, TrainingPast } from "./service-training.ts";
import type { StreamHistory } from "./stream-history.ts";

/** Input sent to the pool: a message that is copied holds the place of the buffer alone. */
export interface TrainingInput {
  readonly buffer: SharedArrayBuffer;
  /** Where the root of the FlatBuffer stands. */
  readonly at: number;
  /** Selection of a training that was asked for. */
  readonly selection?: RowSelection;
  /** What is known besides, of an automatic training. */
  readonly past?: TrainingPast;
}

/** Parts of an input besides its streams. */
export interface TrainingRequest extends RowRequest {
  readonly starts: Uint16Array;
  readonly aggregations: Uint8Array;
  readonly seed: number;
  /** Beginning of chunks; undefined where streams have none. */
  readonly fromMs?: number;
}

/** Size of a chunk besides its bytes: length, padding, table, vtable (shared) and its place in the stream's vector, at most. */
const CHUNK_TABLE_BYTES = 32;
/** Size of a stream besides its samples and chunks, likewise; and of the root with its vectors. */
const STREAM_TABLE_BYTES = 80;
const ROOT_BYTES = 512;
const SAMPLE_BYTES = 16;

/** Writes one input. */
export class TrainingInputWriter {
  readonly #buffer: SharedArrayBuffer;
  readonly #builder: Builder;
  /** Places of each stream's chunks in the order in which they were found. */
  readonly #chunks: readonly number[][];
  readonly #reserved: number;

  /** `samples`: of all streams, besides chunks; `metrics`: of the request; `chunkBytes`: room for chunks. */
  constructor({ streams, samples, metrics }: { streams: number; samples: number; metrics: number }, chunkBytes = TRAINING_CHUNK_BYTES_MAX) {
    this.#reserved = ROOT_BYTES + SAMPLE_BYTES * samples + STREAM_TABLE_BYTES * streams + 3 * metrics;
    this.#buffer = new SharedArrayBuffer(8 * Math.ceil((this.#reserved + chunkBytes) / 8));
    this.#builder = builderOver(this.#buffer);
    this.#chunks = Array.from({ length: streams }, () => []);
  }

  /** Copies a chunk of a stream, to be called from the newest to the oldest; false where it finds no room any more. */
  addChunk(stream: number, chunk: Uint8Array): boolean {
    const builder = this.#builder;
    if (builder.offset() + chunk.length + CHUNK_TABLE_BYTES + this.#reserved > this.#buffer.byteLength) return false;
    const bytes = builder.createByteVector(chunk);
    (this.#chunks[stream] as number[]).push(Chunk.createChunk(builder, bytes));
    return true;
  }

  /** The input of these streams; nothing may be written any more. */
  finish(streams: readonly StreamSamples[], request: TrainingRequest): TrainingInput {
    const builder = this.#builder;
    const tables = streams.map(({ times, values }, stream) => {
      const chunks = Stream.createChunksVector(builder, this.#chunks[stream] as number[]);
      const [timesAt, valuesAt] = [Stream.createTimesVector(builder, times), Stream.createValuesVector(builder, values)];
      return Stream.createStream(builder, timesAt, valuesAt, chunks);
    });
    const streamsAt = Input.createStreamsVector(builder, tables);
    const startsAt = Input.createStartsVector(builder, request.starts);
    const aggregationsAt = builder.createByteVector(request.aggregations);
    Input.startTrainingInput(builder);
    Input.addStreams(builder, streamsAt);
    Input.addStarts(builder, startsAt);
    Input.addAggregations(builder, aggregationsAt);
    Input.addHasChunks(builder, request.fromMs !== undefined);
    Input.addFromMs(builder, request.fromMs ?? 0);
    Input.addToMs(builder, request.toMs);
    Input.addIntervalMs(builder, request.intervalMs);
    Input.addRowsMax(builder, request.rowsMax);
    Input.addSeed(builder, request.seed);
    Input.finishTrainingInputBuffer(builder, Input.endTrainingInput(builder));
    const written = builder.dataBuffer();
    if (written.bytes().buffer !== this.#buffer) throw new RangeError("a training's input has grown beyond its buffer");
    return { buffer: this.#buffer, at: written.position() };
  }
}

/** A builder makes its own memory, which is not shared, and offers no other: this one has the buffer in its place. It would leave it only to grow, which `finish` refuses. */
function builderOver(buffer: SharedArrayBuffer): Builder {
  return Object.assign(new Builder(1), { bb: new ByteBuffer(new Uint8Array(buffer)), space: buffer.byteLength });
}

/** The input of a job whose streams have all their samples. */
export function writeTrainingInput({ streams, past, ...request }: TrainingJob): TrainingInput {
  const samples = streams.reduce((sum, { times }) => sum + times.length, 0);
  const writer = new TrainingInputWriter({ streams: streams.length, samples, metrics: request.aggregations.length }, 0);
  return { ...writer.finish(streams, request), ...(past !== undefined && { past }) };
}

/** The job that an input stands for: its arrays are views of the buffer. Throws where it is none. */
export function readTrainingInput({ buffer, at, selection, past }: TrainingInput): TrainingJob {
  const bytes = new ByteBuffer(new Uint8Array(buffer));
  bytes.setPosition(at);
  if (!Input.bufferHasIdentifier(bytes)) throw new Error("a training's input is no TrainingInput");
  const input = Input.getRootAsTrainingInput(bytes);
  const fromMs = input.hasChunks() ? input.fromMs() : undefined;
  return {
    streams: Array.from({ length: input.streamsLength() }, (_, stream) => historyOf(input.streams(stream) as StreamTable, fromMs)),
    starts: input.startsArray() as Uint16Array,
    aggregations: input.aggregationsArray() as Uint8Array,
    toMs: input.toMs(),
    intervalMs: input.intervalMs(),
    rowsMax: input.rowsMax(),
    seed: input.seed(),
    ...(selection !== undefined && { selection }),
    ...(past !== undefined && { past }),
  };
}

function historyOf(stream: StreamTable, fromMs: number | undefined): StreamHistory {
  const samples = { times: stream.timesArray() as Float64Array, values: stream.valuesArray() as Float64Array };
  if (fromMs === undefined) return samples;
  const chunks = Array.from({ length: stream.chunksLength() }, (_, i) => (stream.chunks(i) as Chunk).bytesArray() as Uint8Array);
  return { ...samples, stored: { chunks, fromMs } };
}
