// A disk that fills, on the real server: its past is imported, its present comes live, and the finding outlives a kill.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const MINUTE_MS = 60_000;
const HOURS = 12;
/** 40 % twelve hours ago and 4 points more each hour: 88 % now, full in three hours. */
const levelAt = (ms: number, nowMs: number) => 88 + (4 * (ms - nowMs)) / 3_600_000;
const bench = new ServerBench();
const clients: ServerClient[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) client.close();
  await bench.close();
});

it("tells a disk that fills with its limit and its end, and goes on with it after a kill", async () => {
  const folder = bench.dataFolder();
  const settings = { DATA_DIR: folder, ENGINES: "2", WATCHDOG_INTERVAL_SECONDS: "5" };
  const server = await bench.start(settings);
  const client = new ServerClient(server.origin);
  clients.push(client);
  const beganMs = Date.now();
  const past = Array.from({ length: HOURS * 60 }, (_, i) => beganMs - (HOURS * 60 - i) * MINUTE_MS);
  const rows = past.map((ms) => `${ms},db,disk.used_percent,${levelAt(ms, beganMs)},node-1`);
  const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
  const imported = await client.ask({
    method: "POST",
    path: "/api/v1/import",
    headers: { Authorization: `Bearer ${token}`, "Content-Type": "text/csv" },
    body: `timestamp,service_id,metric_name,value,host.name\n${rows.join("\n")}\n`,
  });
  expect(imported.status).toBe(200);
  const sendNow = async (to: ServerClient) => {
    const nowMs = Date.now();
    const attributes = { "host.name": "node-1" };
    const record = { service_id: "db", metric_name: "disk.used_percent", value: levelAt(nowMs, beganMs), attributes };
    await to.postJson("/api/v1/telemetry/batch", [{ ...record, timestamp: new Date(nowMs).toISOString() }]);
  };
  const fireOf = async (from: ServerClient, isIt: (fire: Record<string, unknown>) => boolean) => {
    const look = async () => {
      await sendNow(from);
      return (await from.get("/api/v1/saturation/fires?state=firing")).json().fires;
    };
    const fires = await until("a finding", look, (found) => found.some(isIt), { patienceMs: MINUTE_MS, everyMs: 500 });
    return fires.find(isIt);
  };
  const fire = await fireOf(client, () => true);
  expect(fire).toMatchObject({
    service_id: "db",
    metric_name: "disk.used_percent",
    instance: "node-1",
    tier: "medium",
    limit: 100,
    unit: "%",
    rule: "time_to_exhaustion",
  });
  const fullMs = beganMs + 3 * 3_600_000;
  expect(Math.abs(Date.parse(fire.projected_at) - fullMs)).toBeLessThan(0.2 * 3 * 3_600_000);
  expect(fire.explanation).toContain("disk.used_percent on node-1 is 88% of 100%");

  await server.kill();
  const restarted = await bench.start(settings);
  const again = new ServerClient(restarted.origin);
  clients.push(again);
  const killedMs = Date.now();
  const held = await fireOf(again, ({ updated_at }) => Date.parse(updated_at as string) > killedMs);
  expect(held.fire_id).toBe(fire.fire_id);
  const { anomalies } = (await again.get("/api/v1/anomalies?service_id=db")).json();
  expect(anomalies.filter(({ detector }: Record<string, unknown>) => detector === "saturation")).toHaveLength(1);
});
