// What a tenant's streams are called, for query workers that index them: all of them page by page, and which came and went since. A scan goes service by service, and within a service
// in the order of the streams' hashes, so that a page can go on where the last ended whatever came or left meanwhile.
import type { StreamChangesAnswer, StreamChangesQuery, StreamPageAnswer, StreamPageQuery } from "../../../core/protocol/paged-streams.ts";
import { idText } from "../../../domain/codec/chunk-block.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import { serviceIdOf, serviceKey } from "../../../domain/series/stream-identity.ts";
import type { Shard } from "../shard/shard.ts";
import type { ServiceIndex } from "../streams/service-index.ts";
import { NamedStreamList, STREAMS_PER_SLICE } from "./named-streams.ts";

/** Streams whose hashes a slice puts in order, or changes that it looks at, 0.2 us each. */
const HASHES_PER_SLICE = 4_096;

/** A stream of a service by the number that its hash begins with. */
interface Numbered {
  readonly slot: number;
  readonly number: number;
}

export interface StreamPagesDependencies {
  readonly shard: Shard;
  readonly kernel: ShardKernel;
  readonly services: ServiceIndex;
  tenantIndex(name: string): number;
}

/** Reads names of streams of one shard. */
export class StreamPages {
  readonly #dependencies: StreamPagesDependencies;

  constructor(dependencies: StreamPagesDependencies) {
    this.#dependencies = dependencies;
  }

  /** A page; others of the engine have their turn at each step. All streams are in the index. */
  *page(query: StreamPageQuery): Generator<void, StreamPageAnswer> {
    const { after, limit } = query;
    const list = this.#list();
    const answer = (next: StreamPageAnswer["next"]): StreamPageAnswer => ({ type: "stream-page", id: query.id, ...list.finish(), next });
    for (const serviceId of this.#serviceIds(query)) {
      const from = after !== null && after.serviceId === serviceId ? after.after : -1;
      const last = yield* this.#addService(list, query, serviceId, from);
      if (list.length >= limit) return answer({ serviceId, after: last });
    }
    return answer(null);
  }

  #list(): NamedStreamList {
    return new NamedStreamList(this.#dependencies.shard, this.#dependencies.kernel);
  }

  #serviceIds({ tenant, after }: StreamPageQuery): string[] {
    const { services } = this.#dependencies;
    const keys = new Set([...services.servicesOf(tenant).keys(), ...services.queryOnlyOf(tenant).keys()]);
    const ids = Array.from(keys, serviceIdOf).filter((id) => after === null || id >= after.serviceId);
    return ids.sort((a, b) => (a < b ? -1 : 1));
  }

  /** Adds streams of a service until the page is full; returns the number of the last that was looked at. Where streams leave meanwhile the rest is listed anew. */
  *#addService(list: NamedStreamList, { tenant, limit }: StreamPageQuery, serviceId: string, from: number): Generator<void, number> {
    const { services } = this.#dependencies;
    const key = serviceKey(tenant, serviceId);
    let last = from;
    for (;;) {
      const listed = yield* this.#numbered(tenant, key, last);
      const { removals } = services;
      let inspected = 0;
      for (; inspected < listed.length; inspected++) {
        const { slot, number } = listed[inspected] as Numbered;
        if (list.length >= limit && number !== last) return last;
        if (inspected % STREAMS_PER_SLICE === STREAMS_PER_SLICE - 1) yield;
        if (services.removals !== removals) break;
        list.add(slot);
        last = number;
      }
      if (inspected === listed.length) return Number.POSITIVE_INFINITY;
    }
  }

  *#numbered(tenant: string, key: string, after: number): Generator<void, Numbered[]> {
    const { services, shard } = this.#dependencies;
    for (;;) {
      const slots = [...(services.servicesOf(tenant).get(key) ?? []), ...(services.queryOnlyOf(tenant).get(key) ?? [])];
      const { removals } = services;
      const found: Numbered[] = [];
      for (let index = 0; index < slots.length && services.removals === removals; index++) {
        const slot = slots[index] as number;
        const number = numberOf(shard.hashOf(slot));
        if (number > after) found.push({ slot, number });
        if (index % HASHES_PER_SLICE === HASHES_PER_SLICE - 1) yield;
      }
      if (services.removals === removals) return found.sort((a, b) => a.number - b.number);
    }
  }

  /** What has changed since; the newest change of a stream says what it is now. What comes or goes while this is made comes with the next. */
  *changes({ id, tenant, after }: StreamChangesQuery): Generator<void, StreamChangesAnswer> {
    const { changes } = this.#dependencies.shard;
    const end = changes.begin();
    const answer = new ChangesAnswer(this.#list());
    if (after === null) return answer.finish(id, end);
    const own = this.#dependencies.tenantIndex(tenant);
    for (let number = end - 1; number >= after && changes.has(after); number--) {
      if (this.#addChange(answer, number, own)) yield;
    }
    return answer.finish(id, changes.has(after) ? end : null);
  }

  #addChange(answer: ChangesAnswer, number: number, tenant: number): boolean {
    const { shard } = this.#dependencies;
    const streamId = shard.changes.id(number);
    const change = shard.changes.change(number);
    if ((change.kind !== "forgotten" && change.tenant !== tenant) || !answer.isFirst(streamId)) return answer.isSliceOver;
    if (change.kind === "came") {
      // Where it has left meanwhile, that it did comes with the next answer.
      const slot = shard.streams.findSlot(streamId, tenant);
      return (slot >= 0 && answer.list.add(slot)) || answer.isSliceOver;
    }
    if (change.kind === "left") answer.addLeft(streamId, change.firstTimeMs, change.lastTimeMs);
    else answer.addForgotten(streamId);
    return answer.isSliceOver;
  }
}

/** The first 48 bits of a hash. */
function numberOf(hash: Uint8Array): number {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).readUIntBE(0, 6);
}

/** Changes on their way into an answer: of each stream the newest, since older ones say what it was. */
class ChangesAnswer {
  readonly list: NamedStreamList;
  readonly #seen = new Set<string>();
  readonly #left: Uint8Array[] = [];
  readonly #times: number[] = [];
  readonly #forgotten: Uint8Array[] = [];
  #inspected = 0;

  constructor(list: NamedStreamList) {
    this.list = list;
  }

  /** Whether no newer change of the stream has come. */
  isFirst(streamId: Uint8Array): boolean {
    this.#inspected++;
    const text = idText(streamId);
    const isFirst = !this.#seen.has(text);
    this.#seen.add(text);
    return isFirst;
  }

  get isSliceOver(): boolean {
    return this.#inspected % HASHES_PER_SLICE === HASHES_PER_SLICE - 1;
  }

  addLeft(streamId: Uint8Array, firstTimeMs: number, lastTimeMs: number): void {
    this.#left.push(streamId.slice());
    this.#times.push(firstTimeMs, lastTimeMs);
  }

  addForgotten(streamId: Uint8Array): void {
    this.#forgotten.push(streamId.slice());
  }

  finish(id: number, next: number | null): StreamChangesAnswer {
    const [leftIds, forgottenIds] = [new Uint8Array(Buffer.concat(this.#left)), new Uint8Array(Buffer.concat(this.#forgotten))];
    const leftTimes = Float64Array.from(this.#times);
    return { type: "stream-changes", id, ...this.list.finish(), leftIds, leftTimes, forgottenIds, next };
  }
}
