// The series of a file for a backtest. Two forms are taken: what `vedette import` takes (CSV with service_id and metric_name, or JSON: several services, attributes,
// counters), and the table of one service that `vedette replay` takes (timestamp,m1,...,mN).
import { closeSync, openSync, readSync } from "node:fs";
import { BACKTEST_FILE_SAMPLES_MAX } from "../../core/config/backtest-limits.ts";
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import type { BacktestSeries } from "../../domain/backtest/history.ts";
import { CountedValues } from "../../domain/history/counted-values.ts";
import { isHistoryHeader } from "../../domain/history/csv-history.ts";
import { type HistorySeries, orderByTime } from "../../domain/history/history-collector.ts";
import { flagsOfRecord } from "../../domain/series/classification.ts";
import { ScopesOfFile } from "../../domain/series/metric-scope.ts";
import { environmentOf } from "../../domain/series/stream-identity.ts";
import { readHistoryFile } from "../import/history-file.ts";
import { formatOf, ImportError } from "../import/import-options.ts";
import { CsvRows } from "../replay/csv-rows.ts";
import { BacktestError, type BacktestOptionsGiven } from "./backtest-options.ts";

export const FILE_TENANT = "default";
/** Service of a table, which names none. */
const TABLE_SERVICE = "file";
/** A header is looked for in so much. */
const HEADER_BYTES_MAX = 65_536;

type Selection = Pick<BacktestOptionsGiven, "intervalMs" | "serviceId" | "metricName" | "environment">;

/** The selected series, ascending by time; `tell` hears what was left out or put in order. Throws BacktestError or ReplayError. */
export async function fileSeries(selection: Selection, file: string, tell: (notice: string) => void): Promise<BacktestSeries[]> {
  const format = formatOf(file);
  if (format === "json" || (format === "csv" && isHistoryHeader(firstLine(file)))) return historySeries(selection, file, format, tell);
  return tableSeries(selection, file, tell);
}

function historySeries(selection: Selection, file: string, format: "csv" | "json", tell: (notice: string) => void): BacktestSeries[] {
  const { series, refused, problems } = readHistory(file, format);
  const [first] = problems;
  if (first !== undefined) tell(`${refused} samples of ${file} are left out, such as ${first.at}: ${first.message}`);
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
  const deltas = Array.from(of.values, (value, place) => counted.add(of.times[place] as number, value, series.starts?.[place]));
  const isCounted = (_: number, place: number) => deltas[place] !== undefined;
  return { ...of, times: of.times.filter(isCounted), values: Float64Array.from(deltas.filter((delta) => delta !== undefined)) };
}

async function tableSeries({ intervalMs, serviceId, metricName }: Selection, file: string, tell: (notice: string) => void) {
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
    tell(`${late.rows} rows of ${file} come late (the first in line ${late.firstLine}); they are put where their times belong`);
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
