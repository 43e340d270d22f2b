// Whether the log takes writes. An engine that could not write its log answers 503 and tries again with the next body; while none comes, because /readyz sends them elsewhere,
// only a trial write can tell that there is room again.
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** Between two looks whether the log takes writes again. */
export const LOG_CHECK_MS = 1_000;
/** Bytes of a trial write: most units of work are smaller. */
const TRIAL_BYTES = 1024 * 1024;
/** Its name is one of those that the next start removes. */
const TRIAL_FILE = "trial.discarded";

export interface LogWatchDependencies {
  /** Commits that the log has refused so far, of all engines. */
  readonly refusals: () => number;
  /** Writes and removes so many bytes where the log is; rejects where the disk does not take them. */
  readonly trial: () => Promise<void>;
}

/** Looks at what engines count. */
export class LogWatch {
  readonly #dependencies: LogWatchDependencies;
  #seen = 0;
  #isRefusing = false;
  #isTrying = false;

  constructor(dependencies: LogWatchDependencies) {
    this.#dependencies = dependencies;
  }

  /** From the first commit that the log refused until a trial write of a later look has succeeded. */
  get isRefusing(): boolean {
    const refusals = this.#dependencies.refusals();
    if (refusals !== this.#seen) this.#isRefusing = true;
    this.#seen = refusals;
    return this.#isRefusing;
  }

  /** Tries whether there is room again, where writes are refused; to be called about once a second. */
  async check(): Promise<void> {
    if (!this.isRefusing || this.#isTrying) return;
    this.#isTrying = true;
    const seen = this.#seen;
    try {
      await this.#dependencies.trial();
      if (this.#dependencies.refusals() === seen) this.#isRefusing = false;
    } catch {
      // still no room: the next look tries again
    } finally {
      this.#isTrying = false;
    }
  }
}

/** The trial write in a folder. */
export async function tryWriting(directory: string): Promise<void> {
  const path = join(directory, TRIAL_FILE);
  try {
    await writeFile(path, new Uint8Array(TRIAL_BYTES));
  } finally {
    await rm(path, { force: true });
  }
}
