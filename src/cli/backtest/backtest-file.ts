// A backtest over a file of samples, without a server: the environment's settings before and the given ones after.
// The series of a file for a backtest. Two forms are taken: what `vedette import` takes (CSV with service_id and metric_name, or JSON: several services, attributes,
// counters), and the table of one service that `vedette replay` takes (timestamp,m1,...,mN).

import { closeSync, openSync, readSync } from "node:fs";
import { type BacktestView, backtestView } from "../../api/backtest-view.ts";
import { overridesOf } from "../../api/shapes/watchdog-settings.ts";
import { BACKTEST_FILE_SAMPLES_MAX } from "../../core/config/backtest-limits.ts";
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import { formatRfc3339, parseRfc3339 } from "../../core/time/rfc3339.ts";
import { INHIBITIONS } from "../../domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../domain/alerting/inhibition/inhibition-rule.ts";
import type { LabelMatcher } from "../../domain/alerting/label-matcher.ts";
import type { Silence } from "../../domain/alerting/silence.ts";
import { backtest } from "../../domain/backtest/backtest.ts";
import type { BacktestSeries } from "../../domain/backtest/history.ts";
import { TimeZoneHours } from "../../domain/detection/seasonal/time-zone-hours.ts";
import { effectiveSettings } from "../../domain/detection/watchdog-settings.ts";
import { CountedValues } from "../../domain/history/counted-values.ts";
import { isHistoryHeader } from "../../domain/history/csv-history.ts";
import { type HistorySeries, orderByTime } from "../../domain/history/history-collector.ts";
import { flagsOfRecord } from "../../domain/series/classification.ts";
import { ScopesOfFile } from "../../domain/series/metric-scope.ts";
import { environmentOf } from "../../domain/series/stream-identity.ts";
import { FILE_FACTS, type FileEnvironment } from "../file-environment.ts";
import { readHistoryFile } from "../import/history-file.ts";
import { formatOf, ImportError } from "../import/import-options.ts";
import { CsvRows } from "../replay/csv-rows.ts";
import { type BacktestArguments, BacktestError } from "./backtest-options.ts";

const FILE_TENANT = "default";

/** Service of a table, which names none. */
export const TABLE_SERVICE = "file";

/** A header is looked for in so much. */
const HEADER_BYTES_MAX = 65_536;

/** Runs it; `tell` hears what is not as it was asked for. Throws ReplayError or BacktestError for a file that cannot be read. */
export async function backtestFile(
  options: BacktestArguments,
  file: string,
  environment: FileEnvironment,
  notify: (notice: string) => void,
): Promise<BacktestView> {
  const series = await fileSeries(options, file, notify);
  if (series.length === 0)
    throw new BacktestError(`${file} has no samples of what was selected; see --service, --metric and --environment`);
  const { sinceMs, untilMs } = rangeOf(options, series, file, notify);
  const retained = series.map((each) => before(each, untilMs)).filter(({ times: { length } }) => length > 0);
  const overrides = overridesOf(options.settings);
  const { settings, window, samplesMin, confirmation, intervalMs, timeZone, historyMs } = environment;
  const { offsetMs } = new TimeZoneHours(timeZone);
  const outcome = await backtest(
    retained,
    FILE_FACTS,
    {
      before: { settingsOf: () => settings, silences: [], inhibitions: INHIBITIONS, inhibitionRules: NO_INHIBITION_RULES },
      after: {
        settingsOf: () => effectiveSettings(settings, overrides),
        silences: options.addedSilences.map(silenceOf),
        inhibitions: INHIBITIONS,
        inhibitionRules: NO_INHIBITION_RULES,
      },
    },
    { window, samplesMin, confirmation, intervalMs, offsetMs, sinceMs, untilMs, historyMs },
    () => Promise.resolve(),
  );
  return backtestView(outcome, {
    sinceMs,
    untilMs,
    series: retained.length,
    samples: retained.reduce((sum, each) => sum + each.times.length, 0),
  });
}

/** The part of the range asked for that the file has samples of: behind its last one nothing is known, and the years before its first are empty. */
function rangeOf({ since, until }: BacktestArguments, series: readonly BacktestSeries[], file: string, notify: (notice: string) => void) {
  const firstMs = series.reduce((least, { times }) => Math.min(least, times[0] as number), Number.POSITIVE_INFINITY);
  const endMs = series.reduce((most, { times }) => Math.max(most, times.at(-1) as number), Number.NEGATIVE_INFINITY) + 1;
  const [askedMs, askedEndMs] = [timeOf(since) ?? firstMs, timeOf(until) ?? endMs];
  const range = { sinceMs: Math.max(askedMs, firstMs), untilMs: Math.min(askedEndMs, endMs) };
  const covered = `${file} has samples from ${formatRfc3339(firstMs)} to ${formatRfc3339(endMs - 1)}`;
  if (range.sinceMs >= range.untilMs) throw new BacktestError(`${covered}; --since and --until leave none of them`);
  if (range.sinceMs > askedMs || range.untilMs < askedEndMs) notify(`${covered}; the rest of the range that was asked for is left out`);
  return range;
}

function before(series: BacktestSeries, untilMs: number): BacktestSeries {
  let end = series.times.length;
  while (end > 0 && (series.times[end - 1] as number) >= untilMs) end--;
  return { ...series, times: series.times.subarray(0, end), values: series.values.subarray(0, end) };
}

function silenceOf(input: BacktestArguments["addedSilences"][number], number: number): Silence {
  const when = { kind: "once", startsAtMs: timeOf(input.starts_at) as number, endsAtMs: timeOf(input.ends_at) as number } as const;
  return { id: `added ${number + 1}`, tenant: FILE_TENANT, matchers: input.matchers as readonly LabelMatcher[], when, comment: "" };
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseRfc3339(text);
}

type Selection = Pick<BacktestArguments, "intervalMs" | "serviceId" | "metricName" | "environment">;

/** The selected series, ascending by time; `tell` hears what was left out or put in order. Throws BacktestError or ReplayError. */
async function fileSeries(selection: Selection, file: string, notify: (notice: string) => void): Promise<BacktestSeries[]> {
  const format = formatOf(file);
  if (format === "json" || (format === "csv" && isHistoryHeader(firstLine(file)))) return historySeries(selection, file, format, notify);
  return tableSeries(selection, file, notify);
}

function historySeries(selection: Selection, file: string, format: "csv" | "json", notify: (notice: string) => void): BacktestSeries[] {
  const { series, refused, problems } = readHistory(file, format);
  const [first] = problems;
  if (first !== undefined) notify(`${refused} samples of ${file} are left out, such as ${first.at}: ${first.message}`);
  const { serviceId, metricName, environment } = selection;
  const scopes = new ScopesOfFile();
  return series
    .map((one) => seriesOfHistory(one, scopes))
    .filter(({ name, times }) => {
      const isOfService = serviceId === undefined || name.serviceId === serviceId;
      const isOfMetric = metricName === undefined || name.metricName === metricName;
      return isOfService && isOfMetric && (environment === undefined || name.environment === environment) && times.length > 0;
    });
}

/** A backtest is of any time: unlike what is to be stored, its samples may be older than ten years. */
function readHistory(file: string, format: "csv" | "json") {
  const limits = { nowMs: Date.UTC(2100, 0, 1), ageMsMax: Number.POSITIVE_INFINITY, samplesMax: BACKTEST_FILE_SAMPLES_MAX };
  try {
    return readHistoryFile({ file, format }, limits);
  } catch (error) {
    throw error instanceof ImportError ? new BacktestError(error.message) : error;
  }
}

function seriesOfHistory(series: HistorySeries, scopes: ScopesOfFile): BacktestSeries {
  const { serviceId, metricName, times, values, length } = series;
  const attributes = scopes.attributesOf(serviceId, series.attributes, series.scope);
  const name = { tenant: FILE_TENANT, environment: environmentOf(attributes), serviceId, metricName, attributes };
  const flags = flagsOfRecord("metric", metricName, attributes);
  const of = { name, flags, times: times.slice(0, length), values: values.slice(0, length) };
  if ((flags & FLAG_COUNTER) === 0) return of;
  const counted = new CountedValues();
  const restarts = new Set<number>();
  const deltas = Array.from(of.values, (value, index) => {
    const timeMs = of.times[index] as number;
    const delta = counted.add(timeMs, value, series.starts?.[index]);
    if (counted.isRestart) restarts.add(timeMs);
    return delta;
  });
  const isCounted = (_: number, index: number) => deltas[index] !== undefined;
  const added = Float64Array.from(deltas.filter((delta) => delta !== undefined));
  return { ...of, times: of.times.filter(isCounted), values: added, restarts };
}

async function tableSeries({ intervalMs, serviceId, metricName }: Selection, file: string, notify: (notice: string) => void) {
  const rows = new CsvRows(file, intervalMs);
  const columns: Array<{ times: number[]; values: number[] }> = [];
  let samples = 0;
  for await (const { timeMs, values } of rows.read()) {
    for (const [column, value] of values.entries()) {
      columns[column] ??= { times: [], values: [] };
      if (Number.isNaN(value)) continue;
      columns[column].times.push(timeMs);
      columns[column].values.push(value);
      samples++;
    }
    if (samples > BACKTEST_FILE_SAMPLES_MAX)
      throw new BacktestError(`${file} has more than ${BACKTEST_FILE_SAMPLES_MAX} values; give a shorter one`);
  }
  const { late } = rows;
  if (late !== null)
    notify(`${late.rows} rows of ${file} come late (the first in line ${late.firstLine}); they are put where their times belong`);
  return columns.flatMap(({ times, values }, column): BacktestSeries[] => {
    const metric = rows.columns.metrics[column] as string;
    if (times.length === 0 || (metricName !== undefined && metric !== metricName)) return [];
    const name = { tenant: FILE_TENANT, environment: "", serviceId: serviceId ?? TABLE_SERVICE, metricName: metric, attributes: {} };
    const ordered = { times: Float64Array.from(times), values: Float64Array.from(values), length: times.length };
    if (late !== null) orderByTime(ordered);
    return [{ name, flags: flagsOfRecord("metric", metric, {}), times: ordered.times, values: ordered.values }];
  });
}

/** "" where the file cannot be read: its reader says so. */
function firstLine(file: string): string {
  try {
    const handle = openSync(file, "r");
    try {
      const head = Buffer.alloc(HEADER_BYTES_MAX);
      const text = head.toString("utf8", 0, readSync(handle, head));
      return text.slice(0, text.search(/\r?\n|$/));
    } finally {
      closeSync(handle);
    }
  } catch {
    return "";
  }
}
