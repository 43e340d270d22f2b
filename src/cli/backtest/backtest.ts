// `vedette backtest`: what changed settings would newly page and what no longer, over what a running server has stored or over a file.
// A backtest as people read it at a terminal.
import { serverFetch } from "../../adapters/http/server-fetch.ts";
import { systemClock } from "../../adapters/platform/clock.ts";
import type { BacktestView } from "../../api/backtest-view.ts";
import { BACKTEST_ANSWER_MS_MAX } from "../../core/config/backtest-limits.ts";
import type { Config } from "../../core/config/load-config.ts";
import { causeMessageOf } from "../../core/text/error-text.ts";
import { exitCodeOf, UnreachableError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import { askingHeaders } from "../client/asked-server.ts";
import { fileEnvironment } from "../file-environment.ts";
import { ReplayError } from "../replay/replay-options.ts";
import { backtestFile } from "./backtest-file.ts";
import { type BacktestArguments, BacktestError, readBacktestOptions } from "./backtest-options.ts";

const ROWS_SHOWN = 40;
const PAGES_SHOWN = 10;

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
      options.file === undefined ? await askServer(options) : await backtestFile(options, options.file, fileEnvironment(config()), notify);
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
function notify(notice: string): void {
  process.stderr.write(`vedette backtest: ${notice}\n`);
}

async function askServer(options: BacktestArguments): Promise<BacktestView> {
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
    throw new UnreachableError(`${url} cannot be reached (${causeMessageOf(answer)}); name the server with --url`);
  const text = await answer.text();
  if (answer.status !== 200) throw new BacktestError(`the server answered ${answer.status}: ${text.slice(0, 500)}`);
  return JSON.parse(text) as BacktestView;
}

/** Lines of the answer. */
function backtestLines({
  since,
  until,
  series,
  samples,
  pages,
  findings,
  analyses,
  layers,
  labelled,
  newly,
  no_longer,
  by_service,
}: BacktestView): string[] {
  const lines = [
    `${series} series, ${samples} samples, ${since} to ${until}`,
    `pages: ${pages.before} as it is, ${pages.after} with the changes (${pages.newly} new, ${pages.no_longer} no longer)`,
    `findings as it is: ${countsText(findings.before)}; with the changes: ${countsText(findings.after)}`,
    ...(analyses.before === analyses.after ? [] : [`analyses begun: ${analyses.before} as it is, ${analyses.after} with the changes`]),
    ...labelledLines(labelled),
    ...layers.filter(({ reason }) => reason !== null).map(({ layer, reason }) => `${layer}: ${reason}`),
  ];
  const changed = by_service.filter((row) => row.newly + row.no_longer > 0);
  if (changed.length > 0) lines.push("", row("day", "as is", "changed", "new", "no longer", "service"));
  for (const { day, before, after, newly: more, no_longer: fewer, service_id } of changed.slice(0, ROWS_SHOWN))
    lines.push(row(day, before, after, more, fewer, service_id));
  if (changed.length > ROWS_SHOWN) lines.push(`... and ${changed.length - ROWS_SHOWN} more`);
  lines.push(...pageLines("would newly page", newly, pages.newly), ...pageLines("would no longer page", no_longer, pages.no_longer));
  return lines;
}

function labelledLines({ incidents, false_alarms, before, after }: BacktestView["labelled"]): string[] {
  const found = `labelled incidents found: ${before.found} of ${incidents} as it is, ${after.found} with the changes`;
  const alarms = `pages of labelled false alarms: ${before.false_pages} as it is, ${after.false_pages} with the changes`;
  return [...(incidents === 0 ? [] : [found]), ...(false_alarms === 0 ? [] : [alarms])];
}

function pageLines(title: string, pages: BacktestView["newly"], total: number): string[] {
  if (total === 0) return [];
  const shown = pages
    .slice(0, PAGES_SHOWN)
    .map(
      ({ timestamp, service_id, metric_name, severity, reason, explanation }) =>
        `  ${timestamp} ${service_id} ${metric_name} ${severity} (in the other: ${reason}): ${explanation}`,
    );
  return ["", `${title}:`, ...shown, ...(total > shown.length ? [`  ... and ${total - shown.length} more`] : [])];
}

function row(
  day: string,
  before: string | number,
  after: string | number,
  newly: string | number,
  noLonger: string | number,
  service: string,
): string {
  const [a, b, c, d] = [before, after, newly, noLonger].map((cell) => String(cell).padStart(9));
  return `${day.padEnd(10)} ${a} ${b} ${c} ${d}  ${service}`;
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length === 0 ? "none" : entries.map(([name, count]) => `${count} ${name}`).join(", ");
}
