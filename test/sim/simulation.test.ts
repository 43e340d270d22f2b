// Whole servers under faults, by seed: the first, and some that have found something. `make sim` runs all of those, a dozen more, and thousands more (seeds.ts). SEED=n runs that one.
import { describe, expect, it } from "vitest";
import { type SimulationReport, simulate } from "../support/simulation.ts";
import { compareRuns } from "../support/simulation-holdings.ts";
import { replayable, runSeed } from "../support/simulation-seed.ts";
import { extent, firstOf } from "../support/test-extent.ts";

const FIRST_SEEDS = Array.from({ length: extent(12, 1) }, (_, index) => 1 + index);
/** Seeds that are run with one, two and three engines as well. */
const COMPARED = extent(3, 1);
/** Seeds that have found something; the first four are run each time. */
const REGRESSIONS: Readonly<Record<number, string>> = {
  6: "a definition that a checkpoint covers brought a stream's old kind back",
  8: "blocks were replayed by the admission of their first body, not their last",
  2006: "a late value that came again took a chunk before its time",
  28: "a stream on its way to a store that takes nothing was said to be unknown",
  15: "the replay began behind the rows of partitions that had no checkpoint yet",
  100156: "a torn tail was two whole small blocks, whose events were counted again: the simulation's fault",
  100865: "the same with one block",
  101123: "a question waited for a stream that gathered on its way to the store, and no time passed: the simulation's fault",
  13: "of few values a fall counts as much as an interval brought: the simulation's fault",
};

function seeds(): number[] {
  const one = process.env["SEED"];
  if (one !== undefined && one !== "") return [Number(one)];
  return [...new Set([...FIRST_SEEDS, ...firstOf(Object.keys(REGRESSIONS), 4).map(Number)])];
}

describe("a simulated server", () => {
  for (const seed of seeds()) {
    it(`holds what it acknowledged, seed ${seed}${REGRESSIONS[seed] === undefined ? "" : ` (${REGRESSIONS[seed]})`}`, async () => {
      const { counts, anomalies } = await runSeed(seed);
      if (process.env["SIM_VERBOSE"] !== undefined) console.log(JSON.stringify({ seed, anomalies: anomalies.length, ...counts }));
    });
  }

  it("finds the same anomalies with 1, 2 and 3 engines", async () => {
    for (const seed of seeds().slice(0, COMPARED)) {
      await replayable(seed, async () => {
        const runs = await Promise.all([1, 2, 3].map((engines) => simulate({ seed, engines, faults: false })));
        const [one, two, three] = runs as [SimulationReport, SimulationReport, SimulationReport];
        expect(one.anomalies.length).toBeGreaterThan(0);
        compareRuns("2 engines against 1", two.anomalies, one.anomalies);
        compareRuns("3 engines against 1", three.anomalies, one.anomalies);
      });
    }
  });
});
