import { afterEach, describe, expect, it } from "vitest";
import { QueryWorkers } from "../../../../src/actors/query/query-workers.ts";
import { PROMQL_RUNNING_MAX, PROMQL_RUNNING_SHARE } from "../../../../src/core/config/promql-limits.ts";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";
import { reportFaults } from "../../../../src/core/faults/guard.ts";

const OPTIONS = { dataDir: "/nowhere", engines: 1, workers: 1, samplesMax: 1, memoryBytesMax: 1, timeoutMs: 1_000 };
const call = { name: "query", tenant: "a", parameters: "query=1", label: null } as const;

/** Workers whose built file is not there: each of their threads ends at once. */
function dyingWorkers(places = ShareLedger.alone(2)) {
  const connected: unknown[] = [];
  const logged: string[] = [];
  const workers = new QueryWorkers(OPTIONS, {
    connect: (port) => void connected.push(port),
    places,
    log: (level) => void logged.push(level),
    fault: () => undefined,
  });
  return { workers, connected, logged };
}

describe("query workers", () => {
  const stopReporting = reportFaults(() => undefined);
  afterEach(() => stopReporting());

  it("answer 500 where the thread of a query ends, start another, and give its place back", async () => {
    const places = ShareLedger.alone(2);
    const { workers, connected, logged } = dyingWorkers(places);
    const answer = () => new Promise<number>((resolve) => workers.call(call, resolve));
    expect(await answer()).toBe(500);
    expect(await answer()).toBe(500);
    expect([connected.length, logged.slice(0, 2), places.taken]).toEqual([2, ["error", "error"], 0]);
    await workers.stop();
  });

  it("take no more than there are places, and answer what waits when they stop or when nobody waits", async () => {
    const { workers } = dyingWorkers(ShareLedger.alone(PROMQL_RUNNING_MAX + 2));
    const statuses: number[] = [];
    const ask = () => workers.call(call, (status) => void statuses.push(status));
    for (let running = 0; running < PROMQL_RUNNING_MAX; running++) ask();
    expect([workers.running, workers.queued]).toEqual([PROMQL_RUNNING_MAX, 0]);
    const leave = ask();
    ask();
    expect(ask()).toBeUndefined();
    expect([workers.running, workers.queued, workers.counts.refused]).toEqual([PROMQL_RUNNING_MAX, 2, 1]);
    leave?.();
    expect(statuses).toEqual([503]);
    await workers.stop();
    expect(statuses).toEqual(Array(PROMQL_RUNNING_MAX + 2).fill(503));
    expect(ask()).toBeUndefined();
  });

  it("leave running places to a tenant that has none, whatever another asks for", async () => {
    const places = new ShareLedger({ most: 100, tenants: () => 2 });
    const { workers } = dyingWorkers(places);
    for (let asked = 0; asked < 40; asked++) workers.call(call, () => undefined);
    expect([workers.running, workers.queued]).toEqual([
      PROMQL_RUNNING_MAX - PROMQL_RUNNING_SHARE,
      40 - PROMQL_RUNNING_MAX + PROMQL_RUNNING_SHARE,
    ]);
    workers.call({ ...call, tenant: "b" }, () => undefined);
    expect(workers.running).toBe(PROMQL_RUNNING_MAX - PROMQL_RUNNING_SHARE + 1);
    await workers.stop();
  });
});
