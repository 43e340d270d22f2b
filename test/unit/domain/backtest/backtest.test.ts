import { describe, expect, it } from "vitest";
import { INHIBITIONS } from "../../../../src/domain/alerting/inhibition/built-in-inhibitions.ts";
import { NO_INHIBITION_RULES } from "../../../../src/domain/alerting/inhibition/inhibition-rule.ts";
import type { Silence } from "../../../../src/domain/alerting/silence.ts";
import { type BacktestOutcome, backtest } from "../../../../src/domain/backtest/backtest.ts";
import { type BacktestFacts, type BacktestSeries, type BacktestVariant, NO_FACTS } from "../../../../src/domain/backtest/history.ts";
import { UTC_OFFSET } from "../../../../src/domain/detection/seasonal/time-zone-hours.ts";
import { effectiveSettings, environmentSettings, type WatchdogOverrides } from "../../../../src/domain/detection/watchdog-settings.ts";
import { generator } from "../../../support/generator.ts";

const START_MS = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;
const HOURS = 60;

/** Noise of standard deviation 1 around 100, with departures of so many for five minutes at these hours. */
function series(serviceId: string, departures: Readonly<Record<number, number>>, seed = 3): BacktestSeries {
  const { normal } = generator(seed);
  const count = 24 * HOURS;
  const times = Float64Array.from({ length: count }, (_, i) => START_MS + i * MINUTE_MS);
  // Within +-2, so that nothing but what is planted comes near a threshold.
  const values = times.map((_, i) => {
    const departure = i % HOURS < 5 ? (departures[Math.floor(i / HOURS)] ?? 0) : 0;
    return 100 + (departure === 0 ? 1 : 0.25) * Math.max(-2, Math.min(2, normal())) + departure;
  });
  const name = { tenant: "t", environment: "", serviceId, metricName: "load", attributes: {} };
  return { name, flags: 0, times, values };
}

const variant = (overrides: WatchdogOverrides = {}, silences: readonly Silence[] = []): BacktestVariant => ({
  settingsOf: () => effectiveSettings(environmentSettings({}), overrides),
  silences,
  inhibitions: INHIBITIONS,
  inhibitionRules: NO_INHIBITION_RULES,
});

const silence = (startHour: number, endHour: number, service: string): Silence => ({
  id: `${startHour}`,
  tenant: "t",
  matchers: [{ name: "service_id", operator: "=", value: service }],
  when: { kind: "once", startsAtMs: START_MS + startHour * HOURS * MINUTE_MS, endsAtMs: START_MS + endHour * HOURS * MINUTE_MS },
  comment: "",
});

const run = (
  all: readonly BacktestSeries[],
  before: BacktestVariant,
  after: BacktestVariant,
  sinceHour = 2,
  facts: BacktestFacts = NO_FACTS,
): Promise<BacktestOutcome> => {
  const options = {
    window: 120,
    samplesMin: 12,
    intervalMs: MINUTE_MS,
    offsetMs: UTC_OFFSET,
    sinceMs: START_MS + sinceHour * HOURS * MINUTE_MS,
  };
  return backtest(all, facts, { before, after }, { ...options, untilMs: START_MS + 24 * HOURS * MINUTE_MS }, () => Promise.resolve());
};

const hours = (pages: BacktestOutcome["newly"]) =>
  pages.map(({ page }) => `${page.serviceId} ${((page.atMs - START_MS) / MINUTE_MS / HOURS) | 0}`);

describe("a backtest", () => {
  const services = [series("a", { 4: 7, 10: 60 }), series("b", { 7: 60 }, 4), series("c", { 16: 7 }, 5)];

  it("of the same settings differs in nothing", async () => {
    const outcome = await run(services, variant(), variant());
    expect(outcome).toMatchObject({ newly: [], noLonger: [] });
    expect(outcome.before).toBeGreaterThanOrEqual(4);
    expect(outcome.after).toBe(outcome.before);
    expect(outcome.findingsAfter).toEqual(outcome.findingsBefore);
  });

  it("of a higher threshold no longer pages what lies between the two", async () => {
    const outcome = await run(services, variant(), variant({ zThreshold: 8 }));
    expect(hours(outcome.noLonger)).toEqual(["a 4", "c 16"]);
    expect(outcome.noLonger.map(({ reason }) => reason)).toEqual(["not_declared", "not_declared"]);
    expect(outcome.newly).toEqual([]);
    const back = await run(services, variant({ zThreshold: 8 }), variant());
    expect(hours(back.newly)).toEqual(["a 4", "c 16"]);
    expect(back.noLonger).toEqual([]);
  });

  it("with a silence more loses exactly the pages in its window and of its service", async () => {
    const outcome = await run(services, variant(), variant({}, [silence(3, 12, "a")]));
    expect(hours(outcome.noLonger)).toEqual(["a 4", "a 10"]);
    expect(new Set(outcome.noLonger.map(({ reason }) => reason))).toEqual(new Set(["silenced"]));
    expect(outcome.newly).toEqual([]);
    const ended = await run(services, variant({}, [silence(3, 12, "a")]), variant());
    expect(hours(ended.newly)).toEqual(["a 4", "a 10"]);
  });

  it("of excluded series and of one direction pages nothing of what is left out", async () => {
    expect((await run(services, variant(), variant({ excluded: true }))).after).toBe(0);
    expect((await run(services, variant(), variant({ direction: "low" }))).after).toBe(0);
  });

  it("counts pages by service and day, and none before its beginning", async () => {
    const { days, before } = await run(services, variant(), variant({ zThreshold: 8 }));
    expect(days.map(({ serviceId, before: pages, noLonger }) => [serviceId, pages, noLonger])).toEqual([
      ["a", before - 2, 1],
      ["b", 1, 0],
      ["c", 1, 1],
    ]);
    const late = await run(services, variant(), variant(), 12);
    expect(late.before).toBe(1);
  });

  it("gives the same answer twice, in whatever order the series come", async () => {
    const [one, two] = [
      await run(services, variant(), variant({ zThreshold: 8 })),
      await run([...services].reverse(), variant(), variant({ zThreshold: 8 })),
    ];
    expect(JSON.stringify(two)).toBe(JSON.stringify(one));
  });

  it("says how far it is whenever it lets others have a turn, and ends where it is told to", async () => {
    const shares: number[] = [];
    const options = {
      window: 120,
      samplesMin: 12,
      intervalMs: MINUTE_MS,
      offsetMs: UTC_OFFSET,
      sinceMs: START_MS,
      untilMs: START_MS + 24 * HOURS * MINUTE_MS,
    };
    const variants = { before: variant(), after: variant({ zThreshold: 8 }) };
    await backtest(services, NO_FACTS, variants, options, async (share) => void shares.push(share));
    expect(shares.length).toBeGreaterThan(10);
    expect([...shares].sort((a, b) => a - b)).toEqual(shares);
    expect([(shares[0] as number) >= 0, (shares.at(-1) as number) > 0.5, (shares.at(-1) as number) <= 1]).toEqual([true, true, true]);
    const stop = () => Promise.reject(new Error("enough"));
    await expect(backtest(services, NO_FACTS, variants, options, stop)).rejects.toThrow("enough");
  });
});
