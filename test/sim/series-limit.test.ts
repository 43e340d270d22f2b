import { compressSync } from "snappy";
import { expect, it } from "vitest";
import { BODY_JSON_BATCH, BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { Cluster, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { encodeBody } from "../support/remote-write-body.ts";

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

it("turns away new streams beyond SERIES_LIMIT, never existing ones, whichever ingest sees them and after a restart", () => {
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

function write(cluster: Cluster, clock: VirtualClock, engine: number, services: readonly number[]): number {
  const series = services.map((service) => ({
    labels: [
      ["__name__", "m"],
      ["job", `service-${service}`],
    ] as Array<[string, string]>,
    samples: [{ value: service, time: clock.wallMs() }],
  }));
  let refused = 0;
  cluster.submit(engine, BODY_REMOTE_WRITE_1, compressSync(Buffer.from(encodeBody(series))), ({ body }) => {
    refused = body === null ? 0 : Number(/(\d+) of \d+ samples were refused/.exec(body)?.[1]);
  });
  cluster.run(() => {});
  clock.advance(1000);
  return services.length - refused;
}

it("holds the limit to the last stream for series that the kernel defines, whose engines count ahead", () => {
  const clock = new VirtualClock(START);
  const disk = new MemoryDisk();
  const first = new Cluster({ engines: 2, epoch: 1, seriesLimit: 50 }, { clock, disk });
  first.run(() => {});
  expect(write(first, clock, 0, range(0, 20))).toBe(20);
  expect(write(first, clock, 1, range(10, 40))).toBe(30);
  expect(write(first, clock, 0, range(30, 60))).toBe(20);
  expect(write(first, clock, 1, range(40, 70))).toBe(10);
  expect(send(first, clock, 1, [49, 50]).queued).toBe(1);

  const second = new Cluster({ engines: 3, epoch: 2, seriesLimit: 50 }, { clock, disk });
  second.run(() => {});
  for (const engine of [0, 1, 2]) expect(write(second, clock, engine, range(0, 60))).toBe(50);
});
