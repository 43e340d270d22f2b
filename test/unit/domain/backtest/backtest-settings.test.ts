// Every setting that PUT /api/v1/settings/watchdog takes changes what a backtest says.
import { expect, it } from "vitest";
import { overridesOf, SETTING_NAMES, SETTINGS_SOME } from "../../../../src/api/shapes/watchdog-settings.ts";
import { FLAG_COUNTER } from "../../../../src/core/layout/stream-record.ts";
import type { BacktestOutcome } from "../../../../src/domain/backtest/backtest.ts";
import type { BacktestSeries } from "../../../../src/domain/backtest/history.ts";
import { between, runBoth, shaped } from "../../../support/backtest-rig.ts";

interface Case {
  readonly value: unknown;
  readonly series: readonly BacktestSeries[];
  check(outcome: BacktestOutcome): void;
}

const far = (minute: number) => between(240, 245, 15)(minute) + between(600, 605, 40)(minute);
const slight = between(240, 245, 6.1);
const reasons = ({ noLonger }: BacktestOutcome) => [...new Set(noLonger.map(({ reason }) => reason))];

/** A value of each setting that must be seen in the answer. */
const CASES: Readonly<Record<(typeof SETTING_NAMES)[number], Case>> = {
  z_threshold: {
    value: 8,
    series: [shaped({ departure: slight })],
    check: (outcome) => expect([outcome.before, outcome.after, reasons(outcome)]).toEqual([1, 0, ["not_declared"]]),
  },
  rca_cooldown_minutes: {
    value: 1440,
    series: [shaped({ departure: far })],
    check: ({ analysesBefore, analysesAfter, ...outcome }) => {
      expect([analysesBefore, analysesAfter]).toEqual([2, 1]);
      expect(outcome.before).toBe(outcome.after);
    },
  },
  dedup_max_age_minutes: {
    value: 1,
    series: [shaped({ departure: between(240, 300, 15) }), shaped({ metricName: "cpu", seed: 4, departure: between(250, 260, 40) })],
    check: (outcome) => expect(outcome.after).toBeGreaterThan(outcome.before),
  },
  direction: {
    value: "low",
    series: [shaped({ departure: far })],
    check: (outcome) => expect([outcome.before, outcome.after]).toEqual([2, 0]),
  },
  excluded: {
    value: true,
    series: [shaped({ departure: far })],
    check: (outcome) => expect([outcome.before, outcome.after, reasons(outcome)]).toEqual([2, 0, ["not_declared"]]),
  },
  evaluation_delay_seconds: {
    value: 3600,
    series: [shaped({ departure: slight })],
    check: (outcome) => expect([outcome.before, outcome.after, reasons(outcome)]).toEqual([1, 0, ["confirmation"]]),
  },
  minimum_traffic: {
    value: 5000,
    series: [
      shaped({ metricName: "latency", departure: far }),
      shaped({ metricName: "http_requests_total", flags: FLAG_COUNTER, seed: 5 }),
    ],
    check: (outcome) => expect([outcome.before, outcome.after, reasons(outcome)]).toEqual([2, 0, ["minimum_traffic"]]),
  },
};

it("has a case for each of them", () => {
  expect(Object.keys(CASES).sort()).toEqual([...SETTING_NAMES].sort());
  expect(Object.keys(SETTINGS_SOME.shape).sort()).toEqual([...SETTING_NAMES].sort());
});

it.each(SETTING_NAMES)("%s", async (name) => {
  const { value, series, check } = CASES[name];
  const members = SETTINGS_SOME.parse({ [name]: value });
  check(await runBoth(series, overridesOf(members)));
});

it("pages one value over the bar with WATCHDOG_CONFIRMATION=off, and none that is to be confirmed", async () => {
  const all = [shaped({ departure: between(240, 241, 4.5) })];
  expect((await runBoth(all, {})).before).toBe(0);
  expect((await runBoth(all, {}, {}, { confirmation: true })).before).toBe(0);
  expect((await runBoth(all, {}, {}, { confirmation: false })).before).toBe(1);
});
