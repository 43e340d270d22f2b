// Lists that a screen asks (ADR 107), over HTTP: filters, orders and pages are the server's, counts come beside, pictures keep every extreme, answers are compressed.
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

const SERVICES = 30;
const SAMPLES = 40;
/** Services whose last value is far from the others. */
const SPIKY = [3, 11, 20, 27];
const WEEK_VALUES = 9_000;
const NOW_MS = Date.now();
const iso = (ms: number) => new Date(ms).toISOString();
const nameOf = (at: number) => `Api-${String(at).padStart(2, "0")}`;

/** Usual values of thirty services, five of them of staging, and a peak of some; one long series with a peak and a trough of one value each. */
function telemetry() {
  const short = Array.from({ length: SERVICES * SAMPLES }, (_, place) => {
    const [at, service] = [Math.floor(place / SERVICES), place % SERVICES];
    const isPeak = at === SAMPLES - 1 && SPIKY.includes(service);
    return {
      service_id: nameOf(service),
      metric_name: service % 2 === 0 ? "queue.depth" : "request.duration_ms",
      value: isPeak ? 400 + 100 * service : 100 + ((at * 7) % 5),
      timestamp: iso(NOW_MS - (SAMPLES - at) * 1000),
      attributes: { env: service < 5 ? "staging" : "production" },
    };
  });
  const long = Array.from({ length: WEEK_VALUES }, (_, at) => ({
    service_id: "long",
    metric_name: "requests",
    value: at === 4_111 ? 777 : at === 7_007 ? -3 : 100 + ((at * 7919) % 13),
    timestamp: iso(NOW_MS - (WEEK_VALUES - at) * 1000),
  }));
  const instances = ["a", "b", "c"].map((zone) => ({
    service_id: "long",
    metric_name: "load",
    value: 1,
    timestamp: iso(NOW_MS),
    attributes: { zone },
  }));
  return [short, long, instances];
}

describe("lists that a screen asks", () => {
  const bench = new ServerBench();
  let client: ServerClient;
  const get = async (path: string) => {
    const answer = await client.get(`/api/v1/${path}`);
    expect([path, answer.status]).toEqual([path, 200]);
    return answer.json();
  };
  const spiked = (body: { anomalies: Array<{ service_id: string }> }) => body.anomalies.map(({ service_id }) => service_id);

  beforeAll(async () => {
    client = new ServerClient((await bench.start({ ENGINES: "1", WATCHDOG_WARMUP_MINUTES: "0" })).origin);
    for (const batch of telemetry()) expect((await client.postJson("/api/v1/telemetry/batch", batch)).status).toBe(200);
    const found = async () => new Set(spiked(await get("anomalies?limit=1000"))).size;
    await vi.waitFor(async () => expect(await found()).toBeGreaterThan(SPIKY.length), { timeout: PATIENCE_MS });
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });

  it("services are found by a part of their name, sorted and paged, with what is open at each", async () => {
    const worst = await get("services?sort=worst&limit=5");
    expect(worst.total).toBe(SERVICES + 1);
    expect(worst.services.filter(({ open_anomalies }: { open_anomalies: number }) => open_anomalies > 0).length).toBeGreaterThanOrEqual(4);
    expect(worst.services[0]).toMatchObject({
      worst_severity: "high",
      maturity: "young",
      streams: expect.any(Number),
      last_sample: expect.any(String),
    });
    const names: string[] = [];
    for (let token = ""; ; ) {
      const { services, page_token } = await get(`services?sort=name&limit=7&q=aPi&page_token=${token}`);
      names.push(...services.map(({ service_id }: { service_id: string }) => service_id));
      if (page_token === "") break;
      token = page_token;
    }
    expect(names).toEqual(Array.from({ length: SERVICES }, (_, at) => nameOf(at)));
    expect((await get("services?environment=staging&state=quiet")).total).toBe(4);
    expect((await client.get("/api/v1/services?sort=best")).json()).toMatchObject({ error: "invalid_parameter", field: "sort" });
  });

  it("anomalies are filtered, sorted, told without verdicts, and counted by severity over time", async () => {
    expect(new Set(spiked(await get("anomalies?q=API")))).toEqual(new Set(SPIKY.map(nameOf)));
    expect(new Set(spiked(await get("anomalies?q=api&metric_name=queue.depth")))).toEqual(new Set([nameOf(20)]));
    expect(new Set(spiked(await get("anomalies?environment=staging&state=open&detector=z_score")))).toEqual(new Set([nameOf(3)]));
    expect((await get("anomalies?q=api&severity=low")).total + (await get("anomalies?q=api&severity=medium")).total).toBeLessThan(
      SPIKY.length,
    );
    const byScore = (await get("anomalies?sort=score&view=list&limit=1000")).anomalies;
    const scores = byScore.map(({ anomaly_score }: { anomaly_score: number }) => anomaly_score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(byScore.every((row: object) => !("verdict" in row))).toBe(true);
    const pages = [];
    for (let token = ""; ; ) {
      const { anomalies, page_token } = await get(`anomalies?sort=score&limit=2&page_token=${token}`);
      pages.push(...anomalies.map(({ anomaly_id }: { anomaly_id: string }) => anomaly_id));
      if (page_token === "") break;
      token = page_token;
    }
    expect(pages).toEqual(byScore.map(({ anomaly_id }: { anomaly_id: string }) => anomaly_id));
    const { counts, total } = await get(`anomalies?since=${iso(NOW_MS - 3_600_000)}&until=${iso(NOW_MS + 3_600_000)}&buckets=12&limit=1`);
    expect(counts.low + counts.medium + counts.high).toBe(total);
    expect(counts.buckets).toHaveLength(12);
    const inBuckets = counts.buckets.reduce((sum: number, { low, medium, high }: Record<string, number>) => sum + Number(low) + Number(medium) + Number(high), 0); // biome-ignore format: one row
    expect(inBuckets).toBe(total);
    expect((await client.get("/api/v1/anomalies?buckets=12")).json()).toMatchObject({ error: "invalid_parameter", field: "buckets" });
  });

  it("alerts are filtered by a part of a name, by who has them, counted and paged; anomalies by their alert", async () => {
    const all = await get("alerts?q=api");
    const [first] = all.alerts;
    expect((await get(`anomalies?alert_id=${first.alert_id}`)).anomalies.every(({ alert_id }: { alert_id: string }) => alert_id === first.alert_id)).toBe(true); // biome-ignore format: one row
    expect((await client.postJson(`/api/v1/alerts/${first.alert_id}/acknowledge`, {})).status).toBe(200);
    expect((await get("alerts?acknowledged=true")).alerts.map(({ alert_id }: { alert_id: string }) => alert_id)).toEqual([first.alert_id]);
    expect((await get("alerts?q=api&acknowledged=false")).total).toBe(all.total - 1);
    expect((await get("alerts?team=nobody")).total).toBe(0);
    const { counts, total } = await get(`alerts?since=${iso(NOW_MS - 3_600_000)}&until=${iso(NOW_MS + 3_600_000)}&buckets=4&limit=1`);
    expect([counts.buckets.length, counts.low + counts.medium + counts.high]).toEqual([4, total]);
  });

  it("series are found by a part of their name", async () => {
    expect((await get("series?q=DURATION&environment=staging")).total).toBe(2);
    expect((await get("series?service_id=long&q=oa")).series.map(({ attributes }: { attributes: object }) => attributes)).toEqual([
      { zone: "a" },
      { zone: "b" },
      { zone: "c" },
    ]);
  });

  it("a picture of many values has each peak and trough, several series come in one answer, each with its anomalies", async () => {
    const { points, anomalies, complete } = await get("series/data?service_id=long&metric_name=requests&points=200");
    const values = points.map(({ value }: { value: number }) => value);
    expect([complete, values.includes(777), values.includes(-3), points.length <= 402]).toEqual([true, true, true, true]);
    expect(points[0].timestamp).toBe(iso(NOW_MS - WEEK_VALUES * 1000));
    expect(anomalies.map(({ direction }: { direction: string }) => direction)).toContain("high");
    const several = await get('series/data?service_id=long&metric_name=load&series=24&points=100&metrics=["requests"]');
    const named = [several, ...several.more].map(({ metric_name, attributes }) => `${metric_name} ${attributes.zone ?? ""}`);
    expect(named).toEqual(["load a", "load b", "load c", "requests "]);
    expect([several.matches, several.anomalies.length, several.more[2].anomalies.length]).toEqual([4, 0, anomalies.length]);
  });

  it("the graph is bounded in depth and nodes", async () => {
    expect(await get("graph?service_id=long&depth=6&nodes=500")).toMatchObject({ nodes: [], edges: [], nodes_total: 0, complete: true });
    for (const query of ["depth=7", "depth=0", "nodes=501"])
      expect((await client.get(`/api/v1/graph?${query}`)).json()).toMatchObject({ error: "invalid_parameter" });
  });

  it("answers of 1 KiB and more, and the documents, are gzip where the client takes it", async () => {
    const raw = async (path: string, headers: Record<string, string>) => {
      const response = await client.open({ path, headers });
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk as Buffer);
      return { encoding: response.headers["content-encoding"], vary: response.headers.vary, body: Buffer.concat(chunks) };
    };
    const gzip = { "Accept-Encoding": "gzip, deflate, br" };
    for (const path of ["/api/v1/services?limit=30", "/openapi.json", "/docs"]) {
      const [packed, plain, refused] = [await raw(path, gzip), await raw(path, {}), await raw(path, { "Accept-Encoding": "gzip;q=0, br" })];
      expect([path, packed.encoding, plain.encoding, refused.encoding]).toEqual([path, "gzip", undefined, undefined]);
      expect([path, packed.vary]).toEqual([path, "Accept-Encoding"]);
      expect([path, gunzipSync(packed.body).equals(plain.body)]).toEqual([path, true]);
      expect(packed.body.length).toBeLessThan(plain.body.length / 3);
    }
    expect((await raw("/api/v1/services?limit=1", gzip)).encoding).toBeUndefined();
  });

  it("an entry of the service map keeps its custom keys until {} clears them", async () => {
    const put = (entry: object) =>
      client.ask({
        method: "PUT",
        path: "/api/v1/pillars/service-map",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ entries: [{ service_id: "checkout", ...entry }] }),
      });
    const stored = async () => (await get("pillars/service-map")).entries;
    await put({ tenant_id: "acme", custom_keys: { region: "eu" } });
    await put({ tenant_id: "globex" });
    expect(await stored()).toEqual([{ service_id: "checkout", tenant_id: "globex", product_id: "", custom_keys: { region: "eu" } }]);
    await put({ tenant_id: "globex", custom_keys: {} });
    expect(await stored()).toEqual([{ service_id: "checkout", tenant_id: "globex", product_id: "", custom_keys: {} }]);
  });

  it("the status says how late detection is", async () => {
    const { detection } = await get("status");
    expect(detection.p99_ms).toBeGreaterThanOrEqual(detection.p50_ms);
    expect(detection.p50_ms).toBeGreaterThan(0);
  });
});
