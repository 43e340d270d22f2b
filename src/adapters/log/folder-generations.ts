// Files <dataDir>/<name>.<generation> of which the highest counts: whoever makes the next one, which only one can, removes those below the one before, so that a
// listing never misses both.
import { readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "./log-file-system.ts";

const GENERATION = /^\.(\d{1,15})$/;

/** Those of one name in one folder. */
export class FolderGenerations {
  readonly #dataDir: string;
  readonly #name: string;

  constructor(dataDir: string, name: string) {
    this.#dataDir = dataDir;
    this.#name = name;
  }

  /** The highest that is there; 0 where there is none. */
  highest(): number {
    return Math.max(0, ...this.#list());
  }

  path(generation: number): string {
    return join(this.#dataDir, `${this.#name}.${generation}`);
  }

  /** Has `make` make a file, which must fail where there is one of that path; false when another was faster. */
  make(generation: number, make: (path: string) => void): boolean {
    try {
      make(this.path(generation));
      return true;
    } catch (error) {
      if (errorCode(error) === "EEXIST") return false;
      throw error;
    }
  }

  /** Removes those below. */
  removeBelow(generation: number): void {
    for (const lower of this.#list()) if (lower < generation) removeFile(this.path(lower));
  }

  #list(): number[] {
    return readdirSync(this.#dataDir)
      .filter((name) => name.startsWith(this.#name))
      .flatMap((name) => GENERATION.exec(name.slice(this.#name.length))?.[1] ?? [])
      .map(Number);
  }
}

/** Removes a file that may be gone already. */
export function removeFile(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") throw error;
  }
}
