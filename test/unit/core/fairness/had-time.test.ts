import { expect, it } from "vitest";
import { HadTime } from "../../../../src/core/fairness/had-time.ts";

it("whoever comes begins with the least that others had, once", () => {
  const had = new HadTime();
  had.begin("a");
  had.add("a", 50);
  had.begin("b");
  had.add("b", 20);
  had.begin("c");
  had.begin("a");
  expect(["a", "b", "c"].map((tenant) => had.of(tenant))).toEqual([50, 70, 50]);
  had.end("a");
  had.add("c", 5);
  had.begin("a");
  expect([had.of("a"), had.of("nobody")]).toEqual([55, 0]);
});
