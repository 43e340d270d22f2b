// `vedette eval FILE|FOLDER --labels FILE`: how well these settings page on somebody's own labelled files, through what the server runs.
import { basename } from "node:path";
import type { Config } from "../../core/config/load-config.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import { figuresOf, type PageFigures, type PageScore, scorePages } from "../../domain/backtest/page-score.ts";
import { CommandError, EXIT, UsageError } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import { tableLines, writeJson } from "../client/table-text.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { fileEnvironment } from "../file-environment.ts";
import { judgeFile } from "../replay/replay.ts";
import { replayFiles } from "../replay/replay-files.ts";
import { ReplayError, readReplayOptions } from "../replay/replay-options.ts";
import { Labels } from "./labels.ts";

const USAGE = "vedette eval FILE|FOLDER --labels FILE [--interval SECONDS] [--json]";

/** Judges and shows. Throws UsageError, CommandError. */
export async function runEval(given: CommandArguments, config: Config): Promise<number> {
  const [source] = given.operands;
  const labelFile = given.text("labels");
  if (source === undefined || labelFile === undefined) throw new UsageError(`name the samples and their labels: ${USAGE}`);
  const labels = new Labels(labelFile);
  const scores = await scoreFiles([source, ...intervalOf(given)], labels, config);
  if (labels.unused.length > 0)
    throw new CommandError(`${labelFile} has incidents of files that are not there: ${labels.unused.slice(0, 5).join(", ")}`);
  const figures = [...scores].map(([name, score]) => [basename(name), figuresOf([score])] as const);
  const all = figuresOf([...scores.values()]);
  if (given.has("json")) writeJson({ files: Object.fromEntries(figures), all });
  else for (const line of tableLines(HEADS, [...figures.map(([name, of]) => row(name, of)), row("all", all)])) writeLine(line);
  return EXIT.ok;
}

function intervalOf(given: CommandArguments): string[] {
  const interval = given.text("interval");
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
      const pageRows = [...pages.keys()].filter((place) => pages[place] === 1);
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
