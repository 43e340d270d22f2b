import { expect, it } from "vitest";
import { formatRfc3339 } from "../../src/core/base/rfc3339.ts";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { Cluster, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";

const START = Date.UTC(2026, 0, 5, 12);

interface BatchAnswer {
  readonly queued: number;
  readonly failures: ReadonlyArray<{ readonly index: number; readonly error: string }>;
}

function send(cluster: Cluster, clock: VirtualClock, engine: number, services: readonly number[]): BatchAnswer {
  const timestamp = formatRfc3339(clock.wallMs());
  const records = services.map((service) => ({ service_id: `service-${service}`, metric_name: "m", value: service, timestamp }));
  let answer = "";
  cluster.submit(engine, BODY_JSON_BATCH, new TextEncoder().encode(JSON.stringify(records)), ({ body }) => {
    answer = body ?? "";
  });
  cluster.run(() => {});
  clock.advance(1000);
  return JSON.parse(answer) as BatchAnswer;
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

it("turns away new streams beyond SERIES_LIMIT, never existing ones, whichever lane sees them and after a restart", () => {
  const clock = new VirtualClock(START);
  const disk = new MemoryDisk();
  const first = new Cluster({ engines: 2, epoch: 1, seriesLimit: 10 }, { clock, disk });
  first.run(() => {});
  const over = send(first, clock, 0, range(0, 15));
  expect(over.queued).toBe(10);
  expect(over.failures.map(({ index, error }) => `${index} ${error}`)).toEqual(
    range(10, 15).map((index) => `${index} series_limit_exceeded`),
  );
  expect(send(first, clock, 1, range(0, 10)).queued).toBe(10);
  expect(send(first, clock, 1, range(20, 22)).queued).toBe(0);

  const second = new Cluster({ engines: 3, epoch: 2, seriesLimit: 10 }, { clock, disk });
  second.run(() => {});
  for (const engine of [0, 1, 2]) expect(send(second, clock, engine, range(0, 10)).queued).toBe(10);
  expect(send(second, clock, 2, [10]).queued).toBe(0);
});
