// Noise that stays over the bar of layer 1 for some minutes is held where a long baseline decides, now or later, and where others are judged for a series.

import { describe, expect, it } from "vitest";
import { FILE_FACTS } from "../../../src/cli/file-environment.ts";
import { FLAG_COUNTER } from "../../../src/core/layout/stream-record.ts";
import { sentenceText } from "../../../src/domain/anomaly/sentence.ts";
import { runOnce } from "../../../src/domain/backtest/backtest.ts";
import type { BacktestSeries } from "../../../src/domain/backtest/history.ts";
import { UTC_OFFSET } from "../../../src/domain/detection/seasonal/time-zone-hours.ts";
import type { WatchdogOverrides } from "../../../src/domain/detection/watchdog-settings.ts";
import { ServiceModel } from "../../eval/quiet/service-model.ts";
import { MINUTE_MS, START_MS, variant } from "../../support/backtest-rig.ts";

const DAY = 24 * 60;
const SERVICES = 8;

/** Requests of two days of minutes, as what was added in each. */
function requestsOf(number: number, metricName: string, attributes: Readonly<Record<string, string>>): BacktestSeries {
  const model = new ServiceModel(1_000_003 + 7919 * number, undefined);
  let sum = 0;
  const all = Float64Array.from({ length: 2 * DAY }, (_, minute) => {
    model.next(minute);
    const [total] = model.values as unknown as [number];
    const added = total >= sum ? total - sum : total;
    sum = total;
    return added;
  });
  const times = all.map((_, minute) => START_MS + minute * MINUTE_MS);
  const name = { tenant: "t", environment: "", serviceId: `s${number}`, metricName, attributes };
  return { name, flags: FLAG_COUNTER, times: times.subarray(1), values: all.subarray(1) };
}

async function outcomes(series: readonly BacktestSeries[], overrides: WatchdogOverrides = {}) {
  const range = { sinceMs: START_MS + DAY * MINUTE_MS, untilMs: START_MS + 2 * DAY * MINUTE_MS };
  const options = { window: 120, samplesMin: 12, intervalMs: MINUTE_MS, offsetMs: UTC_OFFSET, ...range };
  const decisions = await runOnce(series, FILE_FACTS, variant(overrides), options, () => undefined);
  return {
    pages: decisions.filter(({ outcome }) => outcome === "paged").map(({ explanation }) => sentenceText(explanation)),
    held: decisions.filter(({ suppressedBy }) => suppressedBy === "confirmation").length,
  };
}

describe("noise over the bar for minutes", () => {
  it("pages nobody where an evaluation delay has the long baseline judge later", async () => {
    const services = Array.from({ length: SERVICES }, (_, i) => requestsOf(i, "http.requests_total", {}));
    const { pages, held } = await outcomes(services, { evaluationDelaySeconds: 60 });
    expect(pages).toEqual([]);
    expect(held).toBeGreaterThan(0);
  });

  it("pages nobody for a bucket, whose histogram is judged by its quantiles", async () => {
    const services = Array.from({ length: SERVICES }, (_, i) => requestsOf(i, "http_duration_bucket", { le: "0.5" }));
    const { pages, held } = await outcomes(services);
    expect(pages).toEqual([]);
    expect(held).toBeGreaterThan(0);
  });
});
