// Scorers in Python beside this file: each writes its scores as JSON.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Runs a scorer that takes `--out`; throws with what it says where it fails. */
export function scoredToFile<T>(script: string, args: readonly string[], folder: string): T {
  const file = join(folder, "scores.json");
  run(script, [...args, "--out", file]);
  return JSON.parse(readFileSync(file, "utf8")) as T;
}

/** Runs a scorer that prints its scores; throws with what it says where it fails. */
export function scoredToOutput<T>(script: string, args: readonly string[]): T {
  return JSON.parse(run(script, args)) as T;
}

function run(script: string, args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync("python3", [join(import.meta.dirname, script), ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${script}: ${stderr}`);
  return stdout;
}
