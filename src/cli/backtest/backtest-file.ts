// A backtest over a file of samples, without a server: the environment's settings before and the given ones after.
import { type BacktestView, backtestView } from "../../api/backtest-view.ts";
import { overridesOf } from "../../api/shapes/watchdog-settings.ts";
import { formatRfc3339, parseRfc3339 } from "../../core/time/rfc3339.ts";
import { INHIBITIONS } from "../../domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../domain/alerting/inhibition/inhibition-rule.ts";
import type { LabelMatcher } from "../../domain/alerting/label-matcher.ts";
import type { Silence } from "../../domain/alerting/silence.ts";
import { backtest } from "../../domain/backtest/backtest.ts";
import type { BacktestSeries } from "../../domain/backtest/history.ts";
import { TimeZoneHours } from "../../domain/detection/seasonal/time-zone-hours.ts";
import { effectiveSettings } from "../../domain/detection/watchdog-settings.ts";
import { FILE_FACTS, type FileEnvironment } from "../file-environment.ts";
import { BacktestError, type BacktestOptionsGiven } from "./backtest-options.ts";
import { FILE_TENANT, fileSeries } from "./file-series.ts";

/** Runs it; `tell` hears what is not as it was asked for. Throws ReplayError or BacktestError for a file that cannot be read. */
export async function backtestFile(
  options: BacktestOptionsGiven,
  file: string,
  environment: FileEnvironment,
  tell: (notice: string) => void,
): Promise<BacktestView> {
  const series = await fileSeries(options, file, tell);
  if (series.length === 0)
    throw new BacktestError(`${file} has no samples of what was selected; see --service, --metric and --environment`);
  const { sinceMs, untilMs } = rangeOf(options, series, file, tell);
  const kept = series.map((each) => before(each, untilMs)).filter(({ times: { length } }) => length > 0);
  const overrides = overridesOf(options.settings);
  const { settings, window, samplesMin, confirmation, intervalMs, timeZone, historyMs } = environment;
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
    { window, samplesMin, confirmation, intervalMs, offsetMs, sinceMs, untilMs, historyMs },
    () => Promise.resolve(),
  );
  return backtestView(outcome, { sinceMs, untilMs, series: kept.length, samples: kept.reduce((sum, each) => sum + each.times.length, 0) });
}

/** The part of the range asked for that the file has samples of: behind its last one nothing is known, and the years before its first are empty. */
function rangeOf({ since, until }: BacktestOptionsGiven, series: readonly BacktestSeries[], file: string, tell: (notice: string) => void) {
  const firstMs = series.reduce((least, { times }) => Math.min(least, times[0] as number), Number.POSITIVE_INFINITY);
  const endMs = series.reduce((most, { times }) => Math.max(most, times.at(-1) as number), Number.NEGATIVE_INFINITY) + 1;
  const [askedMs, askedEndMs] = [timeOf(since) ?? firstMs, timeOf(until) ?? endMs];
  const range = { sinceMs: Math.max(askedMs, firstMs), untilMs: Math.min(askedEndMs, endMs) };
  const held = `${file} has samples from ${formatRfc3339(firstMs)} to ${formatRfc3339(endMs - 1)}`;
  if (range.sinceMs >= range.untilMs) throw new BacktestError(`${held}; --since and --until leave none of them`);
  if (range.sinceMs > askedMs || range.untilMs < askedEndMs) tell(`${held}; the rest of the range that was asked for is left out`);
  return range;
}

function before(series: BacktestSeries, untilMs: number): BacktestSeries {
  let end = series.times.length;
  while (end > 0 && (series.times[end - 1] as number) >= untilMs) end--;
  return { ...series, times: series.times.subarray(0, end), values: series.values.subarray(0, end) };
}

function silenceOf(given: BacktestOptionsGiven["addedSilences"][number], number: number): Silence {
  const when = { kind: "once", startsAtMs: timeOf(given.starts_at) as number, endsAtMs: timeOf(given.ends_at) as number } as const;
  return { id: `added ${number + 1}`, tenant: FILE_TENANT, matchers: given.matchers as readonly LabelMatcher[], when, comment: "" };
}

function timeOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : parseRfc3339(text);
}
