// `vedette replay FILE|FOLDER`: files of samples through the real detectors on a virtual clock, with shipped defaults; a score and the state of the alert a row.

import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { CsvRows, type LateRows } from "./csv-rows.ts";
import { detectorFor, type ReplayDetector } from "./replay-detector.ts";
import { type ReplayFile, replayFiles } from "./replay-files.ts";
import { ReplayError, readReplayOptions } from "./replay-options.ts";

const HEADER = "timestamp,score,alert\n";
const CHUNK_CHARACTERS = 65_536;
const PROGRESS_ROWS = 10_000;
const CLEAR_LINE = "\r\x1b[2K";

/** Runs a replay; resolves with the exit code: 0 all done, 1 not. Scores go to files or standard output, everything else to standard error. */
export async function runReplay(args: readonly string[]): Promise<number> {
  const progress = new ReplayProgress(process.stderr.isTTY === true);
  try {
    const options = readReplayOptions(args);
    const files = replayFiles(options);
    for (const [index, file] of files.entries()) {
      progress.begin(`${index + 1} of ${files.length}: ${file.input}`);
      await replayFile(file, options.intervalMs, progress);
    }
    progress.end();
    return 0;
  } catch (error) {
    progress.end();
    if (!(error instanceof ReplayError)) throw error;
    process.stderr.write(`vedette replay: ${error.message}\n`);
    return 1;
  }
}

async function replayFile(file: ReplayFile, intervalMs: number | undefined, progress: ReplayProgress): Promise<void> {
  let detector: ReplayDetector | null = null;
  let metrics: readonly string[] = [];
  let startMs = 0;
  if (file.train !== undefined) {
    const rows = new CsvRows(file.train, intervalMs);
    for await (const row of rows.read()) {
      metrics = rows.columns.metrics;
      detector ??= detectorFor(metrics.length);
      detector.learn(row);
      startMs = row.timeMs + (intervalMs ?? 0);
      progress.row();
    }
    progress.tellLate(file.train, rows.late);
  }
  const output = await openOutput(file.output);
  try {
    const rows = new CsvRows(file.input, intervalMs, startMs);
    let text = HEADER;
    for await (const row of rows.read()) {
      detector ??= detectorFor(row.values.length);
      if (metrics.length > 0 && metrics.length !== row.values.length)
        throw new ReplayError(`${file.input} has ${row.values.length} metrics, but ${file.train} has ${metrics.length}`);
      const { score, isFiring } = detector.observe(row);
      text += `${row.timestamp},${score},${isFiring ? 1 : 0}\n`;
      if (text.length > CHUNK_CHARACTERS) {
        await write(output, text);
        text = "";
      }
      progress.row();
    }
    await write(output, text);
    progress.tellLate(file.input, rows.late);
  } finally {
    await close(output);
  }
}

async function openOutput(path: string | undefined): Promise<Writable> {
  if (path === undefined) return process.stdout;
  try {
    mkdirSync(dirname(path), { recursive: true });
    const stream = createWriteStream(path);
    await once(stream, "open");
    return stream;
  } catch (error) {
    throw new ReplayError(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function write(output: Writable, text: string): Promise<void> {
  if (!output.write(text)) await once(output, "drain");
}

async function close(output: Writable): Promise<void> {
  if (output === process.stdout) return;
  output.end();
  await once(output, "finish");
}

/** One line on a terminal; nothing elsewhere. */
class ReplayProgress {
  readonly #isTerminal: boolean;
  #what = "";
  #rows = 0;

  constructor(isTerminal: boolean) {
    this.#isTerminal = isTerminal;
  }

  begin(what: string): void {
    this.#what = what;
    this.#rows = 0;
    this.#show();
  }

  row(): void {
    if (++this.#rows % PROGRESS_ROWS === 0) this.#show();
  }

  /** Says once of a file that it is not in order. */
  tellLate(path: string, late: LateRows | null): void {
    if (late === null) return;
    this.end();
    const many = late.rows === 1 ? `line ${late.firstLine} is` : `${late.rows} rows, the first in line ${late.firstLine}, are`;
    process.stderr.write(
      `${path}: ${many} earlier than a row before: late samples are not judged, their output rows repeat the score before\n`,
    );
  }

  end(): void {
    if (this.#isTerminal) process.stderr.write(CLEAR_LINE);
  }

  #show(): void {
    if (this.#isTerminal) process.stderr.write(`${CLEAR_LINE}${this.#what}${this.#rows > 0 ? `, ${this.#rows} rows` : ""}`);
  }
}
