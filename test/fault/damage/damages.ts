// `make fault`: FAULT_DAMAGES damages (2,000) from number FAULT_SEED (1) on, a start over each; FAULT_JOBS of them at a time. Prints where it is, a line that replays each
// that failed, and last what came of all; ends with 1 when one failed, and at once when ten have.
import { availableParallelism } from "node:os";
import { wholeNumberSetting } from "../../support/whole-number-setting.ts";
import { type DamagedFolders, makeFolders } from "./damaged-folders.ts";
import { type DamageReport, judgeDamage } from "./damaged-start.ts";

const DAMAGES_DEFAULT = 2_000;
const FAILURES_MAX = 10;
const DAMAGES_PER_LINE = 25;
const SETTING_RANGE = { least: 1, most: 9_999_999_999 };

/** What all have come to. */
class Tally {
  readonly #startMs = performance.now();
  readonly #sums = new Map<string, number>();
  readonly #damages: number;
  done = 0;
  failed = 0;

  constructor(damages: number) {
    this.#damages = damages;
  }

  add({ number, file, kind, outcome, text }: DamageReport): void {
    this.done += 1;
    for (const name of [outcome, `${fileKind(file)}/${kind} ${outcome}`]) this.#sums.set(name, (this.#sums.get(name) ?? 0) + 1);
    if (outcome === "failed") {
      this.failed += 1;
      console.log(`fault: damage ${number}: ${text}\nfault: replay: FAULT_SEED=${number} FAULT_DAMAGES=1 make fault`);
    }
    if (this.done % DAMAGES_PER_LINE === 0)
      console.log(`fault: ${this.done} of ${this.#damages} damages, ${this.failed} failed, ${this.seconds()} s`);
  }

  text(from: number): string {
    const sums = [...this.#sums].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `  ${String(count).padStart(6)}  ${name}`);
    const head = `fault: damages ${from} to ${from + this.#damages - 1}: ${this.done} done in ${this.seconds()} s, ${this.failed} failed`;
    return [...sums, head].join("\n");
  }

  seconds(): string {
    return ((performance.now() - this.#startMs) / 1000).toFixed(0);
  }
}

/** What a file is, whatever its number. */
function fileKind(file: string): string {
  if (file.startsWith("log/")) return "log";
  return file.startsWith("lock.") ? "lock" : file;
}

async function runJob(folders: DamagedFolders, tally: Tally, numbers: Iterator<number>): Promise<void> {
  for (let next = numbers.next(); next.done !== true && tally.failed < FAILURES_MAX; next = numbers.next()) {
    tally.add(await judgeDamage(folders, next.value));
  }
}

function* countFrom(from: number, count: number): Generator<number> {
  for (let number = from; number < from + count; number++) yield number;
}

async function main(): Promise<void> {
  const damages = wholeNumberSetting("FAULT_DAMAGES", DAMAGES_DEFAULT, SETTING_RANGE);
  const from = wholeNumberSetting("FAULT_SEED", 1, SETTING_RANGE);
  const jobs = wholeNumberSetting("FAULT_JOBS", availableParallelism(), SETTING_RANGE);
  const folders = await makeFolders();
  try {
    const tally = new Tally(damages);
    const numbers = countFrom(from, damages);
    await Promise.all(Array.from({ length: Math.min(jobs, damages) }, () => runJob(folders, tally, numbers)));
    console.log(tally.text(from));
    process.exitCode = tally.failed > 0 ? 1 : 0;
  } finally {
    folders.close();
  }
}

await main().catch((error: unknown) => {
  console.error(`fault: ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
});
