// The lines that scripts/test-tally.mjs writes while vitest runs: read back, and watched for silence.
import { readFileSync } from "node:fs";

/** Reads what the reporter wrote, one JSON object a line; a line cut off by a crash is left out. */
export function readTallies(path) {
  const lines = readFileSync(path, { encoding: "utf8", flag: "a+" }).split("\n");
  return lines.flatMap((line) => {
    try {
      return [JSON.parse(line)];
    } catch {
      return [];
    }
  });
}

/** The files that began and have not ended. */
export function openFiles(tallies) {
  const open = new Set();
  for (const { kind, where } of tallies) {
    if (kind === "file-start") open.add(where);
    if (kind === "file-end") open.delete(where);
  }
  return [...open];
}

/** A run of tests that is bounded by its silence: how long it lasts says how slow the machine is, that no test ends says that something hangs. */
export class SilenceWatch {
  #tests = 0;
  #sinceMs;
  #silenceMsMax;

  /** `nowMs` is of a monotonic clock, here and below. */
  constructor(silenceMsMax, nowMs) {
    this.#silenceMsMax = silenceMsMax;
    this.#sinceMs = nowMs;
  }

  /** Returns the files that are open if no test has ended for too long, else undefined. */
  hanging(tallies, nowMs) {
    const tests = tallies.filter(({ kind }) => kind === "test").length;
    if (tests !== this.#tests) {
      this.#tests = tests;
      this.#sinceMs = nowMs;
    }
    return nowMs - this.#sinceMs >= this.#silenceMsMax ? openFiles(tallies) : undefined;
  }
}
