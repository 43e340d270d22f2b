// The service pillar map and the scores of pillar values on the real server, with a tick every second.
import { afterEach, describe, expect, it } from "vitest";
import { SERVICE_MAP_BODY_BYTES_MAX, SERVICE_MAP_ENTRIES_MAX } from "../../src/core/config/declaration-limits.ts";
import { answerSchema } from "../support/answer-schema.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const MINUTE_MS = 60_000;
const MINUTES = 45;
const SERVICES = 24;
const PRODUCTS = 3;
const MAP = "/api/v1/pillars/service-map";
const METRICS = ["requests", "errors", "duration_ms.p95", "cpu_percent"];

const bench = new ServerBench();
afterEach(() => bench.close());

interface Score {
  readonly pillar: string;
  readonly value: string;
  readonly score: number | null;
  readonly magnitude: number;
  readonly members: number;
  readonly evaluated: number;
  readonly deviations: Record<string, number>;
  readonly drivers: ReadonlyArray<{ readonly service_id: string; readonly deviations: Record<string, number> }>;
}

async function put(server: ServerProcess, body: string) {
  const response = await fetch(`${server.origin}${MAP}`, { method: "PUT", headers: { "content-type": "application/json" }, body });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const mapOf = (services: number, product: (service: number) => string) =>
  JSON.stringify({
    entries: Array.from({ length: services }, (_, i) => ({ service_id: `service-${i}`, tenant_id: "acme", product_id: product(i) })),
  });

/** Three quarters of an hour of all services; latency of those of product-1 is up since a quarter. */
async function sendBehaviour(server: ServerProcess): Promise<void> {
  const startMs = Date.now() - MINUTES * MINUTE_MS;
  for (let minute = 0; minute < MINUTES; minute++) {
    const records = Array.from({ length: SERVICES * METRICS.length }, (_, i) => {
      const [service, metric] = [Math.floor(i / METRICS.length), i % METRICS.length];
      const isUp = service % PRODUCTS === 1 && metric === 2 && minute > MINUTES - 14;
      const value = 50 + ((minute * 7 + service) % 5) + (isUp ? 10 : 0);
      return { service_id: `service-${service}`, metric_name: METRICS[metric], value, timestamp: new Date(startMs + minute * MINUTE_MS) };
    });
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${server.origin}/api/v1/telemetry/batch`, { method: "POST", headers, body: JSON.stringify(records) });
    expect(response.status).toBe(200);
  }
}

/** The scores once they are as wanted. */
async function scores(server: ServerProcess, isWanted: (scores: readonly Score[]) => boolean): Promise<readonly Score[]> {
  const read = async () => (await server.get<{ scores: Score[] }>("/api/v1/pillars/scores")).scores;
  return until("the scores are there", read, isWanted, { patienceMs: PATIENCE_MS });
}

describe("pillars", () => {
  it("are scored by what their services send, and follow the map", async () => {
    const server = await bench.start({ ENGINES: "2", VECTORIZER_INTERVAL_SECONDS: "1" });
    await sendBehaviour(server);
    expect(
      (
        await put(
          server,
          mapOf(SERVICES, (i) => `product-${i % PRODUCTS}`),
        )
      ).body,
    ).toMatchObject({ upserted: SERVICES, created: SERVICES });
    const first = await scores(
      server,
      (all) => all.length === 1 + PRODUCTS && all.every(({ evaluated, members }) => evaluated === members),
    );
    const products = first.filter(({ pillar }) => pillar === "product");
    const [still, shifted] = products as [Score, Score];
    expect(products.map(({ value, members }) => [value, members])).toEqual([0, 1, 2].map((i) => [`product-${i}`, SERVICES / PRODUCTS]));
    expect(shifted.magnitude).toBeGreaterThan(3);
    expect(shifted.deviations.latency).toBeGreaterThan(3);
    expect(still.magnitude).toBeLessThan(1);
    expect(Number(shifted.drivers[0]?.service_id.split("-")[1]) % PRODUCTS).toBe(1);
    expect(first.find(({ pillar }) => pillar === "tenant")).toMatchObject({ value: "acme", members: SERVICES });
    // Nothing is known of them yet: no score above what so short a history can say.
    for (const { score } of first) expect(score).toBeLessThan(0.5);
    const whole = await server.get<unknown>("/api/v1/pillars/scores");
    expect(answerSchema("pillarScores", 200).safeParse(whole).error).toBeUndefined();
    const status = await server.get<{ components: Record<string, string>; vectorizer: object }>("/api/v1/status");
    expect(status.components.vectorizer).toBe("ok");
    expect(status.vectorizer).toMatchObject({ services: SERVICES, services_evaluated: SERVICES, streams: SERVICES * METRICS.length });
    await put(server, JSON.stringify({ entries: [{ service_id: "service-1", product_id: "product-0" }] }));
    const moved = await scores(server, (all) =>
      all.some(({ value, evaluated }) => value === "product-0" && evaluated === SERVICES / PRODUCTS + 1),
    );
    expect(moved.find(({ value }) => value === "product-1")).toMatchObject({ members: SERVICES / PRODUCTS - 1 });
    expect(moved.find(({ pillar }) => pillar === "tenant")).toMatchObject({ members: SERVICES - 1 });
  });

  it.each(["uws", "node"])("of a whole request of entries are stored when it is answered, over %s", async (engine) => {
    const DATA_DIR = bench.dataFolder();
    const server = await bench.start({ DATA_DIR, HTTP_ENGINE: engine });
    const most = await put(
      server,
      mapOf(SERVICE_MAP_ENTRIES_MAX, (i) => `product-${i % 100}-${"x".repeat(100)}`),
    );
    expect(most).toMatchObject({ status: 200, body: { created: SERVICE_MAP_ENTRIES_MAX } });
    const over = await put(
      server,
      mapOf(SERVICE_MAP_ENTRIES_MAX + 1, () => ""),
    );
    expect(over).toMatchObject({ status: 400, body: { field: "entries" } });
    expect((await put(server, `{"entries":[${" ".repeat(SERVICE_MAP_BODY_BYTES_MAX)}]}`)).status).toBe(413);
    await server.kill();
    const again = await bench.start({ DATA_DIR, HTTP_ENGINE: engine });
    const page = await again.get<{ entries: Array<{ service_id: string }>; total: number; page_token: string }>(MAP, { limit: "1000" });
    expect([page.entries.length, page.total]).toEqual([1_000, SERVICE_MAP_ENTRIES_MAX]);
    expect(page.entries.slice(0, 3).map(({ service_id }) => service_id)).toEqual(["service-0", "service-1", "service-10"]);
    const next = await again.get<{ entries: Array<{ service_id: string }> }>(MAP, { limit: "1", page_token: page.page_token });
    expect((next.entries[0]?.service_id as string) > (page.entries.at(-1)?.service_id as string)).toBe(true);
  });
});
