// A day of minutes for backtests, and the two runs over it.

import { FILE_FACTS } from "../../src/cli/file-environment.ts";
import { INHIBITIONS } from "../../src/domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../src/domain/alerting/inhibition/inhibition-rule.ts";
import type { Silence } from "../../src/domain/alerting/silence.ts";
import { type BacktestOutcome, backtest, runOnce } from "../../src/domain/backtest/backtest.ts";
import { type BacktestFacts, type BacktestSeries, type BacktestVariant, NO_FACTS } from "../../src/domain/backtest/history.ts";
import { UTC_OFFSET } from "../../src/domain/detection/seasonal/time-zone-hours.ts";
import { effectiveSettings, environmentSettings, type WatchdogOverrides } from "../../src/domain/detection/watchdog-settings.ts";
import { generator } from "./generator.ts";

export const START_MS = Date.UTC(2026, 0, 5);
export const MINUTE_MS = 60_000;
const MINUTES = 24 * 60;

/** Of a series of `minutes` minutes. */
export interface Shape {
  readonly serviceId?: string;
  readonly metricName?: string;
  readonly environment?: string;
  readonly flags?: number;
  readonly seed?: number;
  readonly minutes?: number;
  /** What is added at a minute; noise is a quarter of itself there. */
  readonly departure?: (minute: number) => number;
}

/** Noise of standard deviation 1 around 100, within +-2, so that nothing but what is planted comes near a threshold. */
export function shaped({
  serviceId = "a",
  metricName = "load",
  environment = "",
  flags = 0,
  seed = 3,
  minutes = MINUTES,
  departure,
}: Shape): BacktestSeries {
  const { normal } = generator(seed);
  const times = Float64Array.from({ length: minutes }, (_, minute) => START_MS + minute * MINUTE_MS);
  const values = times.map((_, minute) => {
    const more = departure?.(minute) ?? 0;
    return 100 + (more === 0 ? 1 : 0.25) * Math.max(-2, Math.min(2, normal())) + more;
  });
  return { name: { tenant: "t", environment, serviceId, metricName, attributes: {} }, flags, times, values };
}

/** So much in these minutes, else nothing. */
export const between = (from: number, to: number, amount: number) => (minute: number) => (minute >= from && minute < to ? amount : 0);

export const variant = (overrides: WatchdogOverrides = {}, silences: readonly Silence[] = []): BacktestVariant => ({
  settingsOf: () => effectiveSettings(environmentSettings({}), overrides),
  silences,
  inhibitions: INHIBITIONS,
  inhibitionRules: NO_INHIBITION_RULES,
});

/** What is decided of series that are first seen at START_MS, in the minutes from there on. */
export function decisionsOf(series: readonly BacktestSeries[], minutes: number) {
  const untilMs = START_MS + minutes * MINUTE_MS;
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, sinceMs: START_MS, untilMs };
  return runOnce(series, { ...FILE_FACTS, firstSeenMs: () => START_MS }, variant(), options, () => undefined);
}

/** Those of which people are told. */
export async function pagesOf(series: readonly BacktestSeries[], minutes: number) {
  return (await decisionsOf(series, minutes)).filter(({ outcome }) => outcome === "paged");
}

/** Both runs; pages of the first two hours are not counted. */
export function runBoth(
  all: readonly BacktestSeries[],
  after: WatchdogOverrides | BacktestVariant,
  facts: Partial<BacktestFacts> = {},
  more: { readonly sinceMinute?: number; readonly before?: BacktestVariant; readonly confirmation?: boolean } = {},
): Promise<BacktestOutcome> {
  const { sinceMinute = 120, before = variant(), confirmation } = more;
  const newestMs = Math.max(...all.map(({ times }) => times[times.length - 1] as number));
  const sinceMs = START_MS + sinceMinute * MINUTE_MS;
  const options = { window: 120, samplesMin: 12, confirmation, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, sinceMs };
  const changed = "silences" in after ? after : variant(after);
  const variants = { before, after: changed };
  return backtest(all, { ...NO_FACTS, ...facts }, variants, { ...options, untilMs: newestMs + 1 }, () => Promise.resolve());
}
