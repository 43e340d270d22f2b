// Changes that were stored are known after a restart, by environment.
import { expect, it } from "vitest";
import { ChangeBook, changeOperation } from "../../../../src/modules/analysis/change-book.ts";
import { MemoryStore } from "../../../support/memory-store.ts";

const NOW = Date.UTC(2026, 0, 5, 10);
const HOUR = 3_600_000;

it("deployments and configuration changes outlive a restart, each in its environment", async () => {
  const store = new MemoryStore({ tables: ["deployments"] });
  const changes = [
    { tenant: "t", serviceId: "cart", atMs: NOW - 2 * HOUR },
    { tenant: "t", serviceId: "pay", atMs: NOW - HOUR, environment: "production", what: "a configuration change" },
    { tenant: "t", serviceId: "old", atMs: NOW - 40 * HOUR },
  ];
  await store.commit(changes.map((change, i) => changeOperation(change, String(i).padStart(32, "0"))));
  const book = new ChangeBook();
  book.load(store, NOW);
  expect(book.of("t", "production")).toEqual([
    { serviceId: "cart", atMs: NOW - 2 * HOUR, text: "a deployment" },
    { serviceId: "pay", atMs: NOW - HOUR, text: "a configuration change" },
  ]);
  expect(book.of("t", "staging").map(({ serviceId }) => serviceId)).toEqual(["cart"]);
  expect(book.of("other", "production")).toEqual([]);
});
