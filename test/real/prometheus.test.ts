/**
 * A real Prometheus that scrapes a real node exporter every second and writes to the server: nothing is lost or refused, the values are its own,
 * and every anomaly of these quiet minutes can be explained. PROMETHEUS_MINUTES=5 watches for longer; the number of anomalies is printed.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { missingPeer, PrometheusPeers, type StoredSample } from "../support/prometheus-peers.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const MINUTES = Number(process.env.PROMETHEUS_MINUTES ?? 1.1);
const SCRAPE_SECONDS = 1;
/** Prometheus begins to send when it has read its own log, 5 to 7 s after its start. */
const HEAD_START_MS = 8_000;
/** Recorded each second: a ratio of which nothing is known yet is 0/0, which is no number. */
const RULES = { "node:ratio": "(node_load1 - node_load1) / 0", "node:load": "node_load1 + 1" };
const COUNTER_NAME = /_(?:total|count|sum|bucket)$/;

const missing = missingPeer();
if (missing !== undefined)
  process.stderr.write(
    `prometheus.test.ts is skipped: ${missing} is not installed (apt-get install prometheus prometheus-node-exporter)\n`,
  );

interface Series {
  readonly service_id: string;
  readonly metric_name: string;
  readonly kind: string;
  readonly samples: number;
  readonly type: string | null;
}

interface Gate {
  readonly passed: boolean;
}

interface Anomaly {
  readonly service_id: string;
  readonly metric_name: string;
  readonly direction: string;
  readonly z_score: number;
  readonly explanation: string;
  readonly verdict: {
    readonly observed: number;
    readonly lower: number;
    readonly upper: number;
    readonly z: number;
    readonly threshold: number;
    readonly baseline: { readonly n: number };
    readonly gates: readonly Gate[];
    readonly suppressed_by: string | null;
  };
}

describe.skipIf(missing !== undefined)("a real Prometheus", () => {
  const bench = new ServerBench();
  const peers = new PrometheusPeers();
  let server: ServerProcess;
  beforeAll(
    async () => {
      server = await bench.start();
      await peers.start(`${server.origin}/api/v1/rwmetrics/write`, SCRAPE_SECONDS, {}, RULES);
      await new Promise((resolve) => setTimeout(resolve, HEAD_START_MS + MINUTES * 60_000));
    },
    MINUTES * 60_000 + 60_000,
  );
  afterAll(async () => {
    await peers.close();
    await bench.close();
  });

  const ours = async (metricName: string, attributes: object): Promise<StoredSample[]> => {
    const query = {
      service_id: "node",
      metric_name: metricName,
      attributes: JSON.stringify({ instance: peers.instance, ...attributes }),
      limit: "10000",
    };
    const { points } = await server.get<{ points: ReadonlyArray<{ timestamp: string; value: number }> }>("/api/v1/series/data", query);
    return points.map(({ timestamp, value }) => [Date.parse(timestamp), value]);
  };

  it("sends everything and hears no complaint", async () => {
    for (const name of ["samples_failed_total", "samples_dropped_total", "samples_retried_total", "metadata_failed_total"]) {
      expect([name, await peers.ownMetric(`prometheus_remote_storage_${name}`)]).toEqual([name, 0]);
    }
    expect(await peers.ownMetric("prometheus_remote_storage_samples_total")).toBeGreaterThan(300 * MINUTES * 40);
    expect(peers.complaints).toEqual([]);
  });

  it("has no dead letter, reads what a rule records that is no number, and has all values of the other", async () => {
    expect((await server.get<{ total: number }>("/api/v1/dlq")).total).toBe(0);
    const { data } = await server.get<{ data: { result: ReadonlyArray<{ value: [number, string] }> } }>("/prometheus/api/v1/query", {
      query: "node:ratio",
    });
    expect(data.result.map(({ value }) => value[1])).toEqual(["NaN"]);
    const held = await ours("node:load", {});
    const theirs = new Map(await peers.samples(`node:load{job="node",instance="${peers.instance}"}`));
    expect(held.length).toBeGreaterThan(20);
    expect(held).toEqual(held.map(([timeMs]) => [timeMs, theirs.get(timeMs)]));
  });

  it("finds its series here: service by job, counters known as such", async () => {
    const { series, total } = await server.get<{ series: Series[]; total: number }>("/api/v1/series", {
      limit: "1000",
    });
    expect(total).toBeGreaterThan(300);
    expect(new Set(series.map(({ service_id }) => service_id))).toEqual(new Set(["node"]));
    // Prometheus sends metadata at its start and every minute.
    expect(series.filter(({ type }) => type !== null).length).toBeGreaterThan(200);
    for (const { metric_name, kind, type } of series) {
      const counts = type === "counter" || (type !== "gauge" && COUNTER_NAME.test(metric_name));
      expect([metric_name, kind]).toEqual([metric_name, counts ? "counter" : "gauge"]);
    }
  });

  it("finds its values here, to the last bit", async () => {
    const { instance } = peers;
    for (const name of ["node_load1", "node_memory_MemAvailable_bytes", "node_scrape_collector_success"]) {
      const labels = name === "node_scrape_collector_success" ? { collector: "loadavg" } : {};
      const selector = Object.entries({ job: "node", instance, ...labels }).map(([label, value]) => `${label}="${value}"`);
      // Ours first: what has come here they hold already.
      const held = await ours(name, labels);
      const theirs = new Map(await peers.samples(`${name}{${selector.join()}}`));
      expect(held.length).toBeGreaterThan(20);
      expect(held).toEqual(held.map(([timeMs]) => [timeMs, theirs.get(timeMs)]));
    }
    const held = await ours("node_cpu_seconds_total", { cpu: "0", mode: "user" });
    const theirs = await peers.samples(`node_cpu_seconds_total{job="node",instance="${instance}",cpu="0",mode="user"}`);
    const increases = new Map(theirs.slice(1).map(([timeMs, value], i) => [timeMs, value - (theirs[i] as StoredSample)[1]]));
    expect(held.length).toBeGreaterThan(20);
    expect(held).toEqual(held.map(([timeMs]) => [timeMs, increases.get(timeMs)]));
  });

  it("every anomaly of these minutes explains itself", async () => {
    const { anomalies, total } = await server.get<{ anomalies: Anomaly[]; total: number }>("/api/v1/anomalies", {
      limit: "1000",
    });
    process.stderr.write(`prometheus.test.ts: ${total} anomalies in ${MINUTES} minutes at ${SCRAPE_SECONDS} s\n`);
    for (const { metric_name, direction, z_score, explanation, verdict } of anomalies) {
      const { observed, lower, upper, threshold, baseline, gates } = verdict;
      expect(explanation).toContain(metric_name);
      expect([metric_name, direction === "high" ? observed > upper : observed < lower]).toEqual([metric_name, true]);
      expect([metric_name, Math.abs(z_score) > threshold && Math.sign(z_score) === (direction === "high" ? 1 : -1)]).toEqual([
        metric_name,
        true,
      ]);
      expect([metric_name, verdict.suppressed_by, gates.every(({ passed }) => passed), baseline.n >= 12]).toEqual([
        metric_name,
        null,
        true,
        true,
      ]);
    }
  });
});
