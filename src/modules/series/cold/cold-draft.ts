// What a transaction changes among the streams that left memory: batches without those that are back, with those that left, and how many of each service
// a batch holds. A checkpoint and its changes are stored together, so a stream is in the one or in the other.
import type { KeyValueStore, StoreOperation } from "../../../adapters/storage/key-value-store.ts";
import { COLD_BATCH_BYTES } from "../../../core/config/limits.ts";
import { fitsKey, KeyBuilder } from "../../../domain/codec/key.ts";
import { type ColdEntry, readColdEntries } from "../../../domain/kernel/cold-entry.ts";
import { isQueryOnly } from "../../../domain/series/query-only-series.ts";
import { identityName } from "../../../domain/series/stream-identity.ts";
import { coldKey } from "../../state/tables.ts";
import { type ColdBatch, coldBatchOf, encodeColdBatch } from "./cold-batch.ts";

const LAST_SERIAL = 0xffff_ffff;
/** Of a key, besides the two names; a tenant's has no zero. */
const TENANT_END_AND_SERIAL_BYTES = 6;

/** A batch as the transaction leaves it, and as it was. */
interface Change {
  readonly partition: number;
  readonly firstSerial: number;
  readonly before: readonly ColdEntry[];
  entries: ColdEntry[];
}

/** Changes of one transaction. */
export class ColdDraft {
  readonly #store: KeyValueStore;
  /** By partition, then first serial. */
  readonly #changes = new Map<number, Map<number, Change>>();

  constructor(store: KeyValueStore) {
    this.#store = store;
  }

  /** Takes the last part of a checkpoint frame: {count u32} serials, then entries. */
  take(partition: number, bytes: Uint8Array): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const count = view.getUint32(0, true);
    for (let i = 0; i < count; i++) this.#remove(partition, view.getUint32(4 + 4 * i, true));
    let last: Change | undefined;
    for (const entry of readColdEntries(bytes.subarray(4 + 4 * count))) last = this.#append(partition, entry, last);
  }

  /** Operations of the changed batches; of those that have become empty nothing is left. */
  operations(): StoreOperation[] {
    return [...this.#changes.values()].flatMap((changes) => [...changes.values()].flatMap(operationsOf));
  }

  /** Services, by tenant and service as JSON, whose names no key can hold. */
  unlisted(): string[] {
    const entries = [...this.#changes.values()].flatMap((changes) => [...changes.values()].flatMap((change) => change.entries));
    return [...countServices(entries).keys()].filter((service) => !canBeListed(...(JSON.parse(service) as [string, string])));
  }

  /** A stream that is not there has been removed before. */
  #remove(partition: number, serial: number): void {
    const change = this.#changeOf(partition, serial);
    if (change !== undefined) change.entries = change.entries.filter((entry) => entry.serial !== serial);
  }

  /** Returns the batch into which the entry went: the last, or a new one. */
  #append(partition: number, entry: ColdEntry, before: Change | undefined): Change {
    const last = before ?? this.#changeOf(partition, LAST_SERIAL);
    const bytes = last?.entries.reduce((sum, { bytes: each }) => sum + each.length, entry.bytes.length) ?? 0;
    if (last !== undefined && bytes <= COLD_BATCH_BYTES) {
      last.entries.push(entry);
      return last;
    }
    const next = { partition, firstSerial: entry.serial, before: [], entries: [entry] };
    this.#add(next);
    return next;
  }

  /** The batch in which a serial belongs: the last of those that begin at or before it, stored or new. */
  #changeOf(partition: number, serial: number): Change | undefined {
    const known = this.#changes.get(partition);
    for (const change of known?.values() ?? []) if (change.before.some((entry) => entry.serial === serial)) return change;
    const stored = coldBatchOf(this.#store, partition, serial);
    let found = stored === undefined ? undefined : (known?.get(stored.firstSerial) ?? changeOf(stored));
    for (const change of known?.values() ?? []) {
      if (change.firstSerial <= serial && (found === undefined || change.firstSerial > found.firstSerial)) found = change;
    }
    if (found !== undefined) this.#add(found);
    return found;
  }

  #add(change: Change): void {
    const known = this.#changes.get(change.partition) ?? new Map<number, Change>();
    this.#changes.set(change.partition, known);
    known.set(change.firstSerial, change);
  }
}

function changeOf({ partition, firstSerial, entries }: ColdBatch): Change {
  return { partition, firstSerial, before: entries, entries: [...entries] };
}

function operationsOf({ partition, firstSerial, before, entries }: Change): StoreOperation[] {
  const value = entries.length === 0 ? undefined : encodeColdBatch(entries);
  return [{ table: "cold_streams", key: coldKey(partition, firstSerial), value }, ...serviceOperations(firstSerial, before, entries)];
}

function serviceOperations(firstSerial: number, before: readonly ColdEntry[], entries: readonly ColdEntry[]): StoreOperation[] {
  const counts = countServices(entries);
  const gone = [...countServices(before).keys()].filter((service) => !counts.has(service));
  return [...gone.map((service) => [service, NONE] as const), ...counts].flatMap(([service, { all, queryOnly }]) => {
    const [tenant, serviceId] = JSON.parse(service) as [string, string];
    if (!canBeListed(tenant, serviceId)) return [];
    const value = all === 0 ? undefined : new Uint8Array(Uint32Array.from(queryOnly === 0 ? [all] : [all, queryOnly]).buffer);
    return { table: "cold_services", key: coldServiceKey(tenant, serviceId, firstSerial), value };
  });
}

/** Whether a service's streams that left memory can be found by its name. Earlier versions took names that no key can hold; such streams are stored, and come back by their identity. */
export function canBeListed(tenant: string, serviceId: string): boolean {
  return fitsKey(serviceId, Buffer.byteLength(tenant) + TENANT_END_AND_SERIAL_BYTES);
}

/** Streams of a service in a batch, and those of them that no list has. */
interface ServiceCount {
  readonly all: number;
  readonly queryOnly: number;
}

const NONE: ServiceCount = { all: 0, queryOnly: 0 };

/** How many streams of a service a row of `cold_services` says that lists have. */
export function listedOf(row: Uint8Array): number {
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  return view.getUint32(0, true) - (row.byteLength > 4 ? view.getUint32(4, true) : 0);
}

/** Number of entries of each service, by tenant and service as JSON. */
function countServices(entries: readonly ColdEntry[]): Map<string, ServiceCount> {
  const counts = new Map<string, ServiceCount>();
  for (const { identity } of entries) {
    const name = identityName(Buffer.from(identity).toString("utf8"));
    const service = JSON.stringify([name.tenant, name.serviceId]);
    const { all, queryOnly } = counts.get(service) ?? NONE;
    counts.set(service, { all: all + 1, queryOnly: queryOnly + (isQueryOnly(name) ? 1 : 0) });
  }
  return counts;
}

function coldServiceKey(tenant: string, serviceId: string, firstSerial: number): Uint8Array {
  return new KeyBuilder().text(tenant).text(serviceId).u32(firstSerial).finish();
}
