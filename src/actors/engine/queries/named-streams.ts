// Streams with their names on their way to a query worker.
import type { NamedStreams, PagedStream } from "../../../core/protocol/paged-streams.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { Shard } from "../shard/shard.ts";

/** Streams that a slice reads, about 10 us each with their names, or makes text of: a body of others that comes meanwhile waits for 0.6 ms. */
export const STREAMS_PER_SLICE = 64;

/** Collects streams; others of the engine may have their turn whenever it has made a row. */
export class NamedStreamList {
  readonly #shard: Shard;
  readonly #kernel: ShardKernel;
  readonly #rows: string[] = [];
  #streams: PagedStream[] = [];
  readonly #ids: Uint8Array[] = [];

  constructor(shard: Shard, kernel: ShardKernel) {
    this.#shard = shard;
    this.#kernel = kernel;
  }

  get length(): number {
    return this.#ids.length;
  }

  /** Adds the stream of a slot; true where a slice has enough. */
  add(slot: number): boolean {
    this.#ids.push(this.#shard.hashOf(slot).slice());
    this.#streams.push(this.#streamOf(slot));
    if (this.#streams.length < STREAMS_PER_SLICE) return false;
    this.#makeRow();
    return true;
  }

  #streamOf(slot: number): PagedStream {
    const { tenant, environment, serviceId, metricName, attributes } = this.#shard.nameOf(slot);
    const { records } = this.#kernel;
    const [firstTimeMs, lastTimeMs] = [records.firstTimeMs(slot), records.newestTimeMs(slot)];
    return {
      tenant,
      environment,
      serviceId,
      metricName,
      attributes,
      serviceLabel: records.serviceLabel(slot),
      firstTimeMs: firstTimeMs > 0 ? firstTimeMs : null,
      lastTimeMs: lastTimeMs > 0 ? lastTimeMs : null,
    };
  }

  #makeRow(): void {
    if (this.#streams.length > 0) this.#rows.push(JSON.stringify(this.#streams));
    this.#streams = [];
  }

  /** The answer's part, of all streams that were added so far. */
  finish(): NamedStreams {
    this.#makeRow();
    return { rows: this.#rows, streamIds: new Uint8Array(Buffer.concat(this.#ids)) };
  }
}
