// All rows of a small store as text.
import type { KeyValueStore } from "../../src/adapters/storage/key-value-store.ts";

/** Tables of the stores that tests damage. */
export const STORE_TABLES = ["small", "large", "empty"];
const END = new Uint8Array(8).fill(0xff);

/** Rows in the order of tables and keys. */
export function storeContents(store: KeyValueStore): string {
  const rows = (table: string) => store.range(table, { from: new Uint8Array(0), to: END });
  return STORE_TABLES.map((table) =>
    rows(table)
      .map(({ key, value }) => `${Buffer.from(key).toString("hex")}=${Buffer.from(value).toString("hex")}`)
      .join("\n"),
  ).join("\n\n");
}
