import { expect, it } from "vitest";
// @ts-expect-error: the benches are JavaScript without declarations
import { resultFile } from "../../../native-bench/result-file.mjs";

it("a bench run writes over no page of its day", () => {
  const taken = new Set(["r/2026-11-23.md", "r/2026-11-23-2.md"]);
  const fileOf = (day: string, quick = false) => resultFile("r", new Date(day), { quick, exists: (path: string) => taken.has(path) });
  expect([fileOf("2026-11-22T23:59:59Z"), fileOf("2026-11-23T00:00:00Z"), fileOf("2026-11-23T12:00:00Z", true)]).toEqual([
    "r/2026-11-22.md",
    "r/2026-11-23-3.md",
    "r/quick-2026-11-23.md",
  ]);
});
