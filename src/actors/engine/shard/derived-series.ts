// Values of series that a shard derives itself (quantiles of histograms, rates of spans). They go into its own streams as rows do that come from an ingest.
import type { EngineMemory, ProcessSlots } from "../../../adapters/shared-memory/engine-memory.ts";
import { DERIVED_ROWS, DERIVED_ROWS_BYTES, SCRATCH } from "../../../core/layout/memory-map.ts";
import { RESTART_MARKER_HIGH, ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE, WIDTH_MARKER_HIGH } from "../../../core/layout/row-frame.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { partitionOf } from "../../../domain/placement/partition.ts";
import { identityText } from "../../../domain/series/stream-identity.ts";
import type { RowBatch, Shard } from "./shard.ts";

const ROWS_MAX = DERIVED_ROWS_BYTES / ROW_BYTES;
/** Row offsets are unsigned 32-bit: a value may be so much older or younger than the first of its batch. */
const OFFSET_MIDDLE_MS = 2 ** 31;
/** Prometheus' stale marker. A number would lose it: nobody says which NaN is written. */
const STALE_BITS = 0x7ff0000000000002n;
const DOUBLE = new DataView(new ArrayBuffer(8));

export interface DerivedSeriesDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly processSlots: ProcessSlots;
  readonly tenantIndex: (tenant: string) => number;
  readonly shard: Pick<Shard, "streams" | "applyRows">;
}

/** A series that is written to: its stream is made, or found, when it is opened. */
export interface DerivedStream {
  readonly ref: number;
}

/** Writes to streams of one shard. Call `flush` before the messages at hand are done. */
export class DerivedSeries {
  readonly #dependencies: DerivedSeriesDependencies;
  #rows = 0;
  #baseMs = 0;
  #arrivalMs = 0;

  constructor(dependencies: DerivedSeriesDependencies) {
    this.#dependencies = dependencies;
  }

  /** The stream of a name, whose service must be one of this engine's partitions. The caller keeps it: opening costs some microseconds and a ref. */
  open(name: StreamName, flags = 0): DerivedStream {
    return this.#open(name, flags, Number.POSITIVE_INFINITY) as DerivedStream;
  }

  /** The same; undefined for a stream that would be a new one where the tenant has `streamsMax`. */
  openWithin(name: StreamName, streamsMax: number, flags = 0): DerivedStream | undefined {
    return this.#open(name, flags, streamsMax);
  }

  #open(name: StreamName, flags: number, streamsMax: number): DerivedStream | undefined {
    const { memory, kernel, processSlots, shard, tenantIndex } = this.#dependencies;
    const identity = new TextEncoder().encode(identityText(name));
    memory.bytes.set(identity, SCRATCH);
    const at = kernel.identityHash(SCRATCH, identity.byteLength);
    const hash = new Uint8Array(memory.bytes.subarray(at, at + 16));
    const tenant = tenantIndex(name.tenant);
    if (processSlots.tenantStreams(tenant) >= streamsMax && shard.streams.findAny(hash, tenant) < 0) return undefined;
    const ref = processSlots.takeRef();
    const partition = partitionOf(name.tenant, name.serviceId);
    shard.streams.takeOne({ ref, partition, flags, tenant, hash, identity });
    return { ref };
  }

  /** Adds a value; `arrivalMs` (monotonic) is that of the bytes which it comes from. */
  write(stream: DerivedStream, timeMs: number, value: number, arrivalMs: number): void {
    const { view } = this.#dependencies.memory;
    view.setFloat64(this.#add(stream, timeMs, arrivalMs), value, true);
  }

  /** Says how wide the bucket is in which the stream's value of that time, which is written next, was estimated. */
  writeWidth(stream: DerivedStream, timeMs: number, width: number, arrivalMs: number): void {
    const { view } = this.#dependencies.memory;
    const at = this.#add(stream, timeMs, arrivalMs);
    DOUBLE.setFloat64(0, width, true);
    const low = DOUBLE.getUint32(0, true);
    const high = DOUBLE.getUint32(4, true);
    view.setUint32(at, (high << 16) | (low >>> 16), true);
    view.setUint32(at + 4, (WIDTH_MARKER_HIGH << 16) | (high >>> 16), true);
  }

  /** Says that counting began anew in the interval of the stream's value of that time, which is written next. */
  writeRestart(stream: DerivedStream, timeMs: number, arrivalMs: number): void {
    const { view } = this.#dependencies.memory;
    view.setBigUint64(this.#add(stream, timeMs, arrivalMs), BigInt(RESTART_MARKER_HIGH) << 48n, true);
  }

  /** Ends a stream, as a stale marker does; a value that is written later begins it again. */
  end(stream: DerivedStream, timeMs: number, arrivalMs: number): void {
    const { view } = this.#dependencies.memory;
    view.setBigUint64(this.#add(stream, timeMs, arrivalMs), STALE_BITS, true);
  }

  /** A row without its value: where that is to be written. */
  #add({ ref }: DerivedStream, timeMs: number, arrivalMs: number): number {
    const { memory } = this.#dependencies;
    const offset = timeMs - this.#baseMs;
    if (this.#rows === ROWS_MAX || (this.#rows > 0 && (offset < 0 || offset >= 2 ** 32 || arrivalMs !== this.#arrivalMs))) this.flush();
    if (this.#rows === 0) {
      this.#baseMs = timeMs - OFFSET_MIDDLE_MS;
      this.#arrivalMs = arrivalMs;
    }
    const at = DERIVED_ROWS + this.#rows * ROW_BYTES;
    memory.view.setUint32(at + ROW_REF, ref, true);
    memory.view.setUint32(at + ROW_OFFSET, timeMs - this.#baseMs, true);
    this.#rows++;
    return at + ROW_VALUE;
  }

  /** Applies what was written. */
  flush(): void {
    if (this.#rows === 0) return;
    const batch: RowBatch = { pointer: DERIVED_ROWS, rows: this.#rows, baseMs: this.#baseMs, arrivalMs: this.#arrivalMs };
    this.#rows = 0;
    this.#dependencies.shard.applyRows(batch);
  }
}
