// What is told of a series of one level, before it has a day, and when.

import { expect, it } from "vitest";
import { sentenceText } from "../../../../src/domain/anomaly/sentence.ts";
import { MINUTE_MS, pagesOf, START_MS } from "../../../support/backtest-rig.ts";

const HOUR_MS = 60 * MINUTE_MS;

it.each([
  [15, "up", 1, 0, "high"],
  [15, "pool_connections", 1_000, 0, "high"],
  [15, "pool_connections", 1_000, 6_000, "high"],
  [60, "up", 1, 0, "high"],
  [60, "pool_connections", 1_000, 0, "high"],
  [60, "pool_connections", 1_000, 6_000, "high"],
] as const)("each %i s, %s from %d to %d is told within four minutes, as what it is: %s", async (stepS, metricName, from, to, tier) => {
  const count = (2 * HOUR_MS) / (1_000 * stepS);
  const times = Float64Array.from({ length: count }, (_, i) => START_MS + 1_000 * stepS * i);
  const atMs = START_MS + HOUR_MS;
  const name = { tenant: "default", environment: "", serviceId: "pool", metricName, attributes: {} };
  const series = [{ name, flags: 0, times, values: times.map((timeMs) => (timeMs < atMs ? from : to)) }];
  const [page] = await pagesOf(series, 120);
  expect(page).toBeDefined();
  expect((page?.atMs ?? 0) - atMs).toBeLessThanOrEqual(4 * MINUTE_MS);
  expect(page?.tier).toBe(tier);
  expect(sentenceText(page?.explanation ?? "")).toMatch(new RegExp(`^${metricName} was ${to}, `));
});
