// A process that runs seeds of the simulation: seeds-process.ts <from> <end> <step>. It tells its parent of each.
import { runOutboxSeed } from "../support/outbox-seed.ts";
import { replayable, runSeed } from "../support/simulation-seed.ts";
import { runStepSeed } from "../support/step-seed.ts";
import { runWebhookSeed } from "../support/webhook-seed.ts";

/** What became of a seed. */
export interface SeedReport {
  readonly seed: number;
  /** What failed, with the line that replays it. */
  readonly error?: string;
  /** What the run with faults went through; nothing where it failed. */
  readonly counts: Readonly<Record<string, number>>;
}

const [from = 0, end = 0, step = 1] = process.argv.slice(2).map(Number);

async function reportOf(seed: number): Promise<SeedReport> {
  try {
    const { counts, anomalies } = await runSeed(seed);
    const outboxes = await replayable(seed, async () => {
      return { ...(await runOutboxSeed(seed)), ...(await runWebhookSeed(seed)), ...(await runStepSeed(seed)) };
    });
    return { seed, counts: { anomalies: anomalies.length, ...counts, ...outboxes } };
  } catch (error) {
    return { seed, error: error instanceof Error ? error.message : String(error), counts: {} };
  }
}

for (let seed = from; seed < end; seed += step) process.send?.(await reportOf(seed));
process.disconnect();
