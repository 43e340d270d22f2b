// One tenant fills each limit that tenants share in an engine; what another sends after it finds its place, and only the first is told to have been refused.
import { compressSync } from "snappy";
import { expect, it } from "vitest";
import { ENGINE_SHARED_LIMITS, type EngineSharedLimit } from "../../src/core/layout/counters.ts";
import { BODY_JSON_BATCH, BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import type { ShareRow, SharesAnswer } from "../../src/core/protocol/shares.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { Cluster, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { bytesField, encodeBody, varintField } from "../support/remote-write-body.ts";

const START = Date.UTC(2026, 0, 5, 12);
const EVIL = 1;
const ACME = 2;
const NAMES = ["default", "evil", "acme"];
/** Share of a limit of so many places: half of it. */
const PLACES = 20;
const SHARE = PLACES / 2;
const GAUGE = 2;

const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const names = (count: number) => Array.from({ length: count }, (_, i) => `thing-${i}`);
const ns = (ms: number) => `${ms}000000`;
const resource = (service: string) => ({ attributes: [{ key: "service.name", value: { stringValue: service } }] });

type Body = readonly [kind: number, bytes: Uint8Array];

function logs(things: readonly string[], nowMs: number): Body {
  const timestamp = formatRfc3339(nowMs);
  return [BODY_JSON_BATCH, json(things.map((service_id) => ({ service_id, type: "log", body: "went", timestamp })))];
}

/** A call between two services for each. */
function spans(things: readonly string[], nowMs: number): Body {
  const span = (spanId: number, parentSpanId: number) => ({
    traceId: "1".padStart(32, "0"),
    spanId: spanId.toString(16).padStart(16, "0"),
    ...(parentSpanId > 0 && { parentSpanId: parentSpanId.toString(16).padStart(16, "0") }),
    name: "call",
    kind: 2,
    startTimeUnixNano: ns(nowMs - 10),
    endTimeUnixNano: ns(nowMs),
  });
  const resourceSpans = things.map((thing, i) => ({ resource: resource(thing), scopeSpans: [{ spans: [span(i + 1, i)] }] }));
  return [otlpBodyKind("traces", "json"), json({ resourceSpans })];
}

function histograms(things: readonly string[], nowMs: number): Body {
  const point = {
    startTimeUnixNano: ns(START - 1),
    timeUnixNano: ns(nowMs),
    count: "3",
    sum: 3,
    bucketCounts: ["3", "0"],
    explicitBounds: [1],
  };
  const metrics = [{ name: "latency", histogram: { aggregationTemporality: 2, dataPoints: [point] } }];
  const resourceMetrics = things.map((thing) => ({ resource: resource(thing), scopeMetrics: [{ metrics }] }));
  return [otlpBodyKind("metrics", "json"), json({ resourceMetrics })];
}

function buckets(things: readonly string[], nowMs: number): Body {
  const series = things.map((thing) => ({
    labels: [["__name__", "wait_bucket"] as const, ["job", thing] as const, ["le", "1"] as const],
    samples: [{ value: 3, time: nowMs }],
  }));
  return [BODY_REMOTE_WRITE_1, compressSync(encodeBody(series))];
}

function gauges(things: readonly string[], nowMs: number): Body {
  const metrics = [{ name: "depth", gauge: { dataPoints: [{ timeUnixNano: ns(nowMs), asDouble: 3 }] } }];
  const resourceMetrics = things.map((thing) => ({ resource: resource(thing), scopeMetrics: [{ metrics }] }));
  return [otlpBodyKind("metrics", "json"), json({ resourceMetrics })];
}

function metadata(things: readonly string[]): Body {
  const messages = things.map((thing) =>
    Uint8Array.from(bytesField(3, [...varintField(1, GAUGE), ...bytesField(2, Buffer.from(thing.replace("-", "_")))])),
  );
  return [BODY_REMOTE_WRITE_1, compressSync(Buffer.concat(messages))];
}

function disks(things: readonly string[], nowMs: number): Body {
  const timestamp = formatRfc3339(nowMs);
  return [BODY_JSON_BATCH, json(things.map((service_id) => ({ service_id, metric_name: "disk.used_percent", value: 40, timestamp })))];
}

/** Two metrics each: a service with one has no vector. */
function pairs(things: readonly string[], nowMs: number): Body {
  const timestamp = formatRfc3339(nowMs);
  const rows = things.flatMap((service_id) => ["load", "depth"].map((metric_name) => ({ service_id, metric_name, value: 40, timestamp })));
  return [BODY_JSON_BATCH, json(rows)];
}

/** What fills a limit; of the places of each that many are there. */
const FILLS: Readonly<Record<EngineSharedLimit, readonly [fill: (things: readonly string[], nowMs: number) => Body, places?: number]>> = {
  span_services: [spans],
  span_cells: [spans],
  span_ids: [spans],
  log_services: [logs],
  log_cells: [logs],
  log_ids: [logs],
  call_services: [spans],
  histograms: [histograms],
  histogram_bytes: [histograms, 2_000],
  bucket_families: [buckets],
  metric_metadata: [metadata],
  metric_scopes: [gauges],
  call_edges: [spans],
  timed_operations: [spans],
  long_baselines: [disks],
  monitored_services: [pairs],
  bounded_series: [disks],
  arrival_services: [disks],
};

class Rig {
  readonly clock = new VirtualClock(START);
  readonly cluster: Cluster;
  #cycle = 0;

  constructor(limit: EngineSharedLimit, places: number, tenants = NAMES) {
    const narrowed = limit === "long_baselines" ? { pairsMax: places } : { sharedLimits: { [limit]: places } };
    const limits = { servicesMax: 1_000, watchdogIntervalMs: 60_000, ...narrowed };
    this.cluster = new Cluster({ engines: 1, epoch: 1, tenants, ...limits }, { clock: this.clock, disk: new MemoryDisk() });
    this.cluster.run(() => {});
  }

  send([kind, bytes]: Body, tenant: number): void {
    let status = 0;
    this.cluster.submit(
      0,
      kind,
      bytes,
      (answer) => {
        status = answer.status;
      },
      "",
      tenant,
    );
    this.cluster.run(() => {});
    expect(status).toBeLessThan(300);
    this.clock.advance(1_000);
  }

  async passes(): Promise<void> {
    this.#cycle++;
    for (const pass of ["pairs", "services", "arrivals", "saturation"] as const)
      for (let isDone = false; !isDone; ) {
        const nowMs = this.clock.wallMs();
        const asked = this.cluster.ask(0, {
          type: "watchdog",
          cycle: this.#cycle,
          detector: pass,
          nowMs,
          workMs: 5,
          sliceMs: 1,
          yields: false,
        } as never);
        this.cluster.run(() => {});
        isDone = ((await asked) as { done: boolean }).done;
      }
  }

  async rows(tenant: string | null): Promise<readonly ShareRow[]> {
    const asked = this.cluster.ask(0, { type: "shares", tenant } as never);
    this.cluster.run(() => {});
    return ((await asked) as SharesAnswer).rows;
  }

  async row(limit: EngineSharedLimit, tenant: string): Promise<ShareRow> {
    return (await this.rows(tenant)).find((row) => row.limit === limit) as ShareRow;
  }
}

it.each(ENGINE_SHARED_LIMITS.map((limit) => [limit]))(
  "keeps a place of %s for a tenant that comes after one that fills it",
  async (limit) => {
    const [fill, places = PLACES] = FILLS[limit];
    const rig = new Rig(limit, places);
    rig.send(fill(names(3 * PLACES), START), EVIL);
    await rig.passes();
    const evil = await rig.row(limit, "evil");
    expect(evil.refused).toBeGreaterThan(0);
    expect(evil.used).toBeGreaterThanOrEqual(limit === "histogram_bytes" ? 1 : SHARE);

    rig.send(fill(names(limit === "histogram_bytes" ? 1 : 4), rig.clock.wallMs()), ACME);
    await rig.passes();
    const acme = await rig.row(limit, "acme");
    expect(acme.used).toBeGreaterThanOrEqual(1);
    expect(acme.refused).toBe(0);
    expect((await rig.rows(null)).every(({ tenant }) => tenant === "evil")).toBe(true);
    expect((await rig.row(limit, "evil")).used).toBe(evil.used);
  },
);

it.each(ENGINE_SHARED_LIMITS.map((limit) => [limit]))("gives all places of %s to a tenant that is alone", async (limit) => {
  const [fill, places = PLACES] = FILLS[limit];
  const rig = new Rig(limit, places, ["default"]);
  rig.send(fill(names(3 * PLACES), START), 0);
  await rig.passes();
  const { used: held, refused } = await rig.row(limit, "default");
  expect(refused).toBeGreaterThan(0);
  expect(held).toBeGreaterThanOrEqual(limit === "histogram_bytes" ? places * 0.9 : places);
});
