/**
 * <dataDir>/set-aside/<name>.bytes and <name>.json {"version":1,"what","reason","at"}: things that were stored or taken and that this program cannot take, for whoever wants to look
 * into them. At most SET_ASIDE_FILES_MAX of SET_ASIDE_BYTES_MAX together; the operator deletes them. The bytes come first, so that what has a description is whole.
 */
import { mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { SET_ASIDE_BYTES_MAX, SET_ASIDE_FILES_MAX } from "../../core/config/set-aside-limits.ts";
import type { SetAsideItem } from "../../core/protocol/set-aside.ts";
import { replaceFile } from "./replaced-file.ts";

const VERSION = 1;

/** Where things are set aside. */
export class SetAsideFolder {
  readonly #directory: string;

  constructor(dataDir: string) {
    this.#directory = join(dataDir, "set-aside");
  }

  /** Keeps a thing; answers where it is, or null where the bounds leave no room or the disk does not take it. One that is there is kept once. */
  keep({ name, what, reason, bytes }: SetAsideItem, nowMs: number): string | null {
    const path = join(this.#directory, `${name}.bytes`);
    try {
      mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
      const names = readdirSync(this.#directory);
      if (names.includes(`${name}.json`)) return path;
      if (names.length >= 2 * SET_ASIDE_FILES_MAX || this.#bytesOf(names) + bytes.length > SET_ASIDE_BYTES_MAX) return null;
      replaceFile(path, bytes);
      const at = new Date(nowMs).toISOString();
      replaceFile(join(this.#directory, `${name}.json`), `${JSON.stringify({ version: VERSION, what, reason, at })}\n`);
      return path;
    } catch (error) {
      if (error instanceof Error && "syscall" in error) return null;
      throw error;
    }
  }

  #bytesOf(names: readonly string[]): number {
    return names.reduce((sum, each) => sum + statSync(join(this.#directory, each)).size, 0);
  }
}
