// Pages of a tenant's streams for query workers: their names, and what of their values is in no stored block. A walk goes service by service, and within a service in the order of
// the streams' hashes, so that a page can go on where the last ended whatever came or left meanwhile.
import { FLAG_COUNTER } from "../../../core/layout/stream-record.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type {
  PagedStream,
  StreamPageAnswer,
  StreamPageQuery,
  WaitingChunks,
  WaitingChunksAnswer,
  WaitingChunksQuery,
} from "../../../core/protocol/paged-streams.ts";
import { STREAM_ID_BYTES } from "../../../domain/codec/chunk-block.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { partitionOf } from "../../../domain/placement/partition.ts";
import { StreamSelection } from "../../../domain/promql/stored-labels.ts";
import { serviceIdOf, serviceKey } from "../../../domain/series/stream-identity.ts";
import type { Shard } from "../shard/shard.ts";
import type { ServiceIndex } from "../streams/service-index.ts";

/** Streams that a slice looks at, about 10 us each with their names: a body of others that comes meanwhile waits for 0.6 ms. */
const STREAMS_PER_SLICE = 64;
/** Streams whose hashes a slice puts in order, 0.2 us each. */
const HASHES_PER_SLICE = 4_096;

/** A stream of a service by the number that its hash begins with. */
interface Numbered {
  readonly slot: number;
  readonly number: number;
}

/** Reads pages of one shard. */
export class StreamPages {
  readonly #shard: Shard;
  readonly #kernel: ShardKernel;
  readonly #services: ServiceIndex;

  constructor(shard: Shard, kernel: ShardKernel, services: ServiceIndex) {
    this.#shard = shard;
    this.#kernel = kernel;
    this.#services = services;
  }

  /** A page; others of the engine have their turn at each step. All streams are in the index. */
  *answer(query: StreamPageQuery): Generator<void, StreamPageAnswer> {
    const { tenant, after, limit } = query;
    const page = new Page(query);
    for (const serviceId of this.#serviceIds(query)) {
      const from = after !== null && after.serviceId === serviceId ? after.after : -1;
      const first = page.length;
      const last = yield* this.#addService(page, serviceId, from);
      if (query.withValues) page.addChunks(this.#waiting(partitionOf(tenant, serviceId), page.idsFrom(first)), first);
      if (page.length >= limit) return page.finish({ serviceId, after: last });
    }
    return page.finish(null);
  }

  /** Chunks of streams that wait for a block. */
  waiting({ id, partition, streamIds }: WaitingChunksQuery): WaitingChunksAnswer {
    return { type: "waiting-chunks", id, ...this.#waiting(partition, streamIds) };
  }

  #serviceIds({ tenant, serviceId, after }: StreamPageQuery): string[] {
    const known = this.#services.servicesOf(tenant);
    if (serviceId !== null) return known.has(serviceKey(tenant, serviceId)) ? [serviceId] : [];
    const ids = Array.from(known.keys(), serviceIdOf).filter((id) => after === null || id >= after.serviceId);
    return ids.sort((a, b) => (a < b ? -1 : 1));
  }

  /** Adds streams of a service until the page is full; returns the number of the last that was looked at. Where streams leave meanwhile the rest is listed anew. */
  *#addService(page: Page, serviceId: string, from: number): Generator<void, number> {
    const key = serviceKey(page.query.tenant, serviceId);
    let last = from;
    for (;;) {
      const listed = yield* this.#numbered(key, last);
      const { removals } = this.#services;
      let looked = 0;
      for (; looked < listed.length; looked++) {
        const { slot, number } = listed[looked] as Numbered;
        if (page.isFull && number !== last) return last;
        if (looked % STREAMS_PER_SLICE === STREAMS_PER_SLICE - 1) yield;
        if (this.#services.removals !== removals) break;
        this.#add(page, slot);
        last = number;
      }
      if (looked === listed.length) return Number.POSITIVE_INFINITY;
    }
  }

  *#numbered(key: string, after: number): Generator<void, Numbered[]> {
    for (;;) {
      const slots = this.#services.servicesOf(tenantOf(key)).get(key) ?? [];
      const { removals } = this.#services;
      const found: Numbered[] = [];
      for (let index = 0; index < slots.length && this.#services.removals === removals; index++) {
        const slot = slots[index] as number;
        const number = numberOf(this.#shard.hashOf(slot));
        if (number > after) found.push({ slot, number });
        if (index % HASHES_PER_SLICE === HASHES_PER_SLICE - 1) yield;
      }
      if (this.#services.removals === removals) return found.sort((a, b) => a.number - b.number);
    }
  }

  #add(page: Page, slot: number): void {
    const name = this.#shard.nameOf(slot);
    const serviceLabel = this.#kernel.records.serviceLabel(slot);
    if (!page.selection.means({ ...name, serviceLabel })) return;
    page.add(this.#streamOf(slot, name), this.#shard.hashOf(slot));
    if (page.query.withValues) page.addOpen(this.#shard.chunks.open(slot));
  }

  #streamOf(slot: number, { tenant, environment, serviceId, metricName, attributes }: StreamName): PagedStream {
    const { records } = this.#kernel;
    const [firstTimeMs, lastTimeMs] = [records.firstTimeMs(slot), records.newestTimeMs(slot)];
    return {
      tenant,
      environment,
      serviceId,
      metricName,
      attributes,
      serviceLabel: records.serviceLabel(slot),
      isCounter: (records.flags(slot) & FLAG_COUNTER) !== 0,
      firstTimeMs: firstTimeMs > 0 ? firstTimeMs : null,
      lastTimeMs: lastTimeMs > 0 ? lastTimeMs : null,
    };
  }

  #waiting(partition: number, streamIds: Uint8Array): WaitingChunks {
    const indexes = new Map<string, number>();
    for (let index = 0; index * STREAM_ID_BYTES < streamIds.length; index++) {
      indexes.set(idText(streamIds.subarray(index * STREAM_ID_BYTES, (index + 1) * STREAM_ID_BYTES)), index);
    }
    const owners: number[] = [];
    const chunks: Uint8Array[] = [];
    if (indexes.size === 0) return { owners, chunks };
    this.#shard.chunks.storePartition(partition);
    for (const { streamId, chunk } of this.#shard.streams.partition(partition).chunks.pending()) {
      const index = indexes.get(idText(streamId));
      if (index === undefined) continue;
      owners.push(index);
      chunks.push(chunk.slice());
    }
    return { owners, chunks };
  }
}

function tenantOf(key: string): string {
  return (JSON.parse(key) as [string, string])[0];
}

function idText(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString("latin1");
}

/** The first 48 bits of a hash. */
function numberOf(hash: Uint8Array): number {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).readUIntBE(0, 6);
}

/** A page that is filled. */
class Page {
  readonly query: StreamPageQuery;
  readonly selection: StreamSelection;
  readonly #rows: string[] = [];
  #streams: PagedStream[] = [];
  readonly #ids: Uint8Array[] = [];
  readonly #owners: number[] = [];
  readonly #chunks: Uint8Array[] = [];
  readonly #openOwners: number[] = [];
  readonly #openChunks: Uint8Array[] = [];

  constructor(query: StreamPageQuery) {
    this.query = query;
    this.selection = StreamSelection.of(query.conditions);
  }

  get length(): number {
    return this.#ids.length;
  }

  get isFull(): boolean {
    return this.length >= this.query.limit;
  }

  /** The ids of its streams from an index on, 16 bytes each. */
  idsFrom(index: number): Uint8Array {
    return Buffer.concat(this.#ids.slice(index));
  }

  add(stream: PagedStream, id: Uint8Array): void {
    this.#ids.push(id.slice());
    this.#streams.push(stream);
    if (this.#streams.length === STREAMS_PER_SLICE) this.#makeRow();
  }

  /** Adds what the last stream has in no chunk. It is read before its chunks are: what becomes one meanwhile is in both, and not in none. */
  addOpen(chunks: readonly Uint8Array[]): void {
    for (const chunk of chunks) {
      this.#openOwners.push(this.length - 1);
      this.#openChunks.push(chunk);
    }
  }

  addChunks({ owners, chunks }: WaitingChunks, first: number): void {
    for (const owner of owners) this.#owners.push(first + owner);
    for (const chunk of chunks) this.#chunks.push(chunk);
  }

  #makeRow(): void {
    if (this.#streams.length > 0) this.#rows.push(JSON.stringify(this.#streams));
    this.#streams = [];
  }

  finish(next: StreamPageAnswer["next"]): StreamPageAnswer {
    this.#makeRow();
    return {
      type: "stream-page",
      id: this.query.id,
      rows: this.#rows,
      streamIds: new Uint8Array(this.idsFrom(0)),
      waiting: { owners: [...this.#owners, ...this.#openOwners], chunks: [...this.#chunks, ...this.#openChunks] },
      next,
    };
  }
}
