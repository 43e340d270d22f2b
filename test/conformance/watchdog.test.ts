// The Watchdog's cycle on the real server: baselines that an import has made ripe, a level that moves and a season that breaks, and what the status says.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { STATUS } from "../../src/api/shapes/server.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const MINUTE_MS = 60_000;
const STEP_MS = 5 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DAYS = 9;
const LIVE_STEPS = 18;
const ROWS_PER_REQUEST = 2_000;

const bench = new ServerBench();
afterEach(() => bench.close());

interface Found {
  readonly service_id: string;
  readonly detector: string;
  readonly direction: string;
  readonly anomaly_score: number;
  readonly explanation: string;
  readonly verdict: {
    readonly detector: string;
    readonly layers: readonly string[];
    readonly baseline: { readonly bucket: string | null; readonly n: number };
  };
}

/** Repeats every 11 steps, with a standard deviation of about 1. */
const wobble = (step: number) => ((((step * 7) % 11) + 11) % 11) / 3.2 - 1.6;
/** A day that is at its highest when the live values begin. */
const seasonal = (step: number) => 200 + 80 * Math.cos((2 * Math.PI * step * STEP_MS) / DAY_MS);

/** Steady services: one whose level moves by 2.6 while live, one with a season that stops, and each without. */
function valuesAt(step: number): ReadonlyArray<readonly [service: string, value: number]> {
  const isLive = step >= 0;
  return [
    ["moved", 100 + wobble(step) + (isLive ? 2.6 : 0)],
    ["steady", 100 + wobble(step)],
    ["broken", (isLive ? 200 : seasonal(step)) + wobble(step)],
    ["seasonal", seasonal(step) + wobble(step)],
  ];
}

async function post(server: ServerProcess, path: string, type: string, body: string, token = ""): Promise<void> {
  const headers: Record<string, string> = { "content-type": type, ...(token !== "" && { authorization: `Bearer ${token}` }) };
  const response = await fetch(`${server.origin}${path}`, { method: "POST", headers, body });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  await response.arrayBuffer();
}

async function importHistory(server: ServerProcess, token: string, startMs: number): Promise<void> {
  const rows: string[] = [];
  for (let step = (-DAYS * DAY_MS) / STEP_MS; step < 0; step++) {
    for (const [service, value] of valuesAt(step)) rows.push(`${startMs + step * STEP_MS},${service},load,${value}`);
  }
  for (let from = 0; from < rows.length; from += ROWS_PER_REQUEST) {
    const lines = ["timestamp,service_id,metric_name,value", ...rows.slice(from, from + ROWS_PER_REQUEST)];
    await post(server, "/api/v1/import", "text/csv", `${lines.join("\n")}\n`, token);
  }
}

async function sendLive(server: ServerProcess, startMs: number): Promise<void> {
  for (let step = 0; step < LIVE_STEPS; step++) {
    const timestamp = new Date(startMs + step * STEP_MS);
    const records = valuesAt(step).map(([service, value]) => ({ service_id: service, metric_name: "load", value, timestamp }));
    await post(server, "/api/v1/telemetry/batch", "application/json", JSON.stringify(records));
  }
}

/** Asks until the answer is as wanted. */
async function awaited<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean): Promise<T> {
  return until("the Watchdog finds it", ask, isWanted, { patienceMs: PATIENCE_MS, everyMs: 200 });
}

describe("the Watchdog", () => {
  it("finds a level that moved and a season that broke, by baselines of imported history", async () => {
    const folder = bench.dataFolder();
    // Layer 1 alone would tell of a broken season too: at this threshold it leaves both to the long baselines.
    const server = await bench.start({ DATA_DIR: folder, ENGINES: "2", WATCHDOG_INTERVAL_SECONDS: "5", WATCHDOG_Z_SCORE_THRESHOLD: "20" });
    const startMs = Date.now() - LIVE_STEPS * STEP_MS;
    await importHistory(server, readFileSync(join(folder, "admin-token"), "utf8").trim(), startMs);
    await sendLive(server, startMs);
    const services = (found: readonly Found[]) => found.map(({ service_id: service }) => service).sort();
    const { anomalies } = await awaited(
      () => server.get<{ anomalies: Found[] }>("/api/v1/anomalies"),
      ({ anomalies: found }) => found.length >= 2,
    );
    expect(services(anomalies)).toEqual(["broken", "moved"]);
    for (const { detector, verdict, anomaly_score: score } of anomalies) {
      expect([detector, verdict.detector, verdict.layers, score >= 0.4]).toEqual([
        "adaptive",
        "adaptive",
        ["statistical", "adaptive"],
        true,
      ]);
      expect(verdict.baseline.n).toBeGreaterThan((DAYS * DAY_MS) / STEP_MS);
    }
    expect(anomalies.find(({ service_id: service }) => service === "moved")?.direction).toBe("high");

    const status = STATUS.parse(await server.get("/api/v1/status"));
    expect(status.components.watchdog).toBe("ok");
    expect(status.watchdog.layers).toEqual(expect.arrayContaining(["statistical", "adaptive"]));
    expect(status.watchdog.passes.find(({ pass }) => pass === "pairs")).toMatchObject({ evaluated: 4, learning: 0, skipped: {} });
  });

  it("refuses a time zone that it does not know, by its name", async () => {
    await expect(bench.start({ DETECTION_TIMEZONE: "Mars/Olympus" })).rejects.toThrow(/DETECTION_TIMEZONE.*Mars\/Olympus/);
  });
});
