import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

const built = new URL("../../dist/adapters/runtime/v8-policy.js", import.meta.url);

/** Runs a program in a process of its own: flags are of the process. */
function run(program: string) {
  const { stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "-e", program], { encoding: "utf8" });
  return { stdout, stderr };
}

describe("the flags of V8", () => {
  it("sets flags that this V8 knows: it says so of others", () => {
    const program = `import { applyV8Policy } from ${JSON.stringify(built.href)}; applyV8Policy(1); applyV8Policy(64); console.log("set");`;
    expect(run(program)).toEqual({ stdout: "set\n", stderr: "" });
    expect(run('import { setFlagsFromString } from "node:v8"; setFlagsFromString("--no-such-flag");').stderr).toMatch(/unrecognized flag/);
  });
});
