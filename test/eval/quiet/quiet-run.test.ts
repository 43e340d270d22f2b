// The quiet simulation goes through what a server goes through: without the long baselines, whose own tails hold noise back, its services paged .65 times a day.
import { expect, it } from "vitest";
import { quietRun } from "./quiet-run.ts";

it("counts no pages of noise that a server holds back, and finds a metric at four times what it is", async () => {
  const { pages, heldBy, byKind } = await quietRun({ seed: 2, services: 4, incidents: 0, factors: 1, warmDays: 1 });
  expect(pages).toEqual([]);
  expect(heldBy.confirmation).toBeGreaterThan(0);
  expect(Object.values(byKind)).toEqual([{ planted: 1, found: 1 }]);
});
