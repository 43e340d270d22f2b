import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";

it("the tables of docs/reference are those of the code", () => {
  expect(() => execFileSync(process.execPath, ["scripts/reference.mjs", "--check"], { stdio: "pipe" })).not.toThrow();
});
