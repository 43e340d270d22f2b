// Instances that join a single one, and the sum of several behind an import and a restart, are at a level of their own. Through the whole server on a virtual clock.
import { expect, it } from "vitest";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { generator } from "../support/generator.ts";
import { MINUTE_MS, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const METRIC = "queue_requests";

/** Counters of instances, which count about a thousand a minute. */
function counting() {
  const { normal } = generator(3);
  const totals: number[] = [];
  return (instance: number): number => {
    totals[instance] = (totals[instance] ?? 1000) + Math.round(1000 * (1 + 0.05 * normal()));
    return totals[instance] as number;
  };
}

async function told(watched: WatchedServer): Promise<string[]> {
  const found = await watched.anomalies();
  return found.filter(({ outcome }) => outcome === "paged").map(({ explanation }) => explanation);
}

const recordOf = (instance: number, value: number) => ({
  service: "shop",
  metric: METRIC,
  value,
  attributes: { instance: `pod-${instance}`, metric_type: "counter" },
});

it("a second counter that joins a single one is no news, nor what they come to together after a restart", async () => {
  const watched = await WatchedServer.open(START, 1);
  const next = counting();
  const minutes = async (count: number, instances: number) => {
    for (let minute = 0; minute < count; minute++) {
      await watched.send(Array.from({ length: instances }, (_, i) => recordOf(i, next(i))));
      await watched.minute();
    }
  };
  await minutes(500, 1);
  await minutes(60, 2);
  await watched.restart();
  await minutes(60, 2);
  expect(await told(watched)).toEqual([]);
});

it("the sum of several counters is no news behind an import of their history", async () => {
  const watched = await WatchedServer.open(START, 1);
  const next = counting();
  const rows = ["timestamp,service_id,metric_name,value,instance,metric_type"];
  for (let minute = -500; minute < 0; minute++)
    for (let i = 0; i < 3; i++) rows.push(`${formatRfc3339(START + minute * MINUTE_MS)},shop,${METRIC},${next(i)},pod-${i},counter`);
  await watched.importCsv(rows.join("\n"));
  for (let minute = 0; minute < 60; minute++) {
    await watched.send(Array.from({ length: 3 }, (_, i) => recordOf(i, next(i))));
    await watched.minute();
  }
  expect(await told(watched)).toEqual([]);
});

it("a gauge that joins another at ten times its level is no news, and is told when it is at ten times its own", async () => {
  const watched = await WatchedServer.open(START, 1);
  const { normal } = generator(5);
  const gauge = (instance: number, level: number) => ({
    service: "shop",
    metric: "pool_connections",
    value: level * (1 + 0.05 * normal()),
    attributes: { instance: `pod-${instance}` },
  });
  const minutes = async (count: number, ...levels: number[]) => {
    for (let minute = 0; minute < count; minute++) {
      await watched.send(levels.map((level, instance) => gauge(instance, level)));
      await watched.minute();
    }
  };
  await minutes(200, 100);
  await minutes(60, 100, 1000);
  expect(await told(watched)).toEqual([]);
  await minutes(6, 100, 10_000);
  expect((await told(watched)).length).toBeGreaterThan(0);
});
