// Two small services under the real OpenTelemetry SDK, in both encodings: what they export is understood, and their traces join to a call graph.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const REQUESTS = 20;

const bench = new ServerBench();
const services: ChildProcess[] = [];
afterEach(async () => {
  for (const service of services.splice(0)) service.kill("SIGKILL");
  await bench.close();
});

/** One service; `say` waits for its next line. */
async function startService(...args: readonly string[]) {
  const service = spawn(process.execPath, ["test/support/instrumented-service.cjs", ...args], { stdio: ["pipe", "pipe", "inherit"] });
  services.push(service);
  const line = async () => String((await once(service.stdout, "data"))[0]).trim();
  const origin = `http://127.0.0.1:${await line()}`;
  const flush = async () => {
    service.stdin.write("\n");
    expect(await line()).toBe("flushed");
  };
  return { origin, flush };
}

interface Listed {
  readonly series: ReadonlyArray<{ service_id: string; metric_name: string; environment: string; attributes: Record<string, unknown> }>;
}
interface Points {
  readonly points: ReadonlyArray<{ value: number }>;
}
interface CallGraph {
  readonly edges: ReadonlyArray<{ caller: string; callee: string; calls: number; errors: number }>;
}

async function valuesOf(server: ServerProcess, service: string, metric: string): Promise<number[]> {
  const { points } = await server.get<Points>("/api/v1/series/data", { service_id: service, metric_name: metric });
  return points.map(({ value }) => value);
}

type Vector = ReadonlyArray<readonly [labels: Record<string, string>, value: number]>;

/** The answer to an expression now. */
async function query(server: ServerProcess, expression: string): Promise<Vector> {
  const { data } = await server.get<{ data: { result: ReadonlyArray<{ metric: Record<string, string>; value: [number, string] }> } }>(
    "/prometheus/api/v1/query",
    { query: expression },
  );
  return data.result.map(({ metric, value }) => [metric, Number(value[1])]);
}

/** What queries find of a histogram that has one series: its labels without bounds, counts by bound, all and their sum. */
async function classicHistogram(server: ServerProcess, service: string, metric: string) {
  const [buckets, counts, sums] = await Promise.all(
    ["bucket", "count", "sum"].map((part) => query(server, `{"${metric}_${part}", service_id="${service}"}`)),
  );
  const [[{ __name__: _, ...labels }, count] = [{}, 0], ...others] = counts ?? [];
  expect([others.length, sums?.length]).toEqual([0, 1]);
  return { labels, count, sum: sums?.[0]?.[1], buckets: Object.fromEntries((buckets ?? []).map(([{ le }, value]) => [le, value])) };
}

describe.each([
  ["proto", "cumulative"],
  ["http", "delta"],
])("the OpenTelemetry SDK, %s exporters, %s", (encoding, temporality) => {
  it("tells of metrics, spans and logs", async () => {
    const server = await bench.start({ ENGINES: "2", OTLP_PORT: "0", ALERTS_PORT: "0" });
    const backend = await startService("backend", server.origin, encoding, temporality);
    const frontend = await startService("frontend", server.origin, encoding, temporality, backend.origin);
    const round = async () => {
      for (let i = 0; i < REQUESTS; i++) await (await fetch(`${frontend.origin}${i % 5 === 4 ? "/broken" : "/"}`)).text();
      await Promise.all([backend.flush(), frontend.flush()]);
    };
    await round();
    await round();

    const { series } = await server.get<Listed>("/api/v1/series", { service_id: "backend" });
    const names = new Set(series.map(({ metric_name }) => metric_name));
    for (const name of ["orders", "queue.depth", "basket.size.p50", "basket.size.p95", "basket.size.p99", "basket.size.count"])
      expect(names, name).toContain(name);
    expect(series.find(({ metric_name }) => metric_name === "orders")).toMatchObject({ environment: "test", attributes: { region: "eu" } });
    // Cumulative or delta: the second round added as many.
    expect((await valuesOf(server, "backend", "orders")).at(-1)).toBe(2 * REQUESTS);
    expect((await valuesOf(server, "backend", "basket.size.count")).at(-1)).toBe(REQUESTS);
    expect(await valuesOf(server, "backend", "queue.depth")).toEqual([7, 7]);

    const histogram = await classicHistogram(server, "backend", "basket.size");
    expect(histogram.labels).toEqual({ service_id: "backend", environment: "test", "deployment.environment.name": "test" });
    // Of 1 to 2 * REQUESTS the last digits, cumulative whatever the sender's temporality.
    expect(histogram.buckets).toEqual({ "1": 8, "2": 12, "5": 24, "10": 40, "+Inf": 40 });
    expect([histogram.count, histogram.sum]).toEqual([2 * REQUESTS, 180]);
    expect(await query(server, 'histogram_quantile(0.9, sum by (le) ({"basket.size_bucket", service_id="backend"}))')).toEqual([
      [{}, 8.75],
    ]);
    expect([...names].filter((name) => name.startsWith("basket.size_"))).toEqual([]);

    await expect
      .poll(async () =>
        (await server.get<CallGraph>("/api/v1/call-graph")).edges.map(({ caller, callee, calls, errors }) => ({
          caller,
          callee,
          calls,
          errors,
        })),
      )
      .toEqual([{ caller: "frontend", callee: "backend", calls: 2 * REQUESTS, errors: (2 * REQUESTS) / 5 }]);
    await expect
      .poll(async () => (await valuesOf(server, "backend", "service.requests")).reduce((sum, value) => sum + value, 0), {
        interval: 500,
      })
      .toBe(2 * REQUESTS);
    const logs = await server.get<{ total: number; records: ReadonlyArray<{ body: string }> }>("/api/v1/records", {
      service_id: "backend",
      type: "log",
    });
    expect(logs.records.map(({ body }) => body)).toContain("order 1 taken from 10.0.0.1");
    const spans = await server.get<{ records: ReadonlyArray<{ trace_id: string }> }>("/api/v1/records", {
      service_id: "frontend",
      type: "trace",
    });
    expect(spans.records.length).toBeGreaterThan(0);
    const dead = await server.get<{ total_failed: number }>("/api/v1/debug/dlq-stats");
    expect(dead.total_failed).toBe(0);

    await server.kill();
    const again = await bench.start({ ENGINES: "1", OTLP_PORT: "0", ALERTS_PORT: "0", DATA_DIR: server.dataDir });
    expect(await classicHistogram(again, "backend", "basket.size")).toEqual(histogram);
  });
});
