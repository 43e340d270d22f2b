// Opens stores with LMDB, in a process of its own: reads all, writes, deletes, reads again, and ends with 0 if they held at each time what they should.
// usage: node --import ./scripts/typescript-loader.mjs test/support/store-use.ts FILE FOLDER...   (FILE has the contents, as storeContents writes them)
import { readFileSync } from "node:fs";
import { openLmdbStore, type SealedStore } from "../../src/adapters/storage/lmdb-store.ts";
import { STORE_TABLES, storeContents } from "./store-contents.ts";

const [contentsFile = "", ...folders] = process.argv.slice(2);
const whole = readFileSync(contentsFile, "utf8");
const keyOf = (n: number) => Uint8Array.of(n >> 8, n & 255, 7, 7, 7, 7);

function check(store: SealedStore, what: string): void {
  if (storeContents(store) === whole) return;
  console.error(`${what}: other contents`);
  process.exit(1);
}

for (const path of folders) {
  const store = openLmdbStore({ path, tables: STORE_TABLES });
  check(store, path);
  await store.commit(Array.from({ length: 60 }, (_, n) => ({ table: "empty", key: keyOf(n), value: new Uint8Array(3000) })));
  await store.commit(Array.from({ length: 60 }, (_, n) => ({ table: "empty", key: keyOf(n), value: undefined })));
  check(store, `${path} after writing`);
  await store.close();
}
