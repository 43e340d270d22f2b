// Contestants of the benches that share a repeat by rounds, without servers and without a clock.
import { describe, expect, it } from "vitest";
// @ts-expect-error: the benches are JavaScript without declarations
import { takeRounds } from "../../../native-bench/rounds.mjs";
// @ts-expect-error: the benches are JavaScript without declarations
import { StolenTime } from "../../../native-bench/stolen-time.mjs";

/** `stolen`: of the cores in each round that is taken, in order; then nothing. */
function rig(stolen: readonly number[], { repeats = 1, fails = "" } = {}) {
  const left = [...stolen];
  const reported: string[] = [];
  let isRound = false;
  const watch = async <T>(work: () => Promise<T>) => {
    const result = await work();
    const stolenCores = isRound ? (left.shift() ?? 0) : 0;
    isRound = false;
    return { result, seconds: 1, stolenCores };
  };
  const context = { repeats, stolen: new StolenTime(100, { watch, lookMs: 0 }), log: () => undefined };
  const session = (name: string) => async () => {
    reported.push(`open ${name}`);
    return {
      take: async (seconds: number) => {
        isRound = true;
        if (fails === name) throw new Error("refused");
        reported.push(`${name} ${seconds}`);
      },
      end: async (kept: readonly number[]) => ({ name, kept }),
      kill: async () => void reported.push(`kill ${name}`),
    };
  };
  const take = (rounds: number) => takeRounds(context, { a: session("a"), b: session("b") }, { rounds, seconds: 2 });
  return { reported, take };
}

describe("rounds", () => {
  it("give each contestant its turn in each, over all repeats", async () => {
    const { reported, take } = rig([], { repeats: 2 });
    const kept = [0, 1];
    expect(await take(2)).toEqual({
      a: [
        { name: "a", kept },
        { name: "a", kept },
      ],
      b: [
        { name: "b", kept },
        { name: "b", kept },
      ],
    });
    const repeat = ["open a", "open b", "a 2", "b 2", "a 2", "b 2", "kill a", "kill b"];
    expect(reported).toEqual([...repeat, ...repeat]);
  });

  it("are taken again where others had the machine, once a repeat, and the less disturbed one counts for all", async () => {
    const { reported, take } = rig([0, 0.4, 0.2, 0.3]);
    expect(await take(3)).toEqual({ a: [{ name: "a", kept: [0, 2, 3] }], b: [{ name: "b", kept: [0, 2, 3] }] });
    expect(reported.filter((line) => line === "a 2")).toHaveLength(4);
    const worse = rig([0.2, 0.4]);
    expect(await worse.take(1)).toMatchObject({ b: [{ kept: [0] }] });
  });

  it("end every contestant where one fails", async () => {
    const { reported, take } = rig([], { fails: "b" });
    await expect(take(2)).rejects.toThrow("refused");
    expect(reported).toEqual(["open a", "open b", "a 2", "kill a", "kill b"]);
  });
});
