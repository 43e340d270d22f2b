// RULES_DIR as it lies on disk: its files with their texts, read when any has changed.
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { RULE_DIRECTORY_BYTES_MAX, RULE_DIRECTORY_FILES_MAX, RULE_FILE_CHARACTERS_MAX } from "../../core/config/rule-limits.ts";
import type { RuleFiles, RuleFileText } from "../../core/protocol/rule-work.ts";
import { messageOf } from "../../core/text/error-text.ts";

const RULE_FILE = /\.(?:ya?ml|json)$/;

/** Reads a folder when it has changed. */
export class RuleFolder {
  readonly #path: string;
  #seen: string | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The files, where any has changed since the last call; undefined where none has. */
  changed(): RuleFiles | undefined {
    const { files, problem } = this.#list();
    const seen = JSON.stringify([files, problem]);
    if (seen === this.#seen) return undefined;
    this.#seen = seen;
    return problem === undefined ? this.#read(files) : { type: "rule-files", files: [], unread: [problem] };
  }

  /** Names with size and time of change, without what could be read. */
  #list(): { readonly files: ReadonlyArray<readonly [name: string, bytes: number, changedMs: number]>; readonly problem?: string } {
    try {
      const names = readdirSync(this.#path).filter((name) => RULE_FILE.test(name) && !name.startsWith("."));
      const files = names.sort().map((name) => {
        const { size, mtimeMs } = statSync(join(this.#path, name));
        return [name, size, mtimeMs] as const;
      });
      return { files };
    } catch (error) {
      return { files: [], problem: messageOf(error) };
    }
  }

  #read(files: ReadonlyArray<readonly [name: string, bytes: number, changedMs: number]>): RuleFiles {
    const texts: RuleFileText[] = [];
    const unread: string[] = [];
    let left = RULE_DIRECTORY_BYTES_MAX;
    for (const [file, bytes] of files) {
      left -= bytes;
      if (texts.length === RULE_DIRECTORY_FILES_MAX) unread.push(`${file}: there are more than ${RULE_DIRECTORY_FILES_MAX} files`);
      else if (left < 0 || bytes > RULE_FILE_CHARACTERS_MAX) unread.push(`${file}: it is too long`);
      else this.#readOne(file, texts, unread);
    }
    return { type: "rule-files", files: texts, unread };
  }

  #readOne(file: string, texts: RuleFileText[], unread: string[]): void {
    try {
      texts.push({ file, text: readFileSync(join(this.#path, file), "utf8") });
    } catch (error) {
      unread.push(messageOf(error));
    }
  }
}
