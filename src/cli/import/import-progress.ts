// How far an import is: in a small file beside the one that is imported, so that a broken-off import goes on, and on the terminal.
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";

/** Which import it is, and the samples that the server has acknowledged. */
export interface ImportMark {
  readonly file: string;
  readonly url: string;
  readonly version: string;
  readonly samples: number;
}

const BAR_CELLS = 30;
const CLEAR_LINE = "\r\x1b[2K";

/** The mark in a file; 0 samples where there is none, or one of another import. */
export function readMark(path: string, import_: Omit<ImportMark, "samples">): number {
  try {
    const mark = JSON.parse(readFileSync(path, "utf8")) as Partial<ImportMark>;
    const isSame = mark.file === import_.file && mark.url === import_.url && mark.version === import_.version;
    return isSame && Number.isSafeInteger(mark.samples) ? (mark.samples as number) : 0;
  } catch {
    return 0;
  }
}

/** Replaces the mark; the file holds the old or the new one. */
export function writeMark(path: string, mark: ImportMark): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(mark)}\n`);
  renameSync(`${path}.new`, path);
}

/** The import is done. */
export function removeMark(path: string): void {
  rmSync(path, { force: true });
}

/** Shows progress: a bar on a terminal, else a line every tenth. */
export class ProgressBar {
  readonly #total: number;
  readonly #isTerminal: boolean;
  readonly #write: (text: string) => void;
  #tenth = -1;

  constructor(options: { readonly total: number; readonly isTerminal: boolean }, write: (text: string) => void) {
    this.#total = options.total;
    this.#isTerminal = options.isTerminal;
    this.#write = write;
  }

  show(samples: number, samplesPerSecond: number): void {
    const share = this.#total === 0 ? 1 : samples / this.#total;
    const line = `${String(Math.floor(share * 100)).padStart(3)} %  ${samples} of ${this.#total} samples, ${Math.round(samplesPerSecond)}/s`;
    const tenth = Math.floor(share * 10);
    if (this.#isTerminal) this.#write(`${CLEAR_LINE}[${"#".repeat(Math.floor(share * BAR_CELLS)).padEnd(BAR_CELLS, ".")}] ${line}`);
    else if (tenth > this.#tenth) this.#write(`${line}\n`);
    this.#tenth = tenth;
  }

  end(): void {
    if (this.#isTerminal) this.#write("\n");
  }
}
