import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";

const built = new URL("../../../../dist/adapters/platform/engine-priority.js", import.meta.url);

/** Prints the nice values of a thread that yields on so many cores, and of the one that has started it. */
const programFor = (cores: number) => `
const { readFileSync } = require("node:fs");
const { Worker, isMainThread, parentPort } = require("node:worker_threads");
const nice = () => Number(readFileSync("/proc/thread-self/stat", "utf8").split(") ")[1].split(" ")[16]);
if (isMainThread) new Worker(process.env.PROGRAM, { eval: true }).once("message", (of) => console.log(JSON.stringify([of, nice()])));
else import(${JSON.stringify(built.href)}).then(({ yieldEngine }) => {
  yieldEngine(${cores});
  parentPort.postMessage(nice());
});
`;

function nicesOn(cores: number): unknown {
  const program = programFor(cores);
  const { stdout } = spawnSync(process.execPath, ["-e", program], { encoding: "utf8", env: { ...process.env, PROGRAM: program } });
  return JSON.parse(stdout);
}

describe("the thread of an engine", () => {
  it.runIf(process.platform === "linux")("lets others go first on one or two cores, it alone", () => {
    expect([nicesOn(1), nicesOn(2), nicesOn(3)]).toEqual([
      [4, 0],
      [4, 0],
      [0, 0],
    ]);
  });
});
