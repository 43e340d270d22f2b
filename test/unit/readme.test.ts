import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

it("the tables of the README are those of the code", () => {
  expect(() => execFileSync(process.execPath, ["scripts/readme-sections.mjs", "--check"], { stdio: "pipe" })).not.toThrow();
});
