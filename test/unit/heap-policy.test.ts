import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

const built = new URL("../../dist/adapters/runtime/heap-policy.js", import.meta.url);

/** Runs a program in a process of its own: flags are of the process. */
function run(program: string) {
  const { stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "-e", program], { encoding: "utf8" });
  return { stdout, stderr };
}

describe("the policy of heaps", () => {
  it("sets flags that this V8 knows: it says so of others", () => {
    const program = `import { applyHeapPolicy } from ${JSON.stringify(built.href)}; applyHeapPolicy(1); applyHeapPolicy(64); console.log("set");`;
    expect(run(program)).toEqual({ stdout: "set\n", stderr: "" });
    expect(run('import { setFlagsFromString } from "node:v8"; setFlagsFromString("--no-such-flag");').stderr).toMatch(/unrecognized flag/);
  });
});
