// One seed of the simulation: a run with faults against the oracle, and against a run without.
import { compareStates, type SimulationReport, simulate } from "./simulation.ts";
import { compareRuns } from "./simulation-holdings.ts";

/** Runs a seed and returns what the run with faults did; what it throws begins with the line that replays it. */
export async function runSeed(seed: number): Promise<SimulationReport> {
  return await replayable(seed, async () => {
    const quiet = await simulate({ seed, engines: 1 + (seed % 3), faults: false });
    const faulty = await simulate({ seed, faults: true });
    compareRuns("anomalies under faults against those without", faulty.anomalies, quiet.anomalies);
    compareStates("states of streams under faults against those without", faulty, quiet);
    return faulty;
  });
}

/** Adds the line that replays it to whatever a seed's run throws. */
export async function replayable<T>(seed: number, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`make sim SEED=${seed}  replays this: ${message}`, { cause: error });
  }
}
