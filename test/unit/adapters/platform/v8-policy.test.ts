import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { flagsKnownTo, leastLimitMib, v8Threads } from "../../../../src/adapters/platform/v8-policy.ts";

const built = new URL("../../../../dist/adapters/platform/v8-policy.js", import.meta.url);

/** Runs a program in a process of its own: flags are of the process. */
function run(program: string) {
  const { stdout, stderr } = spawnSync(process.execPath, ["--expose-gc", "--input-type=module", "-e", program], { encoding: "utf8" });
  return { stdout, stderr };
}

describe("the flags of V8", () => {
  it("sets flags that this V8 knows: it says so of others", () => {
    const program = `import { applyV8Policy } from ${JSON.stringify(built.href)}; applyV8Policy(1)(); applyV8Policy(64)(); console.log("set");`;
    expect(run(program)).toEqual({ stdout: "set\n", stderr: "" });
    expect(run('import { setFlagsFromString } from "node:v8"; setFlagsFromString("--no-such-flag");').stderr).toMatch(/unrecognized flag/);
  });
});

it("asks a V8 of which nothing stands there, and no other", () => {
  const never = () => expect.unreachable("it was asked");
  const isKnown = (version: string, ask: () => string) => flagsKnownTo(version, ask)("--interrupt-budget=33792");
  expect(["11.3.244.8-node.38", "12.4.254.21-node.57", "13.6.233.17-node.53"].map((version) => isKnown(version, never))).toEqual([
    true,
    false,
    false,
  ]);
  expect(isKnown("99.9.1", () => "  --interrupt_budget (how far)\n")).toBe(true);
  expect(isKnown("99.9.1", () => "")).toBe(false);
});

it("heaps are not collected as a whole below a 32nd of the memory, within bounds", () => {
  expect([64, 512, 2048, 4096, 262_144].map((mib) => leastLimitMib(mib * 1024 * 1024))).toEqual([16, 16, 64, 128, 128]);
});

/** Compiles, then prints how much each nice value of its threads has run, in nanoseconds. */
const BUSY = `
import { applyV8Policy } from ${JSON.stringify(built.href)};
import { readdirSync, readFileSync } from "node:fs";
applyV8Policy(1);
const read = (id, file) => readFileSync("/proc/self/task/" + id + "/" + file, "utf8");
const ranOf = (id) => Number(read(id, "schedstat").split(" ")[0]);
const before = new Map(readdirSync("/proc/self/task").map((id) => [id, ranOf(id)]));
for (let round = 0; round < 40; round++) {
  const work = new Function("n", "let sum = " + round + "; for (let i = 0; i < n; i++) sum = (sum * 31 + i) % 1000003; return sum;");
  for (let i = 0; i < 400; i++) work(2000);
}
const ran = {};
for (const [id, was] of before) {
  const nice = read(id, "stat").split(") ")[1].split(" ")[16];
  (ran[nice] ??= []).push(ranOf(id) - was);
}
console.log(JSON.stringify({ ran }));
`;

describe("the threads of V8", () => {
  it.runIf(process.platform === "linux")("have a nice value of 14, and are those that compile; others have none", () => {
    const { stdout, stderr } = run(BUSY);
    expect(stderr).toBe("");
    const { ran } = JSON.parse(stdout) as { ran: Record<string, number[]> };
    const sum = (of: readonly number[] = []) => of.reduce((total, one) => total + one, 0);
    expect(ran[14]).toHaveLength(4);
    const [, ...besideMain] = (ran[0] ?? []).toSorted((a, b) => b - a);
    expect(sum(ran[14])).toBeGreaterThan(sum(besideMain));
  });

  it("are found by their age, also where ids began again at the low ones", () => {
    expect(v8Threads([100, 101, 102, 103, 104, 105, 106], 100, "")).toEqual([102, 103, 104, 105]);
    expect(v8Threads([1, 2, 3, 4, 32_766, 32_767, 5], 32_766, "")).toEqual([1, 2, 3, 4]);
  });

  it("are left alone where there are too few, and where somebody set their number", () => {
    expect(v8Threads([100, 101, 102, 103, 104], 100, "")).toEqual([]);
    expect(v8Threads([100, 101, 102, 103, 104, 105, 106], 100, "--v8-pool-size=2")).toEqual([]);
  });
});
