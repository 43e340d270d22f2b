// `vedette replay FILE|FOLDER`: files of samples through what the server runs, on a virtual clock: a score, the state of the alert and whether people were told, a row.
// The rows of a replayed file as a server would have had them: a stream for each column, and the times at which samples came.
import { once } from "node:events";
import { createWriteStream, mkdirSync } from "node:fs";
import { dirname } from "node:path";
import type { Writable } from "node:stream";
import { BACKTEST_FILE_SAMPLES_MAX } from "../../core/config/backtest-limits.ts";
import type { Config } from "../../core/config/load-config.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { INHIBITIONS } from "../../domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../domain/alerting/inhibition/inhibition-rule.ts";
import type { BacktestSeries } from "../../domain/backtest/history.ts";
import { type ReplayedRows, replayRun } from "../../domain/backtest/replay-run.ts";
import { TimeZoneHours } from "../../domain/detection/seasonal/time-zone-hours.ts";
import { flagsOfRecord } from "../../domain/series/classification.ts";
import { CLEAR_LINE } from "../../server/terminal.ts";
import { TABLE_SERVICE } from "../backtest/backtest-file.ts";
import { FILE_FACTS, type FileEnvironment, fileEnvironment } from "../file-environment.ts";
import { type CsvRow, CsvRows, type LateRows } from "./csv-rows.ts";
import { type ReplayFile, replayFiles } from "./replay-files.ts";
import { ReplayError, type ReplayOptions, readReplayOptions } from "./replay-options.ts";

const TENANT = "default";

const HEADER = "timestamp,score,alert,page\n";

/** Rows without timestamps begin with a Monday. */
const BARE_START_MS = Date.UTC(1970, 0, 5);
const CHUNK_CHARACTERS = 65_536;
const PROGRESS_ROWS = 10_000;

/** Runs a replay; resolves with the exit code: 0 all done, 1 not. Scores go to files or standard output, everything else to standard error. */
export async function runReplay(args: readonly string[], config: () => Config): Promise<number> {
  const progress = new ReplayProgress(process.stderr.isTTY === true);
  try {
    const options = readReplayOptions(args);
    const files = replayFiles(options);
    const environment = fileEnvironment(config());
    for (const [index, file] of files.entries()) {
      progress.begin(`${index + 1} of ${files.length}: ${file.input}`);
      await replayFile(file, options, environment, progress);
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

/** Outcome of a file's rows, by the time of each. Rejects with ReplayError. */
export async function judgeFile(file: ReplayFile, intervalMs: number | undefined, environment: FileEnvironment) {
  const { table, scores, alerts, pages, decisions } = await judgedFile(file, intervalMs, environment, new ReplayProgress(false));
  return { times: Float64Array.from(table.times), scores, alerts, pages, decisions };
}

async function replayFile(file: ReplayFile, { intervalMs, isJson }: ReplayOptions, environment: FileEnvironment, progress: ReplayProgress) {
  const { table, scores, alerts, pages, betweenMs } = await judgedFile(file, intervalMs, environment, progress);
  const output = await openOutput(file.output);
  try {
    const facts = (index: number, page: number) => [scores[index] ?? 0, alerts[index] ?? 0, page] as const;
    await writeRows(output, table, { pages, betweenMs, ...(isJson ? jsonRows(facts) : csvRows(facts)) });
  } finally {
    await close(output);
  }
}

async function judgedFile(file: ReplayFile, intervalMs: number | undefined, environment: FileEnvironment, progress: ReplayProgress) {
  const table = new ReplayTable();
  const train =
    file.train === undefined ? undefined : await readRows(file.train, { intervalMs, startMs: BARE_START_MS }, table, true, progress);
  const startMs = train === undefined ? BARE_START_MS : train.lastMs + (intervalMs ?? 0);
  const { metrics } = await readRows(file.input, { intervalMs, startMs }, table, false, progress);
  if (train !== undefined && train.metrics.length !== metrics.length)
    throw new ReplayError(`${file.input} has ${metrics.length} metrics, but ${file.train} has ${train.metrics.length}`);
  return { table, ...(await judged(table, metrics, environment)) };
}

/** The rows of a file into the table; its columns and the time of its last row. */
async function readRows(
  path: string,
  { intervalMs, startMs }: { readonly intervalMs: number | undefined; readonly startMs: number },
  table: ReplayTable,
  isHistory: boolean,
  progress: ReplayProgress,
) {
  const rows = new CsvRows(path, intervalMs, startMs);
  let lastMs = 0;
  for await (const row of rows.read()) {
    table.take(path, row, isHistory);
    if (!row.isLate) lastMs = row.timeMs;
    progress.row();
  }
  progress.reportLate(path, rows.late);
  return { metrics: rows.columns.metrics, lastMs };
}

/** Alerts and pages of a server with these settings: a run of the backtest, from the first row of the replay to its last. */
async function judged(table: ReplayTable, metrics: readonly string[], { settings, timeZone, ...environment }: FileEnvironment) {
  const times = Float64Array.from(table.times);
  const variant = { settingsOf: () => settings, silences: [], inhibitions: INHIBITIONS, inhibitionRules: NO_INHIBITION_RULES };
  const { offsetMs } = new TimeZoneHours(timeZone);
  const range = { sinceMs: times[0] ?? 0, untilMs: (times.at(-1) ?? 0) + 1 };
  return replayRun(table.series(metrics), times, FILE_FACTS, variant, { ...environment, ...range, offsetMs });
}

/** Form of the output: what stands first, and a row. */
interface RowForm {
  readonly head: string;
  row(timestamp: string, index: number, page: number): string;
}

type RowFacts = (index: number, page: number) => readonly [score: number, alert: number, page: number];

function csvRows(facts: RowFacts): RowForm {
  return { head: HEADER, row: (timestamp, index, page) => `${timestamp},${facts(index, page).join(",")}\n` };
}

function jsonRows(facts: RowFacts): RowForm {
  const row = (timestamp: string, index: number, page: number) => {
    const [score, alert, paged] = facts(index, page);
    return `${JSON.stringify({ timestamp, score, alert, page: paged })}\n`;
  };
  return { head: "", row };
}

/** A row for each of the input; a page stands in the first row of its time, and one that was sent long after it in a row of its own behind the last of them. */
async function writeRows(
  output: Writable,
  { rows, times }: ReplayTable,
  { head, row, pages, betweenMs }: RowForm & Pick<ReplayedRows, "pages" | "betweenMs">,
): Promise<void> {
  let text = head;
  let before = -1;
  for (const [index, { timestamp, timeIndex }] of rows.entries()) {
    const lateMs = betweenMs.get(timeIndex);
    text += row(timestamp, timeIndex, timeIndex === before || lateMs !== undefined ? 0 : (pages[timeIndex] ?? 0));
    if (lateMs !== undefined && rows[index + 1]?.timeIndex !== timeIndex)
      text += row(timeLike(timestamp, times[timeIndex] as number, lateMs), timeIndex, 1);
    before = timeIndex;
    if (text.length <= CHUNK_CHARACTERS) continue;
    await write(output, text);
    text = "";
  }
  await write(output, text);
}

/** A time in the form of the file's, of which one is given as text and in ms. */
function timeLike(text: string, ofMs: number, timeMs: number): string {
  const number = Number(text);
  if (number === ofMs) return String(timeMs);
  if (number * 1000 === ofMs) return String(timeMs / 1000);
  const iso = new Date(timeMs).toISOString();
  return text.includes("T") ? iso : iso.slice(0, 19).replace("T", " ");
}

async function openOutput(path: string | undefined): Promise<Writable> {
  if (path === undefined) return process.stdout;
  try {
    mkdirSync(dirname(path), { recursive: true });
    const stream = createWriteStream(path);
    await once(stream, "open");
    return stream;
  } catch (error) {
    throw new ReplayError(`cannot write ${path}: ${messageOf(error)}`);
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
  reportLate(path: string, late: LateRows | null): void {
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

interface Column {
  readonly times: number[];
  readonly values: number[];
}

/** Rows in order; one that is late is passed over: a server stores late samples and does not judge them. */
class ReplayTable {
  #columns: Column[] = [];
  #samples = 0;
  /** Distinct times of the rows that are judged, and of each row of output its text and the place of its time. */
  readonly times: number[] = [];
  readonly rows: Array<{ readonly timestamp: string; readonly timeIndex: number }> = [];

  /** Takes a row; of the history before the replay it is `isHistory`. Throws ReplayError where there are too many. */
  take(path: string, { isLate, timestamp, timeMs, values }: CsvRow, isHistory: boolean): void {
    if (!isLate) {
      for (const [column, value] of values.entries()) this.#add(column, timeMs, value);
      if (!isHistory && this.times.at(-1) !== timeMs) this.times.push(timeMs);
      if (this.#samples > BACKTEST_FILE_SAMPLES_MAX)
        throw new ReplayError(`${path} has more than ${BACKTEST_FILE_SAMPLES_MAX} values; give a shorter one`);
    }
    if (!isHistory) this.rows.push({ timestamp, timeIndex: this.times.length - 1 });
  }

  series(metrics: readonly string[]): BacktestSeries[] {
    return this.#columns.flatMap(({ times, values }, column): BacktestSeries[] => {
      if (times.length === 0) return [];
      const metricName = metrics[column] as string;
      const name = { tenant: TENANT, environment: "", serviceId: TABLE_SERVICE, metricName, attributes: {} };
      const flags = flagsOfRecord("metric", metricName, {});
      return [{ name, flags, times: Float64Array.from(times), values: Float64Array.from(values) }];
    });
  }

  #add(index: number, timeMs: number, value: number): void {
    this.#columns[index] ??= { times: [], values: [] };
    if (Number.isNaN(value)) return;
    const column = this.#columns[index];
    column.times.push(timeMs);
    column.values.push(value);
    this.#samples++;
  }
}
