// Dead letters that one transaction stores or deletes, with the counts that go with them. A letter stored before is left as it is, so a
// replay changes neither letters nor counts.
import type { KeyValueStore, StoreEntry, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { DeadLetterEnvelope } from "../../core/protocol/coordinator-frame.ts";
import { countLetters, type DeadLetterBook, type DeadLetterCounts, deadLetterCountsKey } from "./dead-letter-counts.ts";
import { decodeStored, encodeStored } from "./tables/stored-json.ts";
import { tenantTimeKey } from "./tables/tables.ts";

/** One transaction's dead letters. */
export class DeadLetterDraft {
  readonly #store: KeyValueStore;
  readonly #book: DeadLetterBook;
  readonly #operations: StoreOperation[] = [];
  readonly #keys = new Set<string>();
  readonly #counts = new Map<string, DeadLetterCounts>();

  constructor(store: KeyValueStore, book: DeadLetterBook) {
    this.#store = store;
    this.#book = book;
  }

  /** Stores a letter. */
  add(letter: DeadLetterEnvelope): void {
    const key = tenantTimeKey(letter.tenant, letter.receivedMs, letter.id);
    const text = Buffer.from(key).toString("latin1");
    if (this.#keys.has(text) || this.#store.get("dead_letters", key) !== undefined) return;
    this.#keys.add(text);
    const value = encodeStored(letter);
    this.#operations.push({ table: "dead_letters", key, value });
    this.#count(letter, value.length, 1);
  }

  /** Deletes a letter as it was read. */
  remove(entry: StoreEntry): void {
    this.#operations.push({ table: "dead_letters", key: entry.key, value: undefined });
    this.#count(decodeStored<DeadLetterEnvelope>(entry.value), entry.value.length, -1);
  }

  operations(): StoreOperation[] {
    const counts = [...this.#counts].map(([tenant, value]) => ({
      table: "counters",
      key: deadLetterCountsKey(tenant),
      value: value.total > 0 ? encodeStored(value) : undefined,
    }));
    return [...this.#operations, ...counts];
  }

  /** Takes the counts over after the commit. */
  apply(): void {
    for (const [tenant, counts] of this.#counts) this.#book.put(tenant, counts);
  }

  #count({ tenant, reason, topic }: DeadLetterEnvelope, bytes: number, by: 1 | -1): void {
    const before = this.#counts.get(tenant) ?? this.#book.counts(tenant);
    this.#counts.set(tenant, countLetters(before, { reason, topic, bytes }, by));
  }
}
