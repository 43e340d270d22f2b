// A backtest over a file of samples, without a server: one service with its metrics, the environment's settings before and the given ones after.
import { type BacktestView, backtestView } from "../../api/backtest-view.ts";
import { overridesOf } from "../../api/shapes/watchdog-settings.ts";
import { parseRfc3339 } from "../../core/base/rfc3339.ts";
import { BACKTEST_FILE_SAMPLES_MAX } from "../../core/config/backtest-limits.ts";
import { INHIBITIONS } from "../../domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../domain/alerting/inhibition/inhibition-rule.ts";
import type { LabelMatcher } from "../../domain/alerting/label-matcher.ts";
import type { Silence } from "../../domain/alerting/silence.ts";
import { backtest } from "../../domain/backtest/backtest.ts";
import { type BacktestFacts, type BacktestSeries, NO_FACTS } from "../../domain/backtest/history.ts";
import { trainService } from "../../domain/detection/multivariate/service-training.ts";
import { TimeZoneHours } from "../../domain/detection/seasonal/time-zone-hours.ts";
import { effectiveSettings, type WatchdogSettings } from "../../domain/detection/watchdog-settings.ts";
import { flagsOfRecord } from "../../domain/series/classification.ts";
import { CsvRows } from "../replay/csv-rows.ts";
import { BacktestError, type BacktestOptionsGiven } from "./backtest-options.ts";

const TENANT = "default";

export interface FileEnvironment {
  readonly settings: WatchdogSettings;
  /** WATCHDOG_WINDOW and WATCHDOG_MIN_SAMPLES. */
  readonly window: number;
  readonly samplesMin: number;
  /** WATCHDOG_INTERVAL_SECONDS in ms, and DETECTION_TIMEZONE. */
  readonly intervalMs: number;
  readonly timeZone: string;
}

/** A file tells of one service and its metrics, and of nothing else. */
const FILE_FACTS: BacktestFacts = {
  ...NO_FACTS,
  train: async (job) => trainService(job),
  leftOut: { cascade: "a file tells of one service" },
};

/** Runs it. Throws ReplayError for a file that cannot be read. */
export async function backtestFile(options: BacktestOptionsGiven, file: string, environment: FileEnvironment): Promise<BacktestView> {
  const series = await readSeries(options, file);
  const times = series.flatMap((each) => [each.times[0] as number, each.times[each.times.length - 1] as number]);
  const sinceMs = timeOf(options.since) ?? times.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const untilMs = timeOf(options.until) ?? times.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY) + 1;
  const kept = series.map((each) => before(each, untilMs)).filter(({ times: { length } }) => length > 0);
  const overrides = overridesOf(options.settings);
  const { settings, window, samplesMin, intervalMs, timeZone } = environment;
  const { offsetMs } = new TimeZoneHours(timeZone);
  const outcome = await backtest(
    kept,
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
    { window, samplesMin, intervalMs, offsetMs, sinceMs, untilMs },
    () => Promise.resolve(),
  );
  return backtestView(outcome, { sinceMs, untilMs, series: kept.length, samples: kept.reduce((sum, each) => sum + each.times.length, 0) });
}

async function readSeries({ intervalMs, serviceId = "file", metricName }: BacktestOptionsGiven, file: string): Promise<BacktestSeries[]> {
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
  return columns.flatMap(({ times, values }, column) => {
    const metric = rows.columns.metrics[column] as string;
    if (times.length === 0 || (metricName !== undefined && metric !== metricName)) return [];
    const name = { tenant: TENANT, environment: "", serviceId, metricName: metric, attributes: {} };
    return [{ name, flags: flagsOfRecord("metric", metric, {}), times: Float64Array.from(times), values: Float64Array.from(values) }];
  });
}

function before(series: BacktestSeries, untilMs: number): BacktestSeries {
  let end = series.times.length;
  while (end > 0 && (series.times[end - 1] as number) >= untilMs) end--;
  return { ...series, times: series.times.subarray(0, end), values: series.values.subarray(0, end) };
}

function silenceOf(given: BacktestOptionsGiven["addedSilences"][number], number: number): Silence {
  const when = { kind: "once", startsAtMs: timeOf(given.starts_at) as number, endsAtMs: timeOf(given.ends_at) as number } as const;
  return { id: `added ${number + 1}`, tenant: TENANT, matchers: given.matchers as readonly LabelMatcher[], when, comment: "" };
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseRfc3339(text);
}
