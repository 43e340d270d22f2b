import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { IdleCollection } from "../../../../src/adapters/platform/idle-collection.ts";

const MIB = 1024 * 1024;
const LOOK_MS = 3_000;
/** Of ten minutes. */
const quietChecks = new Array<number>(600_000 / LOOK_MS).fill(10);
const built = new URL("../../../../dist/adapters/platform/idle-collection.js", import.meta.url);

/** A thread whose heap holds `live` and takes that after a second collection; each look comes after `cpuMs` of work of the process. */
class Rest {
  live = 20 * MIB;
  heap = 60 * MIB;
  /** Of room, after every other collection. */
  keeps = 30 * MIB;
  collections = 0;
  #nowMs = 0;
  #cpuMs = 0;
  readonly #collection = new IdleCollection({
    monotonicMs: () => this.#nowMs,
    cpuMs: () => this.#cpuMs,
    heapBytes: () => this.heap,
    usedBytes: () => this.live,
    collect: () => {
      this.collections++;
      this.heap = this.live + (this.collections % 2 === 0 ? 0 : this.keeps);
    },
  });

  /** How many collections there have been after each look. */
  check(...cpuMs: readonly number[]): number[] {
    return cpuMs.map((ms) => {
      this.#nowMs += LOOK_MS;
      this.#cpuMs += ms;
      this.#collection.check();
      return this.collections;
    });
  }

  lookSoon(): void {
    this.#nowMs += 1;
    this.#collection.check();
  }
}

describe("a heap of an idle process", () => {
  it("is collected after two quiet looks and with the next ones while it keeps room, and then left alone", () => {
    expect(new Rest().check(2_000, 10, 10, 10, 10, 10, 10)).toEqual([0, 0, 1, 2, 2, 2, 2]);
  });

  it("is collected once where that leaves no room, and five times at most where it stays", () => {
    const [one, stays] = [new Rest(), new Rest()];
    one.keeps = 0;
    expect(one.check(10, 10, 10, 10)).toEqual([0, 1, 1, 1]);
    stays.live = 1 * MIB;
    Object.defineProperty(stays, "heap", { get: () => 60 * MIB, set: () => undefined });
    expect(stays.check(10, 10, 10, 10, 10, 10, 10, 10)).toEqual([0, 1, 2, 3, 4, 5, 5, 5]);
  });

  it("the collections of all threads are no work of others: the second waits for a quiet look", () => {
    expect(new Rest().check(10, 10, 400, 400, 10, 10)).toEqual([0, 1, 1, 1, 2, 2]);
  });

  it("is collected again once it has grown, ten minutes later", () => {
    const rest = new Rest();
    rest.check(10, 10, 10);
    rest.heap += 7 * MIB;
    expect(rest.check(...quietChecks).at(-1)).toBe(2);
    rest.heap += 1 * MIB;
    expect(rest.check(10, 10, 10)).toEqual([3, 4, 4]);
    rest.heap += 8 * MIB;
    expect(rest.check(...quietChecks.slice(3))).toEqual(quietChecks.slice(3).map(() => 4));
    expect(rest.check(10, 10, 10)).toContain(6);
  });

  it("is never collected while the process works", () => {
    const rest = new Rest();
    rest.check(...new Array<number>(100).fill(LOOK_MS / 8));
    rest.heap = 500 * MIB;
    expect(rest.check(2_000, 10, 2_000, 10, 2_000)).toEqual([0, 0, 0, 0, 0]);
  });

  it("is looked at no more often than every three seconds", () => {
    const rest = new Rest();
    for (let turn = 0; turn < LOOK_MS; turn++) rest.lookSoon();
    expect(rest.collections).toBe(0);
  });
});

it("V8 collects garbage, gives pages back and takes its flags back", () => {
  const program = `
    import { getHeapStatistics } from "node:v8";
    import { runInNewContext } from "node:vm";
    import { idleCollection } from ${JSON.stringify(built.href)};
    const realNow = performance.now.bind(performance);
    let shiftMs = 0;
    performance.now = () => realNow() + shiftMs;
    const collection = idleCollection({ returnFree: true });
    let garbage = Array.from({ length: 2_000_000 }, (_, place) => ({ place }));
    const before = getHeapStatistics().total_heap_size;
    garbage = undefined;
    for (let look = 0; look < 4; look++) { shiftMs += 1_000_000; collection.check(); }
    const after = getHeapStatistics().total_heap_size;
    console.log(after < before / 2, runInNewContext("typeof gc"));
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "true undefined\n", stderr: "" });
});
