// Writes the rows of a damaged store that can be read into a new one.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { openLmdbStore } from "../../adapters/storage/lmdb-store.ts";
import { walkRows } from "../../adapters/storage/store-check.ts";

/** Amendments to the rows of a store so that a server can start over them. */
export interface RowMender {
  take(table: string, key: Uint8Array, value: Uint8Array): void;
  /** Call it once, when all rows are in; `partitions` are those whose state is lost. */
  replacements(): { readonly partitions: readonly number[]; readonly operations: readonly StoreOperation[] };
}

/** A store of a data folder. */
export interface RescuedStore {
  /** Name of its folder. */
  readonly name: string;
  readonly tables: readonly string[];
  readonly mender: RowMender | undefined;
}

const COMMIT_BYTES = 4 * 1024 * 1024;

/** Writes `file` into the new folder `path` and says what came of it. */
export async function rescueStore(file: string, path: string, { tables, mender }: RescuedStore): Promise<string> {
  const store = openLmdbStore({ path, tables });
  try {
    let rows = 0;
    let batch: StoreOperation[] = [];
    let bytes = 0;
    for await (const { table, key, value } of walkRows(file, tables, { isThorough: true, sendsRows: true })) {
      mender?.take(table, key, value);
      batch.push({ table, key, value });
      bytes += value.length;
      rows++;
      if (bytes < COMMIT_BYTES) continue;
      await store.commit(batch);
      [batch, bytes] = [[], 0];
    }
    const { partitions, operations } = mender?.replacements() ?? { partitions: [], operations: [] };
    await store.commit([...batch, ...operations], { sync: true });
    const lost = partitions.length === 0 ? "" : `; the baselines of partitions ${partitions.join(", ")} are lost and learned anew`;
    return `${rows} rows written${lost}`;
  } finally {
    await store.close();
  }
}
