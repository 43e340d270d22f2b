// `vedette backtest`: what changed settings would newly page and what no longer, over what a running server has stored or over a file.
import { serverFetch } from "../../adapters/http/server-fetch.ts";
import { systemClock } from "../../adapters/platform/clock.ts";
import type { BacktestView } from "../../api/backtest-view.ts";
import { BACKTEST_ANSWER_MS_MAX } from "../../core/config/backtest-limits.ts";
import type { Config } from "../../core/config/load-config.ts";
import { exitCodeOf, UnreachableError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import { askingHeaders } from "../client/asked-server.ts";
import { fileEnvironment } from "../file-environment.ts";
import { ReplayError } from "../replay/replay-options.ts";
import { backtestFile } from "./backtest-file.ts";
import { BacktestError, type BacktestOptionsGiven, readBacktestOptions } from "./backtest-options.ts";
import { backtestLines } from "./backtest-table.ts";

const REQUEST_MS_MAX = BACKTEST_ANSWER_MS_MAX + 5_000;

/** Runs it; resolves with the exit code: 0 done, 1 not, 69 the server does not answer. `config` is read only for a file. */
export async function runBacktest(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  config: () => Config,
): Promise<number> {
  try {
    const options = readBacktestOptions(args, environment, systemClock.wallMs());
    const view =
      options.file === undefined ? await askServer(options) : await backtestFile(options, options.file, fileEnvironment(config()), tell);
    if (options.isJson) writeLine(JSON.stringify(view, null, 2));
    else for (const line of backtestLines(view)) writeLine(line);
    return 0;
  } catch (error) {
    if (!(error instanceof BacktestError || error instanceof ReplayError || error instanceof UnreachableError)) throw error;
    writeError(`vedette backtest: ${error.message}`);
    return exitCodeOf(error);
  }
}

/** Beside the answer, which may be JSON. */
function tell(notice: string): void {
  process.stderr.write(`vedette backtest: ${notice}\n`);
}

async function askServer(options: BacktestOptionsGiven): Promise<BacktestView> {
  const { url, since, until, serviceId, metricName, environment, settings, addedSilences, removedSilences } = options;
  const body = {
    ...(serviceId !== undefined && { service_id: serviceId }),
    ...(metricName !== undefined && { metric_name: metricName }),
    ...(environment !== undefined && { environment }),
    since,
    until,
    settings,
    silences: { add: addedSilences, remove: removedSilences },
  };
  const headers = { "Content-Type": "application/json", ...askingHeaders(options) };
  const request = { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(REQUEST_MS_MAX) };
  const answer = await serverFetch(url, "/api/v1/backtest", request).catch((error: unknown) => error);
  if (!(answer instanceof Response))
    throw new UnreachableError(`${url} cannot be reached (${causeOf(answer)}); name the server with --url`);
  const text = await answer.text();
  if (answer.status !== 200) throw new BacktestError(`the server answered ${answer.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as BacktestView;
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? cause.message : String(cause);
}
