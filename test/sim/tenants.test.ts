// Two tenants that send the same names, times, ids and keys with other values: each holds what it would hold alone, whatever number of engines, kills and
// restarts, and is counted for what it sent.
import { compressSync } from "snappy";
import { expect, it } from "vitest";
import { SERIES_TABLES } from "../../src/actors/coordinator/nouns/modules.ts";
import { BODY_JSON_BATCH, BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { monthOf } from "../../src/domain/access/billing-month.ts";
import { readUsage } from "../../src/modules/usage/usage-rows.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { MemoryStore } from "../support/memory-store.ts";
import { bytesField, encodeBody, varintField } from "../support/remote-write-body.ts";
import { SimulatedServer } from "../support/simulation-server.ts";

/** The month changes in the middle. */
const START = Date.UTC(2026, 0, 31, 23, 57, 30);
const TICK_MS = 10_000;
const TICKS = 30;
const TENANTS = ["default", "acme", "globex"];
const ACME = 1;
const GLOBEX = 2;
/** Types of metrics in remote-write. */
const COUNTER = 1;
const GAUGE = 2;
const SIZES = {
  segmentBytes: 16384,
  blockBytes: 4096,
  checkpointCycleBytes: 2 ** 18,
  checkpointLogShare: 4,
  checkpointPartBytes: 1024,
  commitTurnsMax: 2,
  idleMs: Number.POSITIVE_INFINITY,
};

interface Sent {
  readonly kind: number;
  readonly bytes: Uint8Array;
  readonly status: number;
  readonly key: string;
  /** Accepted events by type, in the order of RECORD_TYPES. */
  readonly events: readonly number[];
}

const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const ns = (ms: number) => `${ms}000000`;

/** What a tenant sends at a tick; the numbers differ by tenant. Only acme has a spike. */
function bodies(tenant: number, tick: number, nowMs: number): Sent[] {
  const timestamp = formatRfc3339(nowMs);
  const base = tenant * 1000 + (tick % 3);
  const value = tenant === ACME && tick >= 20 && tick < 24 ? base + 500 : base;
  const batch = [
    { service_id: "shop", metric_name: "load", value, timestamp },
    { service_id: "shop", type: "log", body: "order placed", timestamp, attributes: { level: "info" } },
    { service_id: "shop", type: "event", body: `deployed by ${tenant}`, timestamp },
    { service_id: "shop", metric_name: "load", timestamp },
  ];
  const sample = (name: string, number: number, ...labels: ReadonlyArray<readonly [string, string]>) => ({
    labels: [["__name__", name] as const, ["job", "shop"] as const, ...labels],
    samples: [{ value: number, time: nowMs }],
  });
  // The one says that depth counts, the other that it does not; each has one server of a pair.
  const about = bytesField(3, [...varintField(1, tenant === ACME ? COUNTER : GAUGE), ...bytesField(2, Buffer.from("depth"))]);
  const series = [
    sample("load", value, ["host", "a"]),
    sample("hits_total", tick * tenant * 7),
    sample("pair", base, ["cluster", "c"], ["__replica__", `server-${tenant}`]),
    ...(tick > 0 ? [sample("depth", tick * tenant)] : []),
  ];
  const samples = compressSync(Buffer.concat([encodeBody(series), Uint8Array.from(about)]));
  const point = {
    startTimeUnixNano: ns(START - 1),
    timeUnixNano: ns(nowMs),
    count: String((tick + 1) * 10 * tenant),
    sum: (tick + 1) * tenant,
    bucketCounts: [String((tick + 1) * 5 * tenant), String((tick + 1) * 5 * tenant), "0"],
    explicitBounds: [1, 2],
  };
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] };
  const metrics = [{ name: "latency", histogram: { aggregationTemporality: 2, dataPoints: [point] } }];
  const resourceMetrics = [{ resource, scopeMetrics: [{ metrics }] }];
  const span = (id: number, parent: number, name: string) => ({
    traceId: (tick + 1).toString(16).padStart(32, "0"),
    spanId: id.toString(16).padStart(16, "0"),
    ...(parent > 0 && { parentSpanId: parent.toString(16).padStart(16, "0") }),
    name,
    kind: parent > 0 ? 2 : 3,
    startTimeUnixNano: ns(nowMs - 10 * tenant),
    endTimeUnixNano: ns(nowMs),
  });
  const resourceSpans = [
    { service: "web", span: span(1, 0, "call") },
    // The one calls shop, the other bank, under the same ids.
    { service: tenant === ACME ? "shop" : "bank", span: span(2, 1, "serve") },
  ].map(({ service, span: one }) => ({
    resource: { attributes: [{ key: "service.name", value: { stringValue: service } }] },
    scopeSpans: [{ spans: [one] }],
  }));
  return [
    { kind: BODY_JSON_BATCH, bytes: json(batch), status: 200, key: `batch-${tick}`, events: [1, 1, 0, 1, 0, 0] },
    { kind: BODY_REMOTE_WRITE_1, bytes: samples, status: 204, key: "", events: [series.length, 0, 0, 0, 0, 0] },
    { kind: otlpBodyKind("metrics", "json"), bytes: json({ resourceMetrics }), status: 200, key: "", events: [1, 0, 0, 0, 0, 0] },
    { kind: otlpBodyKind("traces", "json"), bytes: json({ resourceSpans }), status: 200, key: "", events: [0, 0, 2, 0, 0, 0] },
  ];
}

type Row = Record<string, unknown>;

/** Everything that a tenant is told, but what depends on the process: ids that hold the request's number. */
async function holdings(server: SimulatedServer, tenant: string): Promise<unknown> {
  const ask = (endpoint: Parameters<SimulatedServer["query"]>[0], query: Record<string, string> = {}) =>
    server.query(endpoint, { ...query }, tenant) as Promise<Record<string, Row[]>>;
  const listed = (await ask("series", { limit: "1000" })).series as Row[];
  const series = [];
  for (const { service_id, metric_name, environment, attributes, samples } of listed) {
    const names = { service_id, metric_name, environment, attributes: JSON.stringify(attributes) } as Record<string, string>;
    const { points } = await ask("seriesData", { ...names, limit: "10000" });
    series.push({ ...names, samples, points: (points as Row[]).map(({ timestamp, value }) => `${timestamp} ${value}`) });
  }
  const records: unknown[] = [];
  for (const type of ["log", "event", "trace"]) records.push((await ask("records", { type, limit: "1000" })).records);
  const letters = (await ask("deadLetters", { limit: "1000" })).entries as Row[];
  return {
    series,
    records,
    anomalies: (await ask("anomalies")).anomalies?.map(({ service_id, metric_name, started_at, z_score }) => ({
      service_id,
      metric_name,
      started_at,
      z_score,
    })),
    edges: (await ask("callGraph", { since: formatRfc3339(START), until: formatRfc3339(START + 3_600_000) })).edges,
    letters: letters.map(({ reason, payload, received_at }) => ({ reason, payload, received_at })),
  };
}

interface Outcome {
  readonly held: Readonly<Record<string, unknown>>;
  /** By tenant: events in January and in February. */
  readonly counted: Readonly<Record<string, readonly (readonly number[])[]>>;
}

async function run(senders: readonly number[], disturbed: boolean): Promise<Outcome> {
  const clock = new VirtualClock(START);
  const machine = { clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  let epoch = 0;
  const start = async (engines: number) => {
    const server = new SimulatedServer({ engines, epoch: ++epoch, seed: 1, tenants: TENANTS, ...SIZES }, machine);
    await server.open();
    await server.rest();
    return server;
  };
  let server = await start(disturbed ? 2 : 1);
  for (let tick = 0; tick < TICKS; tick++) {
    for (const tenant of senders) {
      for (const { kind, bytes, status, key } of bodies(tenant, tick, clock.wallMs())) {
        server.submit((tick + tenant) % server.engines, kind, bytes, key, (answer) => expect(answer.status).toBe(status), tenant);
        // Of both tenants in one unit of work.
        if (!disturbed || tick % 2 === 0) await server.rest();
      }
    }
    await server.rest();
    if (disturbed && tick % 7 === 5) {
      server.kill();
      server = await start(1 + (((tick / 7) | 0) % 3));
    }
    clock.advance(TICK_MS);
    await server.rest();
  }
  clock.advance(60_000);
  await server.rest();
  const held: Record<string, unknown> = {};
  for (const tenant of TENANTS) held[tenant] = await holdings(server, tenant);
  await server.stop();
  const stored = new MemoryStore({ tables: SERIES_TABLES, contents: machine.series });
  const months = [monthOf(START), monthOf(START) + 1];
  const counted = Object.fromEntries(TENANTS.map((tenant) => [tenant, months.map((month) => readUsage(stored, month, tenant).counts)]));
  return { held, counted };
}

function expectedCounts(tenant: number): number[][] {
  const sums = [new Array<number>(6).fill(0), new Array<number>(6).fill(0)];
  for (let tick = 0; tick < TICKS; tick++) {
    const nowMs = START + tick * TICK_MS;
    const sum = sums[monthOf(nowMs) - monthOf(START)] as number[];
    for (const { events } of bodies(tenant, tick, nowMs)) events.forEach((count, type) => (sum[type] = (sum[type] as number) + count));
  }
  return sums;
}

it("holds for each tenant what it would hold alone, and counts its events, once", async () => {
  const alone = { acme: await run([ACME], false), globex: await run([GLOBEX], false) };
  const nothing = alone.acme.held.globex;
  expect(nothing).toEqual({ series: [], records: [[], [], []], anomalies: [], edges: [], letters: [] });
  expect((alone.acme.held.acme as { anomalies: unknown[] }).anomalies.length).toBeGreaterThan(0);
  expect((alone.globex.held.globex as { anomalies: unknown[]; edges: unknown[] }).anomalies).toEqual([]);
  for (const disturbed of [false, true]) {
    const both = await run([ACME, GLOBEX], disturbed);
    expect(both.held.acme).toEqual(alone.acme.held.acme);
    expect(both.held.globex).toEqual(alone.globex.held.globex);
    expect(both.held.default).toEqual(nothing);
    expect(both.counted).toEqual({
      default: [new Array(6).fill(0), new Array(6).fill(0)],
      acme: expectedCounts(ACME),
      globex: expectedCounts(GLOBEX),
    });
  }
});

it("takes bodies of tenants that it is told of while it runs, and limits the streams of each", async () => {
  const clock = new VirtualClock(START);
  const machine = { clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  const server = new SimulatedServer({ engines: 2, epoch: 1, seed: 1, seriesLimit: 8, ...SIZES }, machine);
  await server.open();
  await server.rest();
  const queued: number[] = [];
  const send = (tenant: number, engine: number) => {
    const records = Array.from({ length: 10 }, (_, i) => ({
      service_id: `s${i}`,
      metric_name: "m",
      value: 1,
      timestamp: formatRfc3339(START),
    }));
    server.submit(
      engine,
      BODY_JSON_BATCH,
      json(records),
      "",
      ({ body }) => queued.push((JSON.parse(body as string) as { queued: number }).queued),
      tenant,
    );
  };
  server.cluster.announce(1, "acme");
  send(1, 0);
  server.cluster.announce(2, "globex");
  send(2, 1);
  await server.rest();
  send(0, 1);
  await server.rest();
  expect(queued).toEqual([8, 8, 8]);
  const totals = [];
  for (const tenant of TENANTS) totals.push(((await server.query("series", {}, tenant)) as { total: number }).total);
  expect(totals).toEqual([8, 8, 8]);
});
