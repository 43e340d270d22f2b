// Young services are somewhat more sensitive (rule 1.1.13), in layer 1 too. Through the whole server on a virtual clock.
import { expect, it } from "vitest";
import { seededRandom } from "../../src/domain/detection/multivariate/isolation-forest.ts";
import { MINUTE_MS, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const BASELINE = 120;
/** Beyond the bar of a young service, 2.7, and not beyond 3: z of about 2.85 against a mean of 50 and a standard deviation of 1. */
const SLIGHT = 52.95;

it("D9: the lower threshold of a young service counts in layer 1", async () => {
  const watched = await WatchedServer.open(START, 1);
  const minute = async (value: number) => {
    await watched.send([{ service: "api", metric: "load", value }]);
    await watched.minute();
  };
  for (let at = 0; at < BASELINE; at++) await minute(at % 2 === 0 ? 49 : 51);
  await minute(SLIGHT);
  await minute(SLIGHT);
  const { anomalies } = (await watched.server.query("anomalies", { service_id: "api" })) as { anomalies: Array<Record<string, unknown>> };
  expect(anomalies).toMatchObject([{ metric_name: "load", detector: "z_score" }]);
  const at = new Date(START + (BASELINE + 1) * MINUTE_MS).toISOString();
  const ledger = (await watched.server.query("alertLedger", { service_id: "api", metric_name: "load", at })) as {
    moments: Array<{ declared: boolean; verdict: { z: number; threshold: number } }>;
  };
  const [moment] = ledger.moments;
  expect(moment?.declared).toBe(true);
  expect(moment?.verdict.threshold).toBeCloseTo(2.7, 12);
  expect(moment?.verdict.z).toBeLessThan(3);
});

it("the way back of a young series from what people were told of is its end, and no fall", async () => {
  const watched = await WatchedServer.open(START, 1);
  const noise = seededRandom(7);
  const minutes = async (count: number, level: number) => {
    for (let minute = 0; minute < count; minute++) {
      for (let at = 0; at < 12; at++) {
        await watched.send([
          { service: "api", metric: "cpu_percent", value: level + noise() + noise() - 1, atMs: watched.nowMs + 5_000 * at },
        ]);
      }
      await watched.minute();
    }
  };
  await minutes(12, 30);
  await minutes(6, 90);
  await minutes(15, 30);
  const { anomalies } = (await watched.server.query("anomalies", { service_id: "api" })) as { anomalies: Array<Record<string, unknown>> };
  const told = anomalies.filter(({ outcome }) => outcome === "paged" || outcome === "absorbed");
  expect(told.map(({ direction, resolved_by }) => [direction, resolved_by])).toEqual([["high", "recovered"]]);
});
