// What takes part in a backtest besides layer 1: maturity, feedback, inhibitions, rules over services, services' models.
import { describe, expect, it } from "vitest";
import { FLAG_COUNTER } from "../../../src/core/layout/stream-record.ts";
import { compileInhibition } from "../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import type { ActiveInhibitions } from "../../../src/domain/alerting/paging/paging-sources.ts";
import { PatternCache } from "../../../src/domain/alerting/pattern/pattern-cache.ts";
import type { BacktestOutcome } from "../../../src/domain/backtest/backtest.ts";
import type { BacktestLayer, BacktestSeries } from "../../../src/domain/backtest/history.ts";
import { trainService } from "../../../src/domain/detection/multivariate/service-training.ts";
import { between, MINUTE_MS, runBoth, START_MS, shaped, variant } from "../../support/backtest-rig.ts";
import { generator } from "../../support/generator.ts";
import { NO_INHIBITIONS } from "../../support/paging-rig.ts";

const HOUR_MS = 60 * MINUTE_MS;
const pagesOf = (outcome: BacktestOutcome) => outcome.noLonger.map(({ page: { detector, serviceId } }) => `${detector} ${serviceId}`);
const layer = (outcome: BacktestOutcome, name: BacktestLayer) => outcome.layers.find((each) => each.layer === name);
const EXCLUDED = { excluded: true };

describe("what moves thresholds", () => {
  const near = [shaped({ departure: between(240, 245, 3.8) })];

  const said = (count: number, atMs: number) => ({
    opinions: () =>
      Array.from({ length: count }, (_, at) => ({ anomalyId: `${at}`, family: "metric", opinion: "false_positive", atMs }) as const),
  });

  it("is the age of a service: a younger one has a lower bar", async () => {
    const heldBack = async (firstSeenMs: number, departure: number) => {
      const facts = { ...said(5, START_MS), firstSeenMs: () => firstSeenMs };
      return (await runBoth([shaped({ departure: between(240, 245, departure) })], {}, facts)).findingsBefore.feedback ?? 0;
    };
    // The bar of a mature service lies at 4.5 then, that of a young one at 4.05; somewhere between them lies one of these.
    const departures = [3.4, 3.6, 3.8, 4, 6];
    const young = await Promise.all(departures.map((departure) => heldBack(START_MS, departure)));
    const mature = await Promise.all(departures.map((departure) => heldBack(START_MS - 8 * 24 * HOUR_MS, departure)));
    expect(young.every((count, at) => count <= (mature[at] as number))).toBe(true);
    expect(young).not.toEqual(mature);
  });

  it("is what people had said by then, and not what they said later", async () => {
    const before = await runBoth(near, {}, said(5, START_MS));
    expect(before.findingsBefore.feedback).toBeGreaterThan(0);
    const after = await runBoth(near, {}, said(5, START_MS + 300 * MINUTE_MS));
    expect(after.findingsBefore.feedback).toBeUndefined();
    expect(after.findingsBefore).not.toEqual(before.findingsBefore);
  });

  it("raises the bars of the long baselines with that of samples, as it does live", async () => {
    const shift = shaped({ departure: between(600, 1440, 6) });
    const { before, after, noLonger } = await runBoth([shift], { zThreshold: 20 });
    expect([before, after, noLonger.length]).toEqual([1, 0, 1]);
  });
});

describe("rules over services", () => {
  it("tell of a service that falls silent, and not where it is excluded", async () => {
    const silent = shaped({ minutes: 600 });
    const other = shaped({ serviceId: "b", seed: 4 });
    const outcome = await runBoth([silent, other], EXCLUDED);
    // Once when it is news; that it becomes high is an update.
    expect(pagesOf(outcome)).toEqual(["stale a"]);
    expect(outcome.noLonger[0]?.reason).toBe("exclusion");
    expect(outcome.noLonger[0]?.page.atMs).toBe(START_MS + (599 + 6) * MINUTE_MS);
    expect(layer(outcome, "stale")).toEqual({ layer: "stale", evaluated: 2, reason: null });
  });

  it("tell of a series that runs full against its declared limit", async () => {
    const series: BacktestSeries = { ...shaped({ metricName: "orders.open" }), flags: 0 };
    series.values.set(series.values.map((value, minute) => value + (minute < 720 ? 0 : 0.8 * (minute - 720))));
    const facts = { limitFor: () => ({ value: 800, unit: "orders" }) };
    const outcome = await runBoth([series], EXCLUDED, facts);
    expect(pagesOf(outcome)).toContain("saturation a");
    expect(layer(outcome, "saturation")?.evaluated).toBe(1);
    const without = await runBoth([series], EXCLUDED);
    expect(pagesOf(without)).not.toContain("saturation a");
    const counter = await runBoth([{ ...series, flags: FLAG_COUNTER }], EXCLUDED, facts);
    expect(layer(counter, "saturation")?.evaluated).toBe(0);
  });

  it("tell of an SLO that burns its budget", async () => {
    const of = { tenant: "t", environment: "", serviceId: "a", metricName: "availability", objective: 0.99 };
    const sloRecords = Array.from({ length: 720 }, (_, minute) => ({
      ...of,
      timeMs: START_MS + minute * MINUTE_MS,
      ratio: minute >= 300 && minute < 400 ? 0.5 : 1,
    }));
    const outcome = await runBoth([shaped({})], EXCLUDED, { sloRecords });
    expect(pagesOf(outcome)).toEqual(["slo_burn a"]);
    expect(layer(outcome, "slo_burn")).toEqual({ layer: "slo_burn", evaluated: 1, reason: null });
  });

  it("take services that fail together for one cascade, which goes on under the identity of the first that has paged", async () => {
    const services = ["a", "b", "c"].map((serviceId, place) =>
      shaped({ serviceId, seed: 10 + place, departure: between(600 + place, 630, 60) }),
    );
    const calls = async () => [
      { caller: "c", callee: "b" },
      { caller: "b", callee: "a" },
    ];
    const outcome = await runBoth(services, EXCLUDED, { calls });
    expect(pagesOf(outcome)).toEqual(["z_score a", "z_score b", "z_score c"]);
    expect(outcome.findingsBefore.dedup).toBeGreaterThan(0);
    expect(layer(outcome, "cascade")).toMatchObject({ evaluated: 3, reason: null });
    expect(await runBoth(services, {}, {})).toMatchObject({
      findingsBefore: expect.not.objectContaining({ inhibited: expect.anything() }),
    });
  });
});

it("holds back what is inhibited, by the rules of each run", async () => {
  const all = [shaped({ departure: between(300, 310, 15) }), shaped({ serviceId: "b", seed: 4, departure: between(300, 310, 15) })];
  const inhibitions: ActiveInhibitions = {
    inhibited: (_tenant, labels) => (labels.service_id === "b" ? { id: "1", comment: "" } : undefined),
  };
  const outcome = await runBoth(all, { ...variant(), inhibitions }, {}, { before: { ...variant(), inhibitions: NO_INHIBITIONS } });
  expect(outcome.noLonger.map(({ page, reason }) => `${page.serviceId} ${reason}`)).toEqual(["b inhibited"]);
});

it("goes by people's inhibition rules", async () => {
  const all = [shaped({ departure: between(300, 310, 15) }), shaped({ serviceId: "b", seed: 4, departure: between(301, 310, 15) })];
  const rule = compileInhibition(
    {
      id: "1",
      tenant: "t",
      sourceMatchers: [{ name: "service_id", operator: "=", value: "a" }],
      targetMatchers: [{ name: "service_id", operator: "=", value: "b" }],
      equal: ["environment"],
      comment: "",
    },
    new PatternCache(),
  );
  const outcome = await runBoth(all, { ...variant(), inhibitionRules: { rulesOf: () => [rule] } });
  expect(outcome.noLonger.map(({ page, reason }) => `${page.serviceId} ${reason}`)).toEqual(["b inhibited"]);
  expect(outcome.newly).toEqual([]);
});

describe("a service's model", () => {
  const { normal } = generator(9);
  /** Three metrics that go together, until one leaves the others. */
  const together = (): BacktestSeries[] => {
    const names = ["cpu", "load", "threads"];
    const all = names.map((metricName, place) => shaped({ metricName, seed: place + 1, minutes: 1440 }));
    for (let minute = 0; minute < 1440; minute++) {
      const common = 10 * Math.sin(minute / 20) + normal();
      for (const [place, { values }] of all.entries()) {
        const breaks = place === 2 && minute >= 1200 && minute < 1230;
        values[minute] = 100 + (breaks ? -1 : 1) * common + 0.1 * normal();
      }
    }
    return all;
  };
  const train = async (job: Parameters<typeof trainService>[0]) => trainService(job);

  it("finds what no metric shows alone, with the history before the beginning", async () => {
    const outcome = await runBoth(together(), EXCLUDED, { train }, { sinceMinute: 720 });
    expect(layer(outcome, "isolation_forest")).toEqual({ layer: "isolation_forest", evaluated: 1, reason: null });
    const found = Object.values(outcome.findingsBefore).reduce((sum, count) => sum + count, 0);
    const without = await runBoth(together(), EXCLUDED, {}, { sinceMinute: 720 });
    expect(found).toBeGreaterThan(Object.values(without.findingsBefore).reduce((sum, count) => sum + count, 0));
    expect(layer(without, "isolation_forest")?.reason).toContain("no model is trained");
  });

  it("says that it is learning where there are too few vectors", async () => {
    const short = together().map((series) => ({ ...series, times: series.times.slice(0, 200), values: series.values.slice(0, 200) }));
    const outcome = await runBoth(short, EXCLUDED, { train });
    expect(layer(outcome, "isolation_forest")).toMatchObject({ evaluated: 0, reason: "1 services have fewer than 256 vectors" });
  });
});
