import { describe, expect, it } from "vitest";
import { VisibleCommits, type WritingEnvironment } from "../../../../src/adapters/storage/lmdb-store.ts";

/** An environment whose commits go on when the test says so. */
class HeldEnvironment implements WritingEnvironment {
  readonly begun: number[] = [];
  readonly callbacks: Array<(status: number) => unknown> = [];

  startWriting(address: number, callback: (status: number) => unknown): string {
    this.begun.push(address);
    this.callbacks.push(callback);
    return "begun";
  }
}

async function isSettled(promise: Promise<void>): Promise<boolean> {
  const late = Symbol();
  return (await Promise.race([promise, new Promise((resolve) => setImmediate(resolve, late))])) !== late;
}

describe("visible commits", () => {
  it("resolve when the library tells, each for its own commit, and the library hears all", async () => {
    const environment = new HeldEnvironment();
    const commits = new VisibleCommits(environment);
    const heard: unknown[] = [];
    const first = commits.next();
    expect(environment.startWriting(8, (status) => heard.push(status))).toBe("begun");
    expect(await isSettled(first)).toBe(false);
    const second = commits.next();
    environment.startWriting(16, (status) => heard.push(10 + status));
    environment.callbacks[0]?.(1);
    expect([await isSettled(first), await isSettled(second)]).toEqual([true, false]);
    environment.callbacks[1]?.(0);
    expect(await isSettled(second)).toBe(false);
    environment.callbacks[1]?.(1);
    expect(await isSettled(second)).toBe(true);
    expect([environment.begun, heard]).toEqual([
      [8, 16],
      [1, 10, 11],
    ]);
  });
});
