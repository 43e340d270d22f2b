// Fire drills on the real server: from planted samples to a receiver and back, and what is said where they do not come through.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { FakeReceivers } from "../support/fake-receivers.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const bench = new ServerBench();
let receivers: FakeReceivers;
let server: ServerProcess;
let folder: string;

beforeAll(async () => {
  receivers = await FakeReceivers.open();
  folder = bench.dataFolder();
  server = await bench.start({
    ENGINES: "1",
    DATA_DIR: folder,
    CHAT_WEBHOOK_URL: `${receivers.origin}/slack/T/B/hush`,
    PAGER_ROUTING_KEY: "0123456789abcdef0123456789abcdef",
    PAGER_URL: `${receivers.origin}/pd/v2/enqueue`,
    NOTIFY_LIMITS: "chat=1000,pager=1000",
  });
});
afterAll(async () => {
  receivers.close();
  await bench.close();
});

async function call(method: string, path: string, body?: unknown) {
  const token = readFileSync(join(folder, "admin-token"), "utf8").trim();
  const headers = { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) };
  const response = await fetch(`${server.origin}${path}`, { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) });
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of all shapes
  return { status: response.status, body: (await response.json()) as any };
}

const DRILL = "Fire drill, nothing has happened. ";
/** Of the service of drills, each of which says that it is one; others are of other tests. */
const pages = () => receivers.received.map(({ body }) => body.event_action ?? String(body.text).replace(DRILL, "drill ").split(":")[0]);

describe("a fire drill", () => {
  it("goes from samples to every receiver and ends there, each stage with its time, again and again, and is audited", async () => {
    for (const round of [1, 2]) {
      const { status, body } = await call("POST", "/api/v1/drill");
      expect(status).toBe(200);
      expect(body).toMatchObject({ result: "passed", failed_stage: null, reason: null });
      expect(body.stages.map(({ stage, state }: { stage: string; state: string }) => [stage, state])).toEqual(
        ["ingest", "detect", "route", "receive", "resolve"].map((stage) => [stage, "passed"]),
      );
      const times = body.stages.map(({ after_ms }: { after_ms: number }) => after_ms);
      expect([...times].sort((a, b) => a - b)).toEqual(times);
      expect(body.deliveries.map(({ channel, state }: { channel: string; state: string }) => [channel, state])).toEqual(
        expect.arrayContaining([
          ["chat", "delivered"],
          ["pager", "delivered"],
        ]),
      );
      expect(pages().sort()).toEqual(["drill Firing", "drill Resolved", "resolve", "trigger"].flatMap((kind) => Array(round).fill(kind)));
    }
    const summaries = receivers.received.flatMap(({ body }) => body.payload?.summary ?? []);
    expect(summaries.every((summary) => summary.startsWith(DRILL))).toBe(true);
    const { entries } = (await call("GET", "/api/v1/audit")).body;
    expect(entries.map(({ action }: { action: string }) => action)).toEqual(["drill.end", "drill.start", "drill.end", "drill.start"]);
    const status = (await call("GET", "/api/v1/status")).body;
    expect([status.components.drill, status.drill.result]).toEqual(["ok", "passed"]);
    expect((await call("GET", "/api/v1/rca/reports")).body.total).toBe(0);
    const owner = await fetch(server.signInLink, { headers: { accept: "application/json" } });
    const { access_token } = (await owner.json()) as { access_token: string };
    const billing = await fetch(`${server.origin}/api/v1/billing/usage`, { headers: { authorization: `Bearer ${access_token}` } });
    const { tenants } = (await billing.json()) as { tenants: ReadonlyArray<{ tenant_id: string; events: number }> };
    expect(tenants.map(({ events }) => events)).toEqual([0]);
  });

  it("fails where a receiver does not take its page, with its stage and its reason, in status and metrics, and ends its page", async () => {
    receivers.received.length = 0;
    receivers.behaviour = (path) => (path.startsWith("/slack/") ? 404 : undefined);
    const { body } = await call("POST", "/api/v1/drill", {});
    receivers.behaviour = () => undefined;
    expect(body).toMatchObject({ result: "failed", failed_stage: "receive" });
    expect(body.reason).toContain("chat: ");
    expect(body.reason).toContain("404");
    expect(body.stages.at(-1)).toEqual({ stage: "resolve", state: "not_reached", after_ms: null });
    await expect.poll(pages).toEqual(["trigger", "resolve"]);
    const status = (await call("GET", "/api/v1/status")).body;
    expect([status.status, status.components.drill, status.drill.failed_stage]).toEqual(["degraded", "failed", "receive"]);
    const metrics = await (await fetch(`${server.origin}/metrics`)).text();
    expect(metrics).toContain('vedette_drills_total{result="failed"} 1');
    expect(metrics).toContain('vedette_drills_total{result="passed"} 2');
  });

  it("of one channel tells that one alone, and says who was told (B13)", async () => {
    receivers.received.length = 0;
    const { body } = await call("POST", "/api/v1/routing/channels/test", { channel: "pager" });
    expect(body.results).toMatchObject([{ channel: "pager", state: "told", reason: null }]);
    expect(pages()).toEqual(["trigger", "resolve"]);
    const { channels } = (await call("GET", "/api/v1/routing/channels")).body;
    const pager = channels.find(({ channel }: { channel: string }) => channel === "pager");
    expect(pager).toMatchObject({ state: "ok", last_success_at: expect.any(String) });
  });

  it("goes the whole way to one channel, or to those of a rule, where that is chosen", async () => {
    receivers.received.length = 0;
    const { body } = await call("POST", "/api/v1/drill", { channel: "pager" });
    expect(body).toMatchObject({ result: "passed", deliveries: [{ channel: "pager", state: "delivered" }] });
    expect(body.deliveries).toHaveLength(1);
    expect(pages()).toEqual(["trigger", "resolve"]);
    const rule = await call("POST", "/api/v1/drill", { rule_id: "catch-all" });
    expect(rule.body.deliveries.map(({ channel }: { channel: string }) => channel).sort()).toEqual(["chat", "pager"]);
    expect((await call("POST", "/api/v1/drill", { rule_id: "no-such" })).status).toBe(404);
    expect((await call("POST", "/api/v1/drill", { rule_id: "catch-all", channel: "pager" })).status).toBe(400);
    expect((await call("POST", "/api/v1/drill", { channel: "pigeon" })).status).toBe(400);
  });

  it("says which gate held it back", async () => {
    const matchers = [{ name: "service_id", operator: "=", value: "vedette.drill" }];
    await call("POST", "/api/v1/silences", { matchers, ends_at: "2099-01-01T00:00:00Z" });
    const { body } = await call("POST", "/api/v1/drill", {});
    expect(body).toMatchObject({
      result: "failed",
      failed_stage: "route",
      reason: "its anomaly was not paged: suppressed by the gate silenced",
    });
  });
});
