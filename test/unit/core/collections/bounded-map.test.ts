import { expect, it } from "vitest";
import { BoundedMap } from "../../../../src/core/collections/bounded-map.ts";

it("is bounded, and what is used stays", () => {
  const map = new BoundedMap<string, number>(100);
  map.set("used", -1);
  for (let i = 0; i < 1_000; i++) {
    map.set(`k${i}`, i);
    expect(map.get("used")).toBe(-1);
    expect(map.size).toBeLessThanOrEqual(100);
  }
  expect(map.get("k0")).toBeUndefined();
  expect(map.get("k999")).toBe(999);
});

it("has one value a key, the last, in whichever half it was", () => {
  const map = new BoundedMap<string, number>(4);
  for (const [place, key] of ["a", "b", "c", "a", "a"].entries()) map.set(key, place);
  expect(map.get("a")).toBe(4);
  expect(map.size).toBe(3);
  map.set("b", 9); // from the older half
  expect([map.get("a"), map.get("b"), map.get("c")]).toContain(9);
  expect(map.size).toBeLessThanOrEqual(4);
});

it("makes a value once while it is kept", () => {
  const map = new BoundedMap<number, string>(2);
  let made = 0;
  const obtain = (key: number) => map.obtain(key, () => `${key}:${++made}`);
  expect([obtain(1), obtain(1), obtain(2), obtain(1)]).toEqual(["1:1", "1:1", "2:2", "1:1"]);
  obtain(3);
  expect(obtain(2)).toBe("2:4"); // not used since 1 was
});

it("forgets from both halves", () => {
  const map = new BoundedMap<string, string>(4);
  for (const name of ["a", "b", "c"]) map.set(name, name);
  map.forget((name) => name !== "b");
  expect(["a", "b", "c"].filter((name) => map.get(name) !== undefined)).toEqual(["b"]);
  map.delete("b");
  expect(map.size).toBe(0);
  map.set("a", "a");
  map.clear();
  expect(map.get("a")).toBeUndefined();
});
