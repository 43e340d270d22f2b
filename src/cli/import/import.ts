// `vedette import FILE`: sends a file of history to a running server, shows how far it is, and goes on where it was when it was broken off.
import { systemClock } from "../../adapters/runtime/clock.ts";
import { IMPORT_FILE_SAMPLES_MAX } from "../../core/config/limits.ts";
import { writeError, writeLine, writeText } from "../terminal.ts";
import { type HistoryFile, readHistoryFile } from "./history-file.ts";
import { ImportError, type ImportOptions, readImportOptions } from "./import-options.ts";
import { ProgressBar, readMark, removeMark, writeMark } from "./import-progress.ts";
import { importRequests } from "./import-requests.ts";
import { ImportSender } from "./import-sender.ts";

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
    tellProblems(history);
    const failed = await sendAll(options, history, isTerminal);
    return history.refused + failed > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof ImportError)) throw error;
    writeError(`vedette import: ${error.message}`);
    return 1;
  }
}

function tellProblems({ refused, problems }: HistoryFile): void {
  if (refused === 0) return;
  writeLine(`${refused} samples are left out:`);
  for (const { at, error, message } of problems.slice(0, PROBLEMS_SHOWN)) writeLine(`  ${at}: ${error}: ${message}`);
  if (refused > PROBLEMS_SHOWN) writeLine("  and others");
}

async function sendAll(options: ImportOptions, history: HistoryFile, isTerminal: boolean): Promise<number> {
  const { url, file, progressFile } = options;
  const mark = { file, url, version: history.version };
  const start = Math.min(history.samples, readMark(progressFile, mark));
  writeLine(`${file}: ${history.samples} samples of ${history.series.length} series to ${url}`);
  if (start > 0) writeLine(`${start} of them are there already: going on from there`);
  const sender = new ImportSender(options, {
    clock: systemClock,
    tellWaiting: (reason) => writeLine(`the server does not take samples now (${reason}); trying again for three minutes`),
  });
  const bar = new ProgressBar({ total: history.samples, isTerminal }, writeText);
  const startMs = systemClock.monotonicMs();
  let failed = 0;
  for (const request of importRequests(history.series, start)) {
    const answer = await sender.send(request);
    failed += answer.failed;
    for (const { at, error, message } of answer.failures.slice(0, 1)) writeLine(`  refused: ${at}: ${error}: ${message}`);
    writeMark(progressFile, { ...mark, samples: request.to });
    bar.show(request.to, ((request.to - start) * 1000) / Math.max(1, systemClock.monotonicMs() - startMs));
  }
  bar.end();
  removeMark(progressFile);
  writeLine(`done: ${history.samples - failed} samples are in, ${failed + history.refused} left out`);
  return failed;
}
