/** What Prometheus' own linter says of /metrics: nothing, of names, help texts and types. */
import { execFileSync, spawnSync } from "node:child_process";
import { afterAll, describe, expect, it } from "vitest";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

function isMissing(): boolean {
  try {
    execFileSync("promtool", ["--version"], { stdio: "ignore" });
    return false;
  } catch {
    return true;
  }
}

const missing = isMissing();
if (missing) process.stderr.write("promtool.test.ts is skipped: promtool is not installed (apt-get install prometheus)\n");

describe.skipIf(missing)("promtool check metrics", () => {
  const bench = new ServerBench();
  afterAll(() => bench.close());

  it("has no remark on a page that counts requests, refusals and anomalies", async () => {
    const client = new ServerClient((await bench.start()).origin);
    await client.postJson("/api/v1/telemetry", { service_id: "s", metric_name: "m", value: 1, timestamp: new Date().toISOString() });
    await client.postJson("/api/v1/telemetry", {});
    const page = (await client.get("/metrics")).text;
    client.close();
    const { status, stdout, stderr } = spawnSync("promtool", ["check", "metrics"], { input: page, encoding: "utf8" });
    expect([status, stdout, stderr]).toEqual([0, "", ""]);
    expect(page).toContain('svc_validation_failures_total{reason="missing_service_id"} 1');
  });

  it("accepts the rules on Vedette itself", () => {
    const { status, stdout } = spawnSync("promtool", ["check", "rules", "packaging/prometheus/vedette-rules.yml"], { encoding: "utf8" });
    expect([status, stdout]).toEqual([0, expect.stringContaining("SUCCESS")]);
  });
});
