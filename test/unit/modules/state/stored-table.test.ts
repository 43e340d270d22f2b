/** A stored table holds what is stored: operations write rows, a load reads them, lists have the order of keys, and the ledger what each tenant holds. */
import { expect, it } from "vitest";
import { KeyBuilder } from "../../../../src/domain/codec/key.ts";
import { number, StoredForm, text } from "../../../../src/modules/state/stored-json.ts";
import { type StoredKind, StoredTable } from "../../../../src/modules/state/stored-table.ts";
import { MemoryStore } from "../../../support/memory-store.ts";

interface Row {
  readonly tenant: string;
  readonly id: string;
  readonly rules: number;
}

const KIND: StoredKind<Row> = {
  table: "counters",
  form: new StoredForm<Row>("counters", { tenant: text, id: text, rules: number }),
  key: ({ tenant, id }) => new KeyBuilder().text(tenant).text(id).finish(),
  idOf: ({ id }) => id,
  amountOf: ({ rules }) => rules,
};
const ROWS: readonly Row[] = [
  { tenant: "acme", id: "b", rules: 2 },
  { tenant: "acme", id: "a", rules: 3 },
  { tenant: "zoo", id: "a", rules: 0 },
];

function loaded(store: MemoryStore): StoredTable<Row> {
  const table = new StoredTable(KIND);
  table.load(store);
  return table;
}

it("reads what its operations have written, and deletes it", async () => {
  const store = new MemoryStore({ tables: ["counters"] });
  const table = new StoredTable(KIND);
  await store.commit(ROWS.map((row) => table.operation(row)));
  expect([...loaded(store).all()]).toEqual(expect.arrayContaining([...ROWS]));
  expect(loaded(store).size).toBe(ROWS.length);
  await store.commit(ROWS.map((row) => table.removal(row)));
  expect(loaded(store).size).toBe(0);
});

it("lists rows by their keys, and enters what they take of a tenant's share", () => {
  const table = new StoredTable(KIND);
  for (const row of ROWS) table.put(row);
  expect(table.of("acme").map(({ id }) => id)).toEqual(["a", "b"]);
  expect([table.shares.used("acme"), table.shares.used("zoo")]).toEqual([5, 0]);
  table.put({ tenant: "acme", id: "b", rules: 7 });
  expect(table.shares.used("acme")).toBe(10);
  expect(table.remove("acme", "a")).toEqual(ROWS[1]);
  expect(table.remove("acme", "a")).toBeUndefined();
  expect(table.remove("nobody", "a")).toBeUndefined();
  expect([...table.shares.tenants]).toEqual(["acme", "zoo"]);
  expect(table.shares.taken).toBe(7);
});
