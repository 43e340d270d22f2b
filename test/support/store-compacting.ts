// A start's look at a store, in a process of its own: makes one of which much is free, or opens it as a start does.
// usage: node --import ./scripts/typescript-loader.mjs test/support/store-compacting.ts make|open FOLDER   (open prints the lines of its log as JSON, and a digest of the rows)
import { createHash } from "node:crypto";
import { writeSync } from "node:fs";
import { openLmdbStore } from "../../src/adapters/storage/lmdb-store.ts";
import { openCompacted } from "../../src/adapters/storage/store-compaction.ts";

const [what, path = ""] = process.argv.slice(2);
const options = { path, tables: ["rows", "few"] };
const ROWS = 3_000;
const ROW_BYTES = 3_000;
const keyOf = (n: number) => Uint8Array.of(n >> 8, n & 255);

if (what === "make") {
  const store = openLmdbStore(options);
  const operations = Array.from({ length: ROWS }, (_, n) => ({ table: "rows", key: keyOf(n), value: new Uint8Array(ROW_BYTES).fill(n) }));
  await store.commit([...operations, { table: "few", key: keyOf(1), value: Uint8Array.of(1) }]);
  await store.commit(operations.filter((_, n) => n % 3 !== 0).map((row) => ({ ...row, value: undefined })));
  await store.close();
} else {
  writeSync(1, "begin\n");
  const store = await openCompacted(options, (level, sentence) => void writeSync(1, `${JSON.stringify([level, sentence])}\n`));
  const hash = createHash("sha256");
  for (const table of options.tables)
    for (const { key, value } of store.range(table, { from: keyOf(0), to: Uint8Array.of(255, 255) })) hash.update(key).update(value);
  await store.close();
  writeSync(1, `${hash.digest("hex")}\n`);
}
