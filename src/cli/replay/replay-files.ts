// Which files a replay reads, and where the scores of each go.
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ReplayError, type ReplayOptions } from "./replay-options.ts";

export interface ReplayFile {
  readonly input: string;
  /** History to learn from first. */
  readonly train: string | undefined;
  /** Standard output for undefined. */
  readonly output: string | undefined;
}

const CSV = /\.csv(?:\.gz)?$/i;
const TRAIN = /\.train\.csv(?:\.gz)?$/i;
const TEST = /\.test(?=\.csv(?:\.gz)?$)/i;

/**
 * The files of a replay. In a folder every NAME.csv and NAME.csv.gz is one, below it too; NAME.test.csv learns from NAME.train.csv beside it, and
 * its scores go to NAME.csv under `out`. Throws ReplayError.
 */
export function replayFiles({ source, train, out }: ReplayOptions): ReplayFile[] {
  if (!existsSync(source)) throw new ReplayError(`there is no ${source}`);
  if (!statSync(source).isDirectory()) return [{ input: source, train: train ?? trainOf(source), output: out }];
  if (train !== undefined)
    throw new ReplayError("--train goes with one file; in a folder NAME.test.csv learns from NAME.train.csv beside it");
  if (out === undefined) throw new ReplayError(`${source} is a folder: give --out with a folder for the scores`);
  const names = readdirSync(source, { recursive: true, encoding: "utf8" }).filter((name) => CSV.test(name) && !TRAIN.test(name));
  if (names.length === 0) throw new ReplayError(`${source} holds no .csv or .csv.gz`);
  return names.sort().map((name) => {
    const input = join(source, name);
    return { input, train: trainOf(input), output: join(out, name.replace(TEST, "").replace(/\.gz$/i, "")) };
  });
}

/** NAME.train.csv beside NAME.test.csv. */
function trainOf(input: string): string | undefined {
  const train = input.replace(TEST, ".train");
  return train !== input && existsSync(train) ? train : undefined;
}
