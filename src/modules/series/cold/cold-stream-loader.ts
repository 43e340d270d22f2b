// Gives engines the streams that they want back. What has left memory with a checkpoint that is not stored yet is given when it is.
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import { RETURNED_BYTES_MAX } from "../../../core/config/limits.ts";
import type { ColdEntry } from "../../../domain/kernel/cold-entry.ts";
import type { ColdRecipient } from "../../engines/engine-link.ts";
import { type ColdBatch, coldBatchOf } from "./cold-batch.ts";

/** One runner for all engines. */
export class ColdStreamLoader {
  readonly #store: KeyValueStore;
  readonly #recipients: readonly ColdRecipient[];
  /** Pairs of partition and serial by engine: as many as engines have rows that wait, PARKED_ROWS_MAX each at most. */
  readonly #waiting: number[][];

  constructor(store: KeyValueStore, recipients: readonly ColdRecipient[]) {
    this.#store = store;
    this.#recipients = recipients;
    this.#waiting = recipients.map(() => []);
  }

  /** Gives what is stored of the pairs of partition and serial, and notes the rest. */
  ask(engine: number, wanted: ArrayLike<number>): void {
    const serials = new Map<number, number[]>();
    for (let i = 0; i < wanted.length; i += 2) {
      const partition = wanted[i] as number;
      const known = serials.get(partition);
      if (known === undefined) serials.set(partition, [wanted[i + 1] as number]);
      else known.push(wanted[i + 1] as number);
    }
    for (const [partition, own] of serials)
      this.#give(
        engine,
        partition,
        own.sort((x, y) => x - y),
      );
  }

  /** In the order of serials, so that a batch is read once. */
  #give(engine: number, partition: number, serials: readonly number[]): void {
    let batch: ColdBatch | undefined;
    let ready: ColdEntry[] = [];
    let bytes = 0;
    for (const serial of serials) {
      if (!holds(batch, serial)) batch = coldBatchOf(this.#store, partition, serial);
      const entry = batch?.entries.find((each) => each.serial === serial);
      if (entry === undefined) {
        this.#waiting[engine]?.push(partition, serial);
        continue;
      }
      ready.push(entry);
      bytes += entry.bytes.length;
      if (bytes < RETURNED_BYTES_MAX) continue;
      this.#deliver(engine, partition, ready);
      ready = [];
      bytes = 0;
    }
    if (ready.length > 0) this.#deliver(engine, partition, ready);
  }

  /** After a commit with checkpoints: gives what has come into the store. */
  retry(): void {
    for (const [engine, waiting] of this.#waiting.entries()) {
      if (waiting.length > 0) this.ask(engine, waiting.splice(0));
    }
  }

  #deliver(engine: number, partition: number, entries: readonly ColdEntry[]): void {
    const bytes = new Uint8Array(entries.reduce((sum, entry) => sum + entry.bytes.length, 0));
    let at = 0;
    for (const entry of entries) {
      bytes.set(entry.bytes, at);
      at += entry.bytes.length;
    }
    this.#recipients[engine]?.deliver({ type: "returned-streams", partition, entries: bytes });
  }
}

function holds(batch: ColdBatch | undefined, serial: number): boolean {
  return batch?.entries.some((entry) => entry.serial === serial) === true;
}
