// The corpus: seed inputs and regressions as files, one folder a target, in the order of their names.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = "test/fuzz/corpus";
/** Seeds of one target that a run may write; regressions have no such limit. */
const SEEDS_MAX = 8;
const SEED_BYTES_MAX = 512;

/** The inputs of a target's folder; none where there is no folder. */
export function readCorpus(target: string): Array<{ readonly name: string; readonly input: Uint8Array }> {
  const folder = join(FOLDER, target);
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .sort()
    .map((name) => ({ name, input: Uint8Array.from(readFileSync(join(folder, name))) }));
}

/** Writes a few of the inputs that reached something new, spread over the run, where the target has no seeds yet. */
export function writeSeeds(target: string, kept: readonly Uint8Array[]): void {
  const folder = join(FOLDER, target);
  mkdirSync(folder, { recursive: true });
  if (readdirSync(folder).some((name) => name.startsWith("seed-"))) return;
  const small = kept.filter((input) => input.length > 0 && input.length <= SEED_BYTES_MAX);
  const count = Math.min(SEEDS_MAX, small.length);
  for (let i = 0; i < count; i++) writeFileSync(join(folder, `seed-${i}.bin`), small[Math.floor((i * small.length) / count)] as Uint8Array);
}

/** Writes an input that failed, to be replayed by the test suite from then on. */
export function writeRegression(target: string, seed: number, index: number, input: Uint8Array): void {
  mkdirSync(join(FOLDER, target), { recursive: true });
  writeFileSync(join(FOLDER, target, `found-${seed}-${index}.bin`), input);
}
