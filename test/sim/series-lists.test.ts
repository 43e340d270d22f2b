// Lists of series are answered in slices: the whole answer is that of one look, others' questions and bodies have their turn between two slices.
import { expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import type { EngineAnswer, SeriesAnswer, SeriesKey, SeriesQuery, SeriesSummary } from "../../src/core/protocol/engine-control.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { seriesKey } from "../../src/domain/series/series-order.ts";
import { Cluster, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";

const START = Date.UTC(2026, 0, 5, 12);
const EVIL = 1;
const ACME = 2;
const SERVICES = 40;
const METRICS = 100;

function send(cluster: Cluster, tenant: number, services: number, metrics: number): void {
  const timestamp = formatRfc3339(START);
  const rows = Array.from({ length: services * metrics }, (_, i) => ({
    service_id: `service-${i % services}`,
    metric_name: `m-${Math.floor(i / services)}`,
    value: i,
    timestamp,
  }));
  cluster.submit(0, BODY_JSON_BATCH, new TextEncoder().encode(JSON.stringify(rows)), () => undefined, "", tenant);
  cluster.run(() => {});
}

function filled(): Cluster {
  const clock = new VirtualClock(START);
  const cluster = new Cluster({ engines: 1, epoch: 1, tenants: ["default", "evil", "acme"] }, { clock, disk: new MemoryDisk() });
  send(cluster, EVIL, SERVICES, METRICS);
  send(cluster, ACME, 3, 2);
  return cluster;
}

const query = (tenant: string, change: Partial<SeriesQuery> = {}) => {
  const all = { type: "series", tenant, serviceId: null, metricName: null, environment: null, after: null, limit: 50 } as const;
  return { ...all, ...change } as never;
};

/** Steps until the answer is there; how many it took. */
async function stepsUntil(cluster: Cluster, asked: Promise<EngineAnswer>): Promise<number> {
  let isThere = false;
  void asked.then(() => {
    isThere = true;
  });
  for (let steps = 0; ; steps++) {
    await Promise.resolve();
    if (isThere) return steps;
    if (steps > 10_000) throw new Error("the list is never answered");
    cluster.step(0);
  }
}

it("gives the pages of all series in their order, with what matches", async () => {
  const cluster = filled();
  for (const [change, total] of [
    [{}, SERVICES * METRICS],
    [{ metricName: "m-7" }, SERVICES],
    [{ serviceId: "service-3" }, METRICS],
  ] as const) {
    const keys: string[] = [];
    for (let after: SeriesKey | null = null, isLast = false; !isLast; ) {
      const asked = cluster.ask(0, query("evil", { ...change, after, limit: 300 }));
      cluster.run(() => {});
      const answer = (await asked) as SeriesAnswer;
      expect(answer.total).toBe(total);
      const series = seriesOf(answer);
      keys.push(...series.map((summary) => JSON.stringify(seriesKey(summary))));
      isLast = series.length < 300;
      after = isLast ? null : seriesKey(series.at(-1) as SeriesSummary);
    }
    expect(keys).toHaveLength(total);
    expect(new Set(keys).size).toBe(total);
    expect(keys).toEqual([...keys].sort((a, b) => compare(JSON.parse(a) as string[], JSON.parse(b) as string[])));
  }
});

it("lets another tenant's list come first that was asked for while a long one is under way", async () => {
  const cluster = filled();
  const long = cluster.ask(0, query("evil", { metricName: "none" }));
  cluster.step(0);
  cluster.step(0);
  const short = cluster.ask(0, query("acme"));
  const shortSteps = await stepsUntil(cluster, short);
  const longSteps = await stepsUntil(cluster, long);
  expect(((await short) as SeriesAnswer).total).toBe(6);
  expect(((await long) as SeriesAnswer).total).toBe(0);
  expect(shortSteps).toBeLessThan(5);
  expect(shortSteps + longSteps).toBeGreaterThan(15);
});

it("has tenants take turns: a list of one goes on beside whatever many lists of another", async () => {
  const cluster = filled();
  const long = Array.from({ length: 25 }, () => cluster.ask(0, query("evil", { metricName: "none" })));
  let longAnswered = 0;
  for (const each of long) void each.then(() => longAnswered++);
  const short = cluster.ask(0, query("acme"));
  expect(await stepsUntil(cluster, short)).toBeLessThan(5);
  expect(longAnswered).toBe(0);
  cluster.run(() => {});
  await Promise.all(long);
});

it("takes more than one question between two units of work", async () => {
  const cluster = filled();
  const asked = Array.from({ length: 30 }, (_, service) => cluster.ask(0, query("acme", { serviceId: `service-${service % 3}` })));
  const steps = await stepsUntil(
    cluster,
    Promise.all(asked).then(([first]) => first as EngineAnswer),
  );
  expect(steps).toBeLessThan(5);
});

it("looks at no more than three times 64 streams, and makes text of no more, in one step: whatever the page, a body waits for one step", async () => {
  const cluster = filled();
  const limit = 1_000;
  const asked = cluster.ask(0, query("evil", { limit }));
  const steps = await stepsUntil(cluster, asked);
  const { rows } = (await asked) as SeriesAnswer;
  expect(rows.map((text) => (JSON.parse(text) as unknown[]).length)).toEqual([...Array(15).fill(64), 40]);
  expect(steps).toBeGreaterThan((1.9 * limit) / 64 / 3);
});

it("names services whose names are escaped in their keys as they are", async () => {
  const cluster = filled();
  const names = ['with "quotes"', "back\\slash", "a/b?c=d&e%20#f", "grün 🚦", "[acme,x]"].sort();
  const rows = names.map((service_id) => ({ service_id, metric_name: "m", value: 1, timestamp: formatRfc3339(START) }));
  cluster.submit(0, BODY_JSON_BATCH, new TextEncoder().encode(JSON.stringify(rows)), () => undefined, "", 0);
  const asked = cluster.ask(0, query("default"));
  cluster.run(() => {});
  expect(seriesOf((await asked) as SeriesAnswer).map(({ serviceId }) => serviceId)).toEqual(names);
});

function seriesOf({ rows }: SeriesAnswer): SeriesSummary[] {
  return rows.flatMap((text) => JSON.parse(text) as SeriesSummary[]);
}

function compare(a: readonly string[], b: readonly string[]): number {
  const at = a.findIndex((part, i) => part !== b[i]);
  return at < 0 ? 0 : (a[at] as string) < (b[at] as string) ? -1 : 1;
}
