// Turns of the benches beside neighbours that take our cores, without a clock.
import { describe, expect, it } from "vitest";
// @ts-expect-error: the benches are JavaScript without declarations
import { StolenTime } from "../../../native-bench/stolen-time.mjs";

const SECONDS = 10;

/** `stolen`: of the cores in each attempt and in each look for a quiet moment, in order; then nothing. */
function rig(budgetSeconds: number, stolen: readonly number[], seconds = SECONDS) {
  const left = [...stolen];
  const watch = async <T>(work: () => Promise<T>) => ({ result: await work(), seconds, stolenCores: left.shift() ?? 0 });
  let attempts = 0;
  const time = new StolenTime(budgetSeconds, { watch, lookMs: 0 });
  const take = (mayRepeat: boolean) => time.take(async () => ++attempts, { attemptsMax: mayRepeat ? 3 : 1, log: () => undefined });
  return { time, take };
}

describe("a turn beside others", () => {
  it("is taken once where nothing is stolen", async () => {
    const { time, take } = rig(100, []);
    expect(await take(true)).toBe(1);
    expect(time.takeSeen()).toEqual({ turns: 1, disturbed: 0, repeated: 0, waitedSeconds: 0, stolenCoresMost: 0 });
  });

  it("waits for a quiet moment, and is taken again where that did not last", async () => {
    const { time, take } = rig(100, [0.5, 0, 0.4, 0, 0.01]);
    expect(await take(true)).toBe(2);
    expect(time.takeSeen()).toEqual({ turns: 1, disturbed: 0, repeated: 1, waitedSeconds: SECONDS, stolenCoresMost: 0.01 });
  });

  it("counts as the least disturbed of three, and says that it was disturbed", async () => {
    const { time, take } = rig(100, [0, 0.4, 0, 0.2, 0, 0.3]);
    expect(await take(true)).toBe(2);
    expect(time.takeSeen()).toMatchObject({ disturbed: 1, repeated: 2, stolenCoresMost: 0.2 });
    expect(time.takeSeen()).toMatchObject({ turns: 0, stolenCoresMost: 0 });
  });

  it("is taken once where it may not be repeated or is long, and where no time is left", async () => {
    expect(await rig(100, [0, 0.4], 31).take(true)).toBe(1);
    expect(await rig(100, [0, 0.4]).take(false)).toBe(1);
    expect(await rig(SECONDS / 2, [0, 0.4]).take(true)).toBe(1);
    const { time, take } = rig(0, [0.4]);
    expect(await take(true)).toBe(1);
    expect(time.takeSeen()).toMatchObject({ waitedSeconds: 0, disturbed: 1 });
  });
});
