// Accepted events by tenant and month: what an ingest counts, what stands in a block of the log, and what goes to the coordinator with a log mark.
//
// As bytes: per tenant and month {tenant text, month varint, then a varint for each of RECORD_TYPES}.
import { RECORD_TYPES, type RecordType } from "../../core/layout/counters.ts";
import type { TenantUsage } from "../../core/protocol/coordinator-frame.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";

const FIRST_BYTES = 64;
/** Bytes of a tenant's name that are read back; what names a tenant may have is bounded far below. */
const TENANT_BYTES_MAX = 4096;

const TYPE_PLACES = new Map<RecordType, number>(RECORD_TYPES.map((type, index) => [type, index]));

/** Sums of accepted events. */
export class UsageTally {
  readonly #entries: Array<{ readonly tenant: string; readonly month: number; readonly counts: number[] }> = [];
  readonly #places = new Map<string, number>();

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  /** Adds accepted events of one type. */
  add(tenant: string, month: number, type: RecordType, events: number): void {
    if (events === 0) return;
    const counts = this.#countsOf(tenant, month);
    const index = TYPE_PLACES.get(type) as number;
    counts[index] = (counts[index] as number) + events;
  }

  /** Adds what others have counted. */
  addAll(usage: Iterable<TenantUsage>): void {
    for (const { tenant, month, counts } of usage) {
      const sums = this.#countsOf(tenant, month);
      for (let index = 0; index < sums.length; index++) sums[index] = (sums[index] as number) + (counts[index] ?? 0);
    }
  }

  /** Counts so far; later counts do not change them. */
  get entries(): readonly TenantUsage[] {
    return this.#entries.map(({ tenant, month, counts }) => ({ tenant, month, counts: [...counts] }));
  }

  clear(): void {
    this.#entries.length = 0;
    this.#places.clear();
  }

  /** A copy of its own. */
  encode(): Uint8Array {
    const writer = new ByteWriter(FIRST_BYTES);
    for (const { tenant, month, counts } of this.#entries) {
      writer.text(tenant);
      writer.varint(month);
      for (const count of counts) writer.varint(count);
    }
    return writer.bytes.slice(0, writer.at);
  }

  #countsOf(tenant: string, month: number): number[] {
    const last = this.#entries.at(-1);
    if (last !== undefined && last.tenant === tenant && last.month === month) return last.counts;
    const key = `${month} ${tenant}`;
    const known = this.#places.get(key);
    if (known !== undefined) return (this.#entries[known] as TenantUsage & { counts: number[] }).counts;
    const counts = RECORD_TYPES.map(() => 0);
    this.#places.set(key, this.#entries.push({ tenant, month, counts }) - 1);
    return counts;
  }
}

/** Reads what `encode` wrote. Throws on anything else: it stands in a block that has passed its checksum. */
export function* decodeUsage(bytes: Uint8Array): Generator<TenantUsage> {
  const reader = new ByteReader(bytes, "counts of accepted events end early");
  while (!reader.isAtEnd) {
    const tenant = reader.text(TENANT_BYTES_MAX);
    const month = reader.varint();
    yield { tenant, month, counts: RECORD_TYPES.map(() => reader.varint()) };
  }
}
