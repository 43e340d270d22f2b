// A row into an idle file that has free pages takes them, and writes no zeros behind its end; where commits go on coming the room is as large as ever.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { KeyValueStore, StoreOperation } from "../../../../src/adapters/storage/key-value-store.ts";
import { openLmdbStore } from "../../../../src/adapters/storage/lmdb-store.ts";

let folder: string;
let store: KeyValueStore;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vedette-idle-"));
  store = openLmdbStore({ path: folder, tables: ["rows"] });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

const row = (number: number, value?: Uint8Array): StoreOperation => ({ table: "rows", key: Uint8Array.of(1, number), value });
const fileBytes = () => statSync(join(folder, "data.mdb")).size;

async function rest(): Promise<void> {
  await store.trim();
  await store.trim();
}

it("takes free pages for a few rows, and room for many", async () => {
  for (let number = 0; number < 200; number++) await store.commit([row(number, new Uint8Array(20_000))]);
  await store.commit(Array.from({ length: 200 }, (_, number) => row(number)));
  await store.commit([row(250, Uint8Array.of(1))]);
  await rest();
  const idleBytes = fileBytes();
  for (let commits = 0; commits < 5; commits++) await store.commit([row(251 + (commits % 4), Uint8Array.of(commits))]);
  expect(fileBytes()).toBe(idleBytes);
  for (let commits = 0; commits < 20; commits++) await store.commit([row(251, Uint8Array.of(commits))]);
  expect(fileBytes()).toBeGreaterThan(idleBytes);
  await rest();
  expect(fileBytes()).toBe(idleBytes);
});
