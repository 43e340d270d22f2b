// `vedette eval FILE|FOLDER --labels FILE`: how well these settings page on somebody's own labelled files, through what the server runs.
// Labelled incidents of files: {"file.csv": [[from, to], ...]}, each end a row number from 0 or a moment; a list alone is of the one file that is judged.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { ownMember } from "../../core/collections/own-member.ts";
import { lowerBound } from "../../core/collections/sorted-search.ts";
import type { Config } from "../../core/config/load-config.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import { parseRfc3339 } from "../../core/time/rfc3339.ts";
import { figuresOf, type LabelledRows, type PageFigures, type PageScore, scorePages } from "../../domain/backtest/page-score.ts";
import { CommandError, EXIT, UsageError } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import { tableLines, writeJson } from "../client/table-text.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { fileEnvironment } from "../file-environment.ts";
import { judgeFile } from "../replay/replay.ts";
import { replayFiles } from "../replay/replay-files.ts";
import { ReplayError, readReplayOptions } from "../replay/replay-options.ts";

const USAGE = "vedette eval FILE|FOLDER --labels FILE [--interval SECONDS] [--json]";

/** Judges and shows. Throws UsageError, CommandError. */
export async function runEval(input: CommandArguments, config: Config): Promise<number> {
  const [source] = input.operands;
  const labelFile = input.text("labels");
  if (source === undefined || labelFile === undefined) throw new UsageError(`name the samples and their labels: ${USAGE}`);
  const labels = new Labels(labelFile);
  const scores = await scoreFiles([source, ...intervalOf(input)], labels, config);
  if (labels.unused.length > 0)
    throw new CommandError(`${labelFile} has incidents of files that are not there: ${labels.unused.slice(0, 5).join(", ")}`);
  const figures = [...scores].map(([name, score]) => [basename(name), figuresOf([score])] as const);
  const all = figuresOf([...scores.values()]);
  if (input.has("json")) writeJson({ files: Object.fromEntries(figures), all });
  else for (const line of tableLines(HEADS, [...figures.map(([name, of]) => row(name, of)), row("all", all)])) writeLine(line);
  return EXIT.ok;
}

function intervalOf(input: CommandArguments): string[] {
  const interval = input.text("interval");
  return interval === undefined ? [] : ["--interval", interval];
}

async function scoreFiles(args: readonly string[], labels: Labels, config: Config): Promise<Map<string, PageScore>> {
  const scores = new Map<string, PageScore>();
  try {
    const options = readReplayOptions(args);
    const environment = fileEnvironment(config);
    // Nothing is written: a folder needs some place for scores.
    for (const file of replayFiles({ ...options, out: "." })) {
      const { times, pages } = await judgeFile(file, options.intervalMs, environment);
      const pageRows = [...pages.keys()].filter((index) => pages[index] === 1);
      const days = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / DAY_MS;
      scores.set(file.input, scorePages(pageRows, labels.of(file.input, times), days));
    }
    return scores;
  } catch (error) {
    throw error instanceof ReplayError ? new CommandError(error.message) : error;
  }
}

const HEADS = ["file", "incidents", "found", "pages", "false a day", "recall", "precision", "F1", "rows to the page"];

function row(name: string, { incidents, found, pages, falsePerDay, recall, precision, f1, delayRows }: PageFigures): string[] {
  const ratio = (value: number | null) => (value === null ? "-" : value.toFixed(2));
  return [
    name,
    String(incidents),
    String(found),
    String(pages),
    falsePerDay.toFixed(3),
    ratio(recall),
    ratio(precision),
    f1.toFixed(2),
    delayRows === null ? "-" : String(delayRows),
  ];
}

type Span = readonly [from: number | string, to: number | string];

/** The labels of one file of labels. */
export class Labels {
  readonly #path: string;
  readonly #byFile: Readonly<Record<string, readonly Span[]>> | null;
  readonly #only: readonly Span[] | null;
  readonly #used = new Set<string>();

  /** Throws CommandError where the file is no list of incidents. */
  constructor(path: string) {
    this.#path = path;
    const content = read(path);
    this.#only = Array.isArray(content) ? spansOf(content, path) : null;
    const entries = this.#only === null ? Object.entries(content as object) : [];
    this.#byFile =
      this.#only === null ? Object.fromEntries(entries.map(([name, spans]) => [name, spansOf(spans, `${path}: ${name}`)])) : null;
  }

  /** Incidents of a file whose rows have these times, ascending. Throws CommandError where a span cannot be one of its rows. */
  of(file: string, times: Float64Array): LabelledRows[] {
    const name = [basename(file), basename(file).replace(/\.gz$/i, ""), file].find((each) => ownMember(this.#byFile, each) !== undefined);
    if (name !== undefined) this.#used.add(name);
    const spans = this.#only ?? (name === undefined ? [] : (ownMember(this.#byFile, name) as readonly Span[]));
    return spans.map(([from, to]) => {
      const rows = { from: this.#row(from, times), to: this.#row(to, times) };
      if (rows.to < rows.from)
        throw new CommandError(`${this.#path}: an incident of ${file} ends before it begins: ${JSON.stringify([from, to])}`);
      return rows;
    });
  }

  /** Names that no file has had: most likely the labels of other files. */
  get unused(): string[] {
    return Object.keys(this.#byFile ?? {}).filter((name) => !this.#used.has(name));
  }

  #row(end: number | string, times: Float64Array): number {
    if (typeof end === "number") {
      if (Number.isInteger(end) && end >= 0 && end < times.length) return end;
      throw new CommandError(`${this.#path}: row ${end} is none of the ${times.length} rows, which count from 0`);
    }
    const ms = parseRfc3339(end.includes("T") ? end : `${end.replace(" ", "T")}Z`);
    if (ms === undefined)
      throw new CommandError(`${this.#path}: ${JSON.stringify(end)} is neither a row nor a moment such as 2026-01-31T12:00:00Z`);
    return Math.min(times.length - 1, lowerBound(times, ms));
  }
}

function read(path: string): unknown {
  try {
    const content: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (typeof content === "object" && content !== null) return content;
  } catch (error) {
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`);
  }
  throw new CommandError(`${path} is neither a list of incidents nor lists by file`);
}

function spansOf(value: unknown, where: string): Span[] {
  const isEnd = (end: unknown) => typeof end === "number" || typeof end === "string";
  if (Array.isArray(value) && value.every((span) => Array.isArray(span) && span.length === 2 && span.every(isEnd))) return value as Span[];
  throw new CommandError(`${where} must be a list of [from, to], rows from 0 or moments`);
}
