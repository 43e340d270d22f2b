// The calls of contract-calls.ts on what people do about alerts.
import { expect, vi } from "vitest";
import { SERVICE } from "./contract-bodies.ts";
import type { ContractDriver } from "./contract-driver.ts";
import { PATIENCE_MS } from "./patience.ts";

const iso = (offsetMs: number) => new Date(Date.now() + offsetMs).toISOString();

/** An alert that somebody has declared and that fires. */
async function alertId(driver: ContractDriver): Promise<string> {
  return (await driver.call("alerts", 200, { query: { service_id: SERVICE, state: "firing", family: "manual" } })).alerts[0].alert_id;
}

/** An alert of a service of its own, which a test may end. */
async function ownAlert(driver: ContractDriver, service_id: string): Promise<string> {
  const body = { service_id, severity: "medium", explanation: "declared to be ended" };
  return (await driver.call("declareAnomaly", 201, { body })).alert_id;
}

/** An alert of a series that has jumped. */
async function alertOfSeries(driver: ContractDriver, service_id: string): Promise<string> {
  const body = Array.from({ length: 240 }, (_, at) => ({
    service_id,
    metric_name: "request.duration_ms",
    value: 100 + ((at * 7) % 5) + (at >= 230 ? 400 : 0),
    timestamp: iso((at - 240) * 10_000),
  }));
  await driver.call("telemetryBatch", 200, { body });
  return vi.waitFor(
    async () => {
      const { alerts } = await driver.call("alerts", 200, { query: { service_id } });
      expect(alerts.length).toBeGreaterThan(0);
      return alerts[0].alert_id;
    },
    { timeout: PATIENCE_MS },
  );
}

export const ALERT_CALLS: Readonly<Record<string, (driver: ContractDriver) => Promise<void>>> = {
  alertChart: async (driver) => {
    await driver.call("alertChart", 200, { path: { alert_id: await alertOfSeries(driver, "pictured") } });
    await driver.call("alertChart", 404, { path: { alert_id: "0".repeat(32) } });
  },
  unacknowledgeAlert: async (driver) => {
    const path = { alert_id: await alertId(driver) };
    await driver.call("acknowledgeAlert", 200, { path, body: {} });
    for (let time = 0; time < 2; time++) {
      expect(await driver.call("unacknowledgeAlert", 200, { path, body: {} })).toMatchObject({ acknowledged_by: null });
    }
    await driver.call("unacknowledgeAlert", 404, { path: { alert_id: "0".repeat(32) }, body: {} });
  },
  snoozeAlert: async (driver) => {
    const path = { alert_id: await alertId(driver) };
    const until = iso(3_600_000);
    for (let time = 0; time < 2; time++) {
      expect(await driver.call("snoozeAlert", 200, { path, body: { until, comment: "later" } })).toMatchObject({
        snoozed_until: until,
        snoozed_by: "owner",
        held_back_by: "snoozed",
      });
    }
    for (let time = 0; time < 2; time++) {
      expect(await driver.call("snoozeAlert", 200, { path, body: { until: null } })).toMatchObject({ snoozed_until: null });
    }
    await driver.call("snoozeAlert", 400, { path, body: { until: iso(8 * 24 * 3_600_000) } });
    await driver.call("snoozeAlert", 400, { path, body: {} });
    await driver.call("snoozeAlert", 404, { path: { alert_id: "0".repeat(32) }, body: { until } });
  },
  commentAlert: async (driver) => {
    const path = { alert_id: await alertId(driver) };
    expect(await driver.call("commentAlert", 201, { path, body: { text: "the disk is replaced" } })).toMatchObject(path);
    await driver.call("commentAlert", 400, { path, body: { text: "x".repeat(1_025) } });
    await driver.call("commentAlert", 404, { path: { alert_id: "0".repeat(32) }, body: { text: "nobody reads it" } });
  },
  alertTimeline: async (driver) => {
    const path = { alert_id: await alertId(driver) };
    await driver.call("commentAlert", 201, { path, body: { text: "a line" } });
    const first = await driver.call("alertTimeline", 200, { path, query: { limit: "1" } });
    expect(first.entries).toMatchObject([{ kind: "found", by: null }]);
    const rest = await driver.call("alertTimeline", 200, { path, query: { page_token: first.page_token } });
    expect(rest.entries.at(-1)).toMatchObject({ kind: "comment", by: "owner", text: "a line" });
    await driver.call("alertTimeline", 400, { path, query: { page_token: "x" } });
    await driver.call("alertTimeline", 404, { path: { alert_id: "0".repeat(32) } });
  },
  resolveAlert: async (driver) => {
    const path = { alert_id: await ownAlert(driver, "resolved by hand") };
    for (let time = 0; time < 2; time++) {
      expect(await driver.call("resolveAlert", 200, { path, body: { comment: "rolled back" } })).toMatchObject({
        state: "resolved",
        open_anomalies: 0,
        resolved_by: "person",
        resolved_by_name: "owner",
      });
    }
    await driver.call("resolveAlert", 404, { path: { alert_id: "0".repeat(32) }, body: {} });
  },
  acceptAlert: async (driver) => {
    const path = { alert_id: await ownAlert(driver, "no level") };
    await driver.call("acceptAlert", 409, { path, body: { comment: "as it is" } });
    const ofSeries = { alert_id: await alertOfSeries(driver, "moved") };
    for (let time = 0; time < 2; time++) {
      expect(await driver.call("acceptAlert", 200, { path: ofSeries, body: { comment: "the new cache" } })).toMatchObject({
        state: "resolved",
        resolved_by: "accepted",
        resolved_by_name: "owner",
      });
    }
    await driver.call("acceptAlert", 404, { path: { alert_id: "0".repeat(32) }, body: {} });
  },
  retireService: async (driver) => {
    await ownAlert(driver, "retired");
    const body = { environment: "", comment: "replaced" };
    expect(await driver.call("retireService", 200, { path: { id: "retired" }, body })).toMatchObject({
      service_id: "retired",
      environment: "",
      retired_by: "owner",
      alerts_ended: 1,
    });
    expect(await driver.call("retireService", 200, { path: { id: "retired" }, body })).toMatchObject({ alerts_ended: 0 });
    await driver.call("retireService", 404, { path: { id: "never heard of" }, body: {} });
    await driver.call("retireService", 400, { path: { id: "retired" }, body: { comment: "x".repeat(1_025) } });
  },
  actOnAlerts: async (driver) => {
    const id = await ownAlert(driver, "acted on");
    const unknown = "0".repeat(32);
    expect(await driver.call("actOnAlerts", 200, { body: { alert_ids: [id, unknown], action: "resolve", comment: "all" } })).toEqual({
      results: [
        { alert_id: id, status: 200, error: null },
        { alert_id: unknown, status: 404, error: "not_found" },
      ],
    });
    await driver.call("actOnAlerts", 400, { body: { alert_ids: Array(101).fill(id), action: "resolve" } });
    await driver.call("actOnAlerts", 400, { body: { alert_ids: [id], action: "forget" } });
  },
};
