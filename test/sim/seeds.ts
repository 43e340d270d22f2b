// The second half of `make sim`: SIM_SEEDS seeds (2,000) from SIM_FROM on (1), shared out to a process for each core. Prints where it is, a line that replays each
// seed that failed, and last what all of them went through; ends with 1 when one failed, and at once when ten have.
import { fork } from "node:child_process";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { wholeNumberSetting } from "../support/whole-number-setting.ts";
import type { SeedReport } from "./seeds-process.ts";

const SEEDS_DEFAULT = 2_000;
const FROM_DEFAULT = 1;
/** More failures than these say nothing new. */
const FAILURES_MAX = 10;
const SEEDS_PER_LINE = 50;
const SETTING_RANGE = { least: 1, most: 9_999_999_999 };

/** What all processes have told so far. */
class Tally {
  readonly #startMs = performance.now();
  readonly #sums = new Map<string, number>();
  readonly #seeds: number;
  done = 0;
  failed = 0;

  constructor(seeds: number) {
    this.#seeds = seeds;
  }

  add({ error, counts }: SeedReport): void {
    this.done += 1;
    for (const [name, count] of Object.entries(counts)) this.#sums.set(name, (this.#sums.get(name) ?? 0) + count);
    if (error !== undefined) this.fail(error);
    if (this.done % SEEDS_PER_LINE === 0)
      console.log(`sim: ${this.done} of ${this.#seeds} seeds, ${this.failed} failed, ${this.#seconds()} s`);
  }

  fail(text: string): void {
    this.failed += 1;
    console.log(`sim: ${text}`);
  }

  text(from: number): string {
    const counts = [...this.#sums].map(([name, count]) => `${name} ${count}`).join(", ");
    return `sim: seeds ${from} to ${from + this.#seeds - 1}: ${this.done} ran in ${this.#seconds()} s, ${this.failed} failed; ${counts}`;
  }

  #seconds(): string {
    return ((performance.now() - this.#startMs) / 1000).toFixed(0);
  }
}

/** Runs the seeds `from`, `from + step`, ... below `end` in a process of their own. */
async function runShare(tally: Tally, from: number, end: number, step: number): Promise<void> {
  const child = fork(join(import.meta.dirname, "seeds-process.ts"), [from, end, step].map(String));
  let last = "before its first seed";
  child.on("message", (report: SeedReport) => {
    tally.add(report);
    last = `behind seed ${report.seed}`;
    if (tally.failed >= FAILURES_MAX) child.kill("SIGKILL");
  });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (code !== 0 && tally.failed < FAILURES_MAX) tally.fail(`a process ended with ${code ?? signal} ${last}`);
}

async function main(): Promise<void> {
  const seeds = wholeNumberSetting("SIM_SEEDS", SEEDS_DEFAULT, SETTING_RANGE);
  const from = wholeNumberSetting("SIM_FROM", FROM_DEFAULT, SETTING_RANGE);
  const processes = Math.min(seeds, availableParallelism());
  const tally = new Tally(seeds);
  await Promise.all(Array.from({ length: processes }, (_, process) => runShare(tally, from + process, from + seeds, processes)));
  console.log(tally.text(from));
  process.exitCode = tally.failed > 0 ? 1 : 0;
}

await main().catch((error: unknown) => {
  console.error(`sim: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
