// Traces as OTLP through whole servers: the spans of a trace come in any order, in several requests, on several engines, with kills and repeats between them.
// Series, call graph and records are those of one go.
import { expect, it } from "vitest";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { VirtualClock } from "../support/cluster.ts";
import { generator } from "../support/generator.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const SECOND_MS = 1_000;
const KIND = otlpBodyKind("traces", "json");

interface SentSpan {
  readonly service: string;
  readonly span: Record<string, unknown>;
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");
const ns = (ms: number) => `${ms}000000`;

/** One trace through four services: web calls shop, shop calls db twice and bank once; every fourth call of bank fails. */
function traceSpans(trace: number, endMs: number): SentSpan[] {
  const make = (id: number, parent: number, service: string, kind: number, name: string, ms: number, isError = false): SentSpan => ({
    service,
    span: {
      traceId: hex(trace + 1, 32),
      spanId: hex(id, 16),
      ...(parent === 0 ? {} : { parentSpanId: hex(parent, 16) }),
      name,
      kind,
      startTimeUnixNano: ns(endMs - ms),
      endTimeUnixNano: ns(endMs),
      ...(isError ? { status: { code: 2 } } : {}),
    },
  });
  return [
    make(1, 0, "web", 2, "GET /cart", 200),
    make(2, 1, "web", 3, "call shop", 180),
    make(3, 2, "shop", 2, "cart", 150),
    make(4, 3, "shop", 3, "query", 40),
    make(5, 4, "db", 2, "SELECT", 30 + (trace % 5)),
    make(6, 3, "db", 2, "SELECT", 20),
    make(7, 3, "bank", 2, "charge", 90, trace % 4 === 0),
  ];
}

function body(spans: readonly SentSpan[]): Uint8Array {
  const resourceSpans = spans.map(({ service, span }) => ({
    resource: { attributes: [{ key: "service.name", value: { stringValue: service } }] },
    scopeSpans: [{ spans: [span] }],
  }));
  return new TextEncoder().encode(JSON.stringify({ resourceSpans }));
}

/** What a server holds after two minutes of traces; `seed` shuffles, repeats and kills. */
async function run(seed: number | undefined): Promise<string[]> {
  const clock = new VirtualClock(START);
  const machine = { clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  const random = generator(seed ?? 1).uniform;
  const below = (most: number) => Math.floor(random() * most);
  let epoch = 0;
  const start = async (engines: number) => {
    const server = new SimulatedServer({ engines, epoch: ++epoch, seed: 1, ...SMALL_SIZES }, machine);
    await server.open();
    await server.rest();
    return server;
  };
  let server = await start(seed === undefined ? 1 : 1 + below(3));
  const send = async (spans: readonly SentSpan[]) => {
    server.submit(below(server.engines), KIND, body(spans), "", ({ status }) => expect(status).toBe(200));
    await server.rest();
  };
  for (let second = 0; second < 120; second++) {
    const spans = [0, 1, 2].flatMap((i) => traceSpans(3 * second + i, START + second * SECOND_MS + 100 * i));
    clock.advance(SECOND_MS);
    if (seed === undefined) await send(spans);
    else {
      const shuffled = spans
        .map((span) => ({ span, at: random() }))
        .sort((a, b) => a.at - b.at)
        .map(({ span }) => span);
      for (let from = 0; from < shuffled.length; ) {
        const to = from + 1 + below(12);
        await send(shuffled.slice(from, to));
        if (below(6) === 0) await send(shuffled.slice(from, to));
        from = to;
      }
      if (below(15) === 0) {
        server.kill();
        server = await start(1 + below(3));
      }
    }
    await server.rest();
  }
  for (let i = 0; i < 40; i++) {
    clock.advance(SECOND_MS);
    await server.rest();
  }
  const lines = await holdings(server);
  await server.stop();
  return lines;
}

async function holdings(server: SimulatedServer): Promise<string[]> {
  const lines: string[] = [];
  const { series } = (await server.query("series", { limit: "200" })) as { series: Array<Record<string, string>> };
  for (const { service_id = "", metric_name = "", attributes } of series) {
    const query = { service_id, metric_name, attributes: JSON.stringify(attributes) };
    const { points } = (await server.query("seriesData", query)) as { points: Array<{ timestamp: string; value: number }> };
    lines.push(
      `${service_id} ${metric_name} ${JSON.stringify(attributes)}: ${points.map(({ timestamp, value }) => `${(Date.parse(timestamp) - START) / SECOND_MS}=${value}`).join(" ")}`,
    );
  }
  const range = { since: new Date(START).toISOString(), until: new Date(START + 300_000).toISOString() };
  const { edges } = (await server.query("callGraph", { ...range, resolution: "1m" })) as { edges: object[] };
  lines.push(...edges.map((edge) => JSON.stringify(edge)));
  let count = 0;
  for (let token: string | undefined = ""; token !== undefined; ) {
    const query = { type: "trace", service_id: "bank", limit: "100", ...(token === "" ? {} : { page_token: token }) };
    const page = (await server.query("records", query)) as { records: object[]; page_token: string };
    count += page.records.length;
    token = page.page_token === "" ? undefined : page.page_token;
  }
  lines.push(`${count} of bank`);
  const trace = (await server.query("records", { trace_id: hex(7, 32) })) as { records: Array<Record<string, string>> };
  lines.push(...trace.records.map(({ service_id, metric_name, value, timestamp }) => `${service_id} ${metric_name} ${value} ${timestamp}`));
  return lines.sort();
}

it("come to the same series, calls and records, whatever happens on the way", async () => {
  const quiet = await run(undefined);
  const windows = Array.from({ length: 12 }, (_, i) => 10 * (i + 1));
  expect(quiet).toContain(`shop service.requests {}: ${windows.map((at) => `${at}=30`).join(" ")}`);
  expect(quiet).toContain(`db span.requests {"operation":"SELECT"}: ${windows.map((at) => `${at}=60`).join(" ")}`);
  const minute = new Date(START).toISOString().replace(".000", "");
  const calls = (caller: string, callee: string, count: number, errors: number) =>
    quiet.some(
      (line) =>
        line.startsWith(`{"caller":"${caller}","callee":"${callee}"`) &&
        line.includes(minute.slice(0, 16)) &&
        line.includes(`"calls":${count},"errors":${errors}`),
    );
  expect([calls("web", "shop", 180, 0), calls("shop", "db", 360, 0), calls("shop", "bank", 180, 45)]).toEqual([true, true, true]);
  expect(quiet).toContain("360 of bank");
  expect(quiet.filter((line) => line.startsWith("db SELECT")).length).toBe(2);
  for (const seed of [11, 12]) expect(await run(seed)).toEqual(quiet);
});
