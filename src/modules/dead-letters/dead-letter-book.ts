// How many dead letters of each tenant are stored, by reason and topic, and how many have gone. The counts are stored beside the letters in the same
// transaction, so that a start need not read them all.

import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { ownMember } from "../../core/collections/own-member.ts";
import { DEAD_LETTER_GROUPS_MAX } from "../../core/config/limits.ts";
import { KeyBuilder, KeyReader, prefixEnd } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { number, record, StoredForm } from "../state/stored-json.ts";

/** Stored letters of one tenant. */
export interface DeadLetterCounts {
  readonly total: number;
  /** Records that they stand for. */
  readonly records: number;
  readonly bytes: number;
  /** Bytes of those that came without a credential. */
  readonly anonymousBytes: number;
  /** Records. */
  readonly byReason: Readonly<Record<string, number>>;
  readonly byTopic: Readonly<Record<string, number>>;
  /** Replayed and deleted letters that are remembered. */
  readonly ends: number;
  /** Letters that went by age, and by bytes before their time. */
  readonly expired: number;
  readonly dropped: number;
}

export const COUNTS = new StoredForm<DeadLetterCounts>("counters", {
  total: number,
  records: number,
  bytes: number,
  anonymousBytes: number,
  byReason: record(number),
  byTopic: record(number),
  ends: number,
  expired: number,
  dropped: number,
});

const NONE: DeadLetterCounts = {
  total: 0,
  records: 0,
  bytes: 0,
  anonymousBytes: 0,
  byReason: {},
  byTopic: {},
  ends: 0,
  expired: 0,
  dropped: 0,
};
const PREFIX = new KeyBuilder().text("dead_letters").finish();

/** Key of a tenant's counts in the table `counters`. */
export function deadLetterCountsKey(tenant: string): Uint8Array {
  return new KeyBuilder().text("dead_letters").text(tenant).finish();
}

/** Whether there is anything to remember. */
export function isWorthKeeping({ total, ends, expired, dropped }: DeadLetterCounts): boolean {
  return total + ends + expired + dropped > 0;
}

/** Labels that dead letters are counted by. */
export interface DeadLetterKind {
  readonly reason: string;
  readonly topic: string;
  readonly anonymous?: boolean;
}

/** Letters of one kind: how many, the records that they stand for, and their bytes; all negative where they are deleted. */
export interface DeadLetterAmount {
  readonly letters: number;
  readonly records: number;
  readonly bytes: number;
}

/** The counts after letters of one kind were stored or deleted. */
export function countDeadLetters(
  before: DeadLetterCounts,
  kind: DeadLetterKind,
  { letters, records, bytes }: DeadLetterAmount,
): DeadLetterCounts {
  return {
    ...before,
    total: before.total + letters,
    records: before.records + records,
    bytes: before.bytes + bytes,
    anonymousBytes: before.anonymousBytes + (kind.anonymous === true ? bytes : 0),
    byReason: addTo(before.byReason, kind.reason, records),
    byTopic: addTo(before.byTopic, kind.topic, records),
  };
}

function addTo(groups: Readonly<Record<string, number>>, name: string, count: number): Readonly<Record<string, number>> {
  const isKnown = Object.hasOwn(groups, name) || Object.keys(groups).length < DEAD_LETTER_GROUPS_MAX;
  const group = isKnown && (count > 0 || Object.hasOwn(groups, name)) ? name : "other";
  const number = Math.max(0, (ownMember(groups, group) ?? 0) + count);
  const others = Object.fromEntries(Object.entries(groups).filter(([name]) => name !== group));
  return number === 0 ? others : { ...others, [group]: number };
}

/** The committed counts of all tenants. */
export class DeadLetterBook {
  readonly #tenants = new Map<string, DeadLetterCounts>();
  #total = 0;
  #bytes = 0;
  #ends = 0;

  /** Reads the store; to be called once. */
  load(store: KeyValueStore): void {
    for (const { key, value } of scan(store, "counters", PREFIX, prefixEnd(PREFIX) as Uint8Array)) {
      const reader = new KeyReader(key);
      reader.text();
      this.put(reader.text(), COUNTS.decode(value));
    }
  }

  /** Letters stored, of all tenants. */
  get total(): number {
    return this.#total;
  }

  /** Bytes of all tenants' letters. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Ends remembered, of all tenants. */
  get ends(): number {
    return this.#ends;
  }

  get tenants(): Iterable<string> {
    return this.#tenants.keys();
  }

  counts(tenant: string): DeadLetterCounts {
    return this.#tenants.get(tenant) ?? NONE;
  }

  /** The tenant whose letters take most. */
  get largestTenant(): string | undefined {
    let largest: string | undefined;
    for (const [tenant, { bytes }] of this.#tenants) if (largest === undefined || bytes > this.counts(largest).bytes) largest = tenant;
    return largest;
  }

  /** The tenant whose letters of requests without a credential take most; undefined where there are none. */
  get anonymousTenant(): string | undefined {
    let largest: string | undefined;
    let most = 0;
    for (const [tenant, { anonymousBytes }] of this.#tenants) {
      if (anonymousBytes <= most) continue;
      largest = tenant;
      most = anonymousBytes;
    }
    return largest;
  }

  /** Takes over counts that were committed. */
  put(tenant: string, counts: DeadLetterCounts): void {
    const before = this.counts(tenant);
    this.#total += counts.total - before.total;
    this.#bytes += counts.bytes - before.bytes;
    this.#ends += counts.ends - before.ends;
    if (isWorthKeeping(counts)) this.#tenants.set(tenant, counts);
    else this.#tenants.delete(tenant);
  }
}
