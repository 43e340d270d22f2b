// `vedette import FILE`: sends a file of history to a running server, shows how far it is, and goes on where it was when it was broken off.
// How far an import is: in a small file beside the one that is imported, so that a broken-off import goes on, and on the terminal.

import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock } from "../../adapters/platform/clock.ts";
import { IMPORT_FILE_SAMPLES_MAX } from "../../core/config/limits.ts";
import { CLEAR_LINE, writeError, writeLine, writeText } from "../../server/terminal.ts";
import { type HistoryFile, readHistoryFile } from "./history-file.ts";
import { ImportError, type ImportOptions, readImportOptions } from "./import-options.ts";
import { importRequests } from "./import-requests.ts";
import { ImportSender } from "./import-sender.ts";

const BAR_CELLS = 30;

const PROBLEMS_SHOWN = 10;

/** Runs an import; resolves with the exit code: 0 all taken, 1 some left out or not done. */
export async function runImport(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): Promise<number> {
  try {
    const options = readImportOptions(args, environment);
    const history = readHistoryFile(options, { nowMs: systemClock.wallMs(), samplesMax: IMPORT_FILE_SAMPLES_MAX });
    const say = options.isJson ? writeError : writeLine;
    reportProblems(history, say);
    const failed = await sendAll(options, history, isTerminal && !options.isJson, say);
    if (options.isJson) writeLine(JSON.stringify(outcomeOf(options, history, failed), null, 2));
    return history.refused + failed > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    writeError(`vedette import: ${error.message}`);
    return 1;
  }
}

type Say = (line: string) => void;

function reportProblems({ refused, problems }: HistoryFile, say: Say): void {
  if (refused === 0) return;
  say(`${refused} samples are left out:`);
  for (const { at, error, message } of problems.slice(0, PROBLEMS_SHOWN)) say(`  ${at}: ${error}: ${message}`);
  if (refused > PROBLEMS_SHOWN) say("  and others");
}

function outcomeOf({ file, url }: ImportOptions, { samples, series, refused, problems }: HistoryFile, failed: number) {
  return {
    file,
    url,
    series: series.length,
    imported: samples - failed,
    left_out: failed + refused,
    problems: problems.slice(0, PROBLEMS_SHOWN),
  };
}

async function sendAll(options: ImportOptions, history: HistoryFile, isTerminal: boolean, say: Say): Promise<number> {
  const { url, file, progressFile } = options;
  const mark = { file, url, version: history.version };
  const start = Math.min(history.samples, readMark(progressFile, mark));
  say(`${file}: ${history.samples} samples of ${history.series.length} series to ${url}`);
  if (start > 0) say(`${start} of them are there already: going on from there`);
  const sender = new ImportSender(options, {
    clock: systemClock,
    reportWaiting: (reason) => say(`the server does not take samples now (${reason}); trying again for three minutes`),
    sleep,
  });
  const bar = new ProgressBar({ total: history.samples, isTerminal }, options.isJson ? () => undefined : writeText);
  const startMs = systemClock.monotonicMs();
  let failed = 0;
  for (const request of importRequests(history.series, start)) {
    const answer = await sender.send(request);
    failed += answer.failed;
    for (const { at, error, message } of answer.failures.slice(0, 1)) say(`  refused: ${at}: ${error}: ${message}`);
    writeMark(progressFile, { ...mark, samples: request.to });
    bar.show(request.to, ((request.to - start) * 1000) / Math.max(1, systemClock.monotonicMs() - startMs));
  }
  bar.end();
  removeMark(progressFile);
  say(`done: ${history.samples - failed} samples are in, ${failed + history.refused} left out`);
  return failed;
}

/** Which import it is, and the samples that the server has acknowledged. */
interface ImportMark {
  readonly file: string;
  readonly url: string;
  readonly version: string;
  readonly samples: number;
}

/** The mark in a file; 0 samples where there is none, or one of another import. */
function readMark(path: string, import_: Omit<ImportMark, "samples">): number {
  try {
    const mark = JSON.parse(readFileSync(path, "utf8")) as Partial<ImportMark>;
    const isSame = mark.file === import_.file && mark.url === import_.url && mark.version === import_.version;
    return isSame && Number.isSafeInteger(mark.samples) ? (mark.samples as number) : 0;
  } catch {
    return 0;
  }
}

/** Replaces the mark; the file holds the old or the new one. */
function writeMark(path: string, mark: ImportMark): void {
  writeFileSync(`${path}.new`, `${JSON.stringify(mark)}\n`);
  renameSync(`${path}.new`, path);
}

/** The import is done. */
function removeMark(path: string): void {
  rmSync(path, { force: true });
}

/** Shows progress: a bar on a terminal, else a line every tenth. */
class ProgressBar {
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
