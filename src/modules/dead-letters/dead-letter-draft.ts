// Dead letters that one transaction stores, ends or deletes, with the counts that go with them. A letter stored before is left as it is and one that
// has ended is not stored again, so a replay of the log changes neither letters nor counts.
import type { KeyValueStore, StoreEntry, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { DeadLetterEnvelope, DeadLettersEnded } from "../../core/protocol/coordinator-frame.ts";
import { DEAD_LETTER } from "../state/shared-forms.ts";
import { tenantTimeKey } from "../state/tables.ts";
import {
  COUNTS,
  countDeadLetters,
  type DeadLetterBook,
  type DeadLetterCounts,
  type DeadLetterKind,
  deadLetterCountsKey,
  isWorthKeeping,
} from "./dead-letter-book.ts";
import type { ReplayBook, ReplayJob } from "./replay-book.ts";

/** End of a dead letter: the value of its row in `dead_letter_ends`. */
export const END_REPLAYED = 1;
const END_DELETED = 2;
const REPLAYED = Uint8Array.of(END_REPLAYED);

/** Why a letter leaves: by its age, or before its time for the bytes of all. */
export type DeadLetterLoss = "expired" | "dropped";

/** State that drafts are made over. */
export interface DeadLetterState {
  readonly control: KeyValueStore;
  readonly deadLetters: DeadLetterBook;
  readonly replays: ReplayBook;
}

/** Letters of one kind that have ended. */
interface EndedKind {
  readonly kind: DeadLetterKind;
  letters: number;
  records: number;
  bytes: number;
}

/** One transaction's dead letters. */
export class DeadLetterDraft {
  readonly #state: DeadLetterState;
  readonly #operations: StoreOperation[] = [];
  /** Values of this transaction by key; undefined where it deletes. */
  readonly #values = new Map<string, Uint8Array | undefined>();
  readonly #ends = new Set<string>();
  readonly #counts = new Map<string, DeadLetterCounts>();
  readonly #jobs = new Map<string, ReplayJob>();
  /** Letters whose records have entered. */
  replayed = 0;

  constructor(state: DeadLetterState) {
    this.#state = state;
  }

  /** Takes the payload of a FRAME_DEAD_LETTER. */
  take(frame: DeadLetterEnvelope | DeadLettersEnded): void {
    if ("ended" in frame) this.#endReplayed(frame.ended);
    else this.add(frame);
  }

  /** Stores a letter. */
  add(letter: DeadLetterEnvelope): void {
    const key = tenantTimeKey(letter.tenant, letter.receivedMs, letter.id);
    if (this.#read(key) !== undefined || this.#hasEnded(key)) return;
    this.#put(key, letter);
  }

  /** Puts a letter in the place of one that is stored, which is given as it was read. */
  replace(entry: StoreEntry, letter: DeadLetterEnvelope): void {
    this.#count(DEAD_LETTER.decode(entry.value), entry.value.length, -1);
    this.#put(entry.key, letter);
  }

  /** Deletes a letter for good, as it was read. */
  delete(entry: StoreEntry): void {
    const letter = DEAD_LETTER.decode(entry.value);
    this.#drop(entry.key, letter, entry.value.length);
    this.#end(letter.tenant, entry.key, END_DELETED);
  }

  /** Lets a letter go, as it was read. */
  lose(entry: StoreEntry, loss: DeadLetterLoss): void {
    const letter = DEAD_LETTER.decode(entry.value);
    this.#drop(entry.key, letter, entry.value.length);
    const counts = this.#countsOf(letter.tenant);
    this.#counts.set(letter.tenant, { ...counts, [loss]: counts[loss] + 1 });
  }

  /** Forgets that letters have ended. */
  forgetEnds(tenant: string, keys: readonly Uint8Array[]): void {
    for (const key of keys) this.#operations.push({ table: "dead_letter_ends", key, value: undefined });
    const counts = this.#countsOf(tenant);
    this.#counts.set(tenant, { ...counts, ends: Math.max(0, counts.ends - keys.length) });
  }

  operations(): StoreOperation[] {
    const counts = [...this.#counts].map(([tenant, value]) => ({
      table: "counters",
      key: deadLetterCountsKey(tenant),
      value: isWorthKeeping(value) ? COUNTS.encode(value) : undefined,
    }));
    const jobs = [...this.#jobs.values()].map((job) => this.#state.replays.stored(job));
    return [...this.#operations, ...counts, ...jobs];
  }

  /** Takes the counts over after the commit. */
  apply(): void {
    for (const [tenant, counts] of this.#counts) this.#state.deadLetters.put(tenant, counts);
    for (const job of this.#jobs.values()) this.#state.replays.put(job);
  }

  /** Hundreds of letters at once: counted by their kinds, and not one by one. */
  #endReplayed({ tenant, job, letters }: DeadLettersEnded["ended"]): void {
    const kinds = new Map<string, EndedKind>();
    let ended = 0;
    let newEnds = 0;
    for (const [receivedMs, id] of letters) {
      const key = tenantTimeKey(tenant, receivedMs, id);
      const text = keyText(key);
      const value = this.#readAs(text, key);
      // A letter that is stored has not ended.
      if (value === undefined && (this.#ends.has(text) || this.#state.control.get("dead_letter_ends", key) !== undefined)) continue;
      if (value !== undefined) {
        const kind = DEAD_LETTER.decode(value);
        const name = JSON.stringify([kind.reason, kind.topic, kind.anonymous]);
        const known = kinds.get(name) ?? { kind, letters: 0, records: 0, bytes: 0 };
        kinds.set(name, known);
        known.letters++;
        known.records += kind.count ?? 1;
        known.bytes += value.length;
        this.#values.set(text, undefined);
        this.#operations.push({ table: "dead_letters", key, value: undefined });
        ended++;
      }
      this.#ends.add(text);
      this.#operations.push({ table: "dead_letter_ends", key, value: REPLAYED });
      newEnds++;
    }
    let counts = this.#countsOf(tenant);
    for (const { kind, letters, records, bytes } of kinds.values())
      counts = countDeadLetters(counts, kind, { letters: -letters, records: -records, bytes: -bytes });
    this.#counts.set(tenant, { ...counts, ends: counts.ends + newEnds });
    this.replayed += ended;
    const known = this.#jobs.get(job) ?? this.#state.replays.find(tenant, job);
    if (known !== undefined && ended > 0) this.#jobs.set(job, { ...known, replayed: known.replayed + ended });
  }

  #read(key: Uint8Array): Uint8Array | undefined {
    return this.#readAs(keyText(key), key);
  }

  #readAs(text: string, key: Uint8Array): Uint8Array | undefined {
    return this.#values.has(text) ? this.#values.get(text) : this.#state.control.get("dead_letters", key);
  }

  #hasEnded(key: Uint8Array): boolean {
    return this.#ends.has(keyText(key)) || this.#state.control.get("dead_letter_ends", key) !== undefined;
  }

  #put(key: Uint8Array, letter: DeadLetterEnvelope): void {
    const value = DEAD_LETTER.encode(letter);
    this.#values.set(keyText(key), value);
    this.#operations.push({ table: "dead_letters", key, value });
    this.#count(letter, value.length, 1);
  }

  #drop(key: Uint8Array, letter: DeadLetterEnvelope, bytes: number): void {
    this.#values.set(keyText(key), undefined);
    this.#operations.push({ table: "dead_letters", key, value: undefined });
    this.#count(letter, bytes, -1);
  }

  #end(tenant: string, key: Uint8Array, how: number): void {
    if (this.#hasEnded(key)) return;
    this.#ends.add(keyText(key));
    this.#operations.push({ table: "dead_letter_ends", key, value: Uint8Array.of(how) });
    const counts = this.#countsOf(tenant);
    this.#counts.set(tenant, { ...counts, ends: counts.ends + 1 });
  }

  #countsOf(tenant: string): DeadLetterCounts {
    return this.#counts.get(tenant) ?? this.#state.deadLetters.counts(tenant);
  }

  #count(letter: DeadLetterEnvelope, bytes: number, by: 1 | -1): void {
    const amount = { letters: by, records: by * (letter.count ?? 1), bytes: by * bytes };
    this.#counts.set(letter.tenant, countDeadLetters(this.#countsOf(letter.tenant), letter, amount));
  }
}

function keyText(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}
