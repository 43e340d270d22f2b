/** Layer 2 on the real server: a model from imported history, a relation that breaks while every metric stays in its range, a restart. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { seededRandom } from "../../src/domain/detection/multivariate/isolation-forest.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const STEP_MS = 5_000;
const HISTORY = 500;
/** What each metric does with the load that drives all of them. */
const FACTORS: Readonly<Record<string, number>> = { requests: 40, cpu: 20, memory: 5, queue: 8, latency: 12, threads: -10 };

const bench = new ServerBench();
const clients: ServerClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await bench.close();
});

interface Started {
  readonly server: ServerProcess;
  readonly client: ServerClient;
}

/** Metrics that follow one load, each with its own noise; `broken` follows the opposite. */
function shop(): (broken?: string) => Record<string, number> {
  const random = seededRandom(5);
  let load = 0;
  return (broken) => {
    // Away from the middle, so that the opposite is another value.
    load = 0.9 * load + (random() - 0.5);
    const at = broken === undefined ? load : Math.sign(load) * Math.max(1, Math.abs(load));
    return Object.fromEntries(
      Object.entries(FACTORS).map(([name, factor]) => [
        name,
        100 + (name === broken ? -1 : 1) * factor * at + 0.02 * factor * (random() - 0.5),
      ]),
    );
  };
}

async function start(folder: string): Promise<Started> {
  const server = await bench.start({ DATA_DIR: folder, ENGINES: "1", WATCHDOG_INTERVAL_SECONDS: "5" });
  const client = new ServerClient(server.origin);
  clients.push(client);
  return { server, client };
}

/** A counter or gauge of /metrics, summed over its labels. */
async function metric({ client }: Started, name: string): Promise<number> {
  const page = (await client.get("/metrics")).text;
  return page
    .split("\n")
    .filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    .reduce((sum, line) => sum + Number(line.split(" ").at(-1)), 0);
}

/** Sends vectors at every other second until `isDone`. */
async function sendUntil({ client }: Started, next: () => Record<string, number>, isDone: () => Promise<boolean>): Promise<void> {
  const look = async () => {
    if (await isDone()) return true;
    const timestamp = new Date().toISOString();
    const records = Object.entries(next()).map(([metric_name, value]) => ({ service_id: "shop", metric_name, value, timestamp }));
    await client.postJson("/api/v1/telemetry/batch", records);
    return false;
  };
  await until("what the vectors are sent for", look, undefined, { patienceMs: PATIENCE_MS, everyMs: 2_000 });
}

const anomalies = async ({ client }: Started) =>
  ((await client.get("/api/v1/anomalies")).json().anomalies as Array<Record<string, unknown>>).filter(
    ({ metric_name }) => metric_name === "service.multivariate",
  );

describe("the pass over services", () => {
  it("finds a broken relation among metrics in their ranges, and keeps its model over a restart", async () => {
    const folder = bench.dataFolder();
    let started = await start(folder);
    const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
    const next = shop();
    const nowMs = Date.now();
    const rows = Array.from({ length: HISTORY }, (_, i) =>
      Object.entries(next()).map(([name, value]) => `${nowMs - (HISTORY - i) * STEP_MS},shop,${name},${value}`),
    ).flat();
    const imported = await started.client.ask({
      method: "POST",
      path: "/api/v1/import",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "text/csv" },
      body: `timestamp,service_id,metric_name,value\n${rows.join("\n")}\n`,
    });
    expect(imported.json()).toMatchObject({ imported: rows.length, failed: 0 });
    const trained = async () => (await metric(started, "vedette_service_models_trained_total")) === 1;
    await sendUntil(started, next, trained);
    expect(await anomalies(started)).toEqual([]);

    await started.server.stop();
    started = await start(folder);
    const loaded = async () => (await metric(started, "vedette_service_models_loaded_total")) === 1;
    await sendUntil(started, next, loaded);
    await sendUntil(
      started,
      () => next("latency"),
      async () => (await anomalies(started)).length > 0,
    );
    const [found] = await anomalies(started);
    expect(found).toMatchObject({ service_id: "shop", detector: "isolation_forest", resolved: false });
    const { verdict, explanation } = found as {
      verdict: { contributions: Array<{ feature: string }>; features: object };
      explanation: string;
    };
    expect(verdict.contributions[0]?.feature).toBe("latency");
    expect(explanation).toMatch(/^6 metrics .* latency was /);
    expect(verdict.features).toMatchObject({ metric_name: "latency", correlated_metrics: { cpu: expect.any(Number) } });
    expect(await metric(started, "vedette_service_models_trained_total")).toBe(0);
  });
});
