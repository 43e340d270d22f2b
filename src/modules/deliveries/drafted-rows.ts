// Rows of deliveries as one transaction sees them: those that it has changed, over those that are stored.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { keyOfText } from "./delivery-key.ts";

/** Tables and form of the rows of one kind. */
export interface DraftedTables<R> {
  readonly control: KeyValueStore;
  /** The log: what became of each delivery. */
  readonly log: string;
  /** Those of it that are not done with. */
  readonly open: string;
  encode(row: R): Uint8Array;
  decode(bytes: Uint8Array): R;
  /** Value in the table of what is open; undefined where the row is done with. */
  openValue(key: string, row: R): Uint8Array | undefined;
}

export class DraftedRows<R> {
  readonly #tables: DraftedTables<R>;
  readonly #rows = new Map<string, R>();

  constructor(tables: DraftedTables<R>) {
    this.#tables = tables;
  }

  /** Rows that are new or changed. */
  get changed(): ReadonlyMap<string, R> {
    return this.#rows;
  }

  put(key: string, row: R): void {
    this.#rows.set(key, row);
  }

  /** The row as it was changed last. */
  get(key: string): R | undefined {
    return this.#rows.get(key) ?? this.stored(key);
  }

  /** The row as it is stored. */
  stored(key: string): R | undefined {
    const { control, log, decode } = this.#tables;
    const value = control.get(log, keyOfText(key));
    return value && decode(value);
  }

  operations(): StoreOperation[] {
    const { log, open, encode, openValue } = this.#tables;
    return [...this.#rows].flatMap(([text, row]): StoreOperation[] => {
      const key = keyOfText(text);
      return [
        { table: log, key, value: encode(row) },
        { table: open, key, value: openValue(text, row) },
      ];
    });
  }
}

/** Operations that delete rows of both tables. */
export function removalOf({ log, open }: Pick<DraftedTables<unknown>, "log" | "open">, keys: readonly Uint8Array[]): StoreOperation[] {
  return keys.flatMap((key) => [
    { table: log, key, value: undefined },
    { table: open, key, value: undefined },
  ]);
}
