import { describe, expect, it } from "vitest";
import type { SettingsUpdate } from "../../../../src/core/protocol/engine-control.ts";
import { SettingsTable } from "../../../../src/domain/detection/settings-table.ts";
import { THRESHOLDS_MAX, ThresholdProfiles } from "../../../../src/domain/detection/threshold-profiles.ts";
import { environmentSettings } from "../../../../src/domain/detection/watchdog-settings.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { Rig, START_MS } from "../../../support/coordinator-rig.ts";

const set = (rig: Rig, body: unknown, tenant = "default") => rig.ask("setWatchdogSettings", {}, {}, tenant, body);
const get = (rig: Rig, query: Record<string, string> = {}, tenant = "default") => rig.ask("watchdogSettings", query, {}, tenant);
const reported = (rig: Rig, engine = 0) =>
  rig.engines[engine]?.reported.filter((each): each is SettingsUpdate => each.type === "watchdog-settings") ?? [];

describe("settings of the Watchdog", () => {
  it("are set for a tenant, a service and a metric, the narrower one in force, and kept over a restart", async () => {
    const rig = await Rig.open();
    const before = await get(rig, { service_id: "checkout", metric_name: "latency" });
    answerSchema("watchdogSettings", 200).parse(before.body);
    expect(before.body.settings.z_threshold).toEqual({ value: 3, source: "environment" });
    const first = await set(rig, { z_threshold: 4, direction: "high" });
    answerSchema("setWatchdogSettings", 201).parse(first.body);
    expect(first).toMatchObject({
      status: 201,
      body: { service_id: null, metric_name: null, updated_at: new Date(START_MS).toISOString() },
    });
    await set(rig, { service_id: "checkout", z_threshold: 5 });
    const third = await set(rig, { service_id: "checkout", metric_name: "latency", excluded: true });
    expect(third.body.settings).toMatchObject({
      z_threshold: { value: 5, source: "service" },
      direction: { value: "high", source: "tenant" },
      excluded: { value: true, source: "metric" },
      dedup_max_age_minutes: { value: 60, source: "environment" },
    });
    const restarted = await rig.restarted();
    expect((await get(restarted, { service_id: "checkout", metric_name: "latency" })).body.settings).toEqual(third.body.settings);
    expect((await get(restarted, { service_id: "cart" })).body.settings.z_threshold).toEqual({ value: 4, source: "tenant" });
    expect((await get(restarted, {}, "other")).body).toMatchObject({ total: 0, settings: { z_threshold: { value: 3 } } });
    await restarted.coordinator.step();
    expect(restarted.counter("watchdogPlaces")).toBe(3);
  });

  it("are taken away one by one with null, and all of a place with DELETE", async () => {
    const rig = await Rig.open();
    await set(rig, { service_id: "a", z_threshold: 4, minimum_traffic: 20 });
    const one = await set(rig, { service_id: "a", z_threshold: null });
    expect(one).toMatchObject({ status: 200, body: { set: { minimum_traffic: 20 }, settings: { z_threshold: { value: 3 } } } });
    const none = await set(rig, { service_id: "a", minimum_traffic: null });
    expect(none).toMatchObject({ status: 200, body: { set: {}, updated_at: null } });
    expect((await rig.ask("deleteWatchdogSettings", { service_id: "a" })).status).toBe(404);
    await set(rig, { service_id: "a", excluded: true });
    expect((await rig.ask("deleteWatchdogSettings", {}, {}, "default")).status).toBe(404);
    expect((await rig.ask("deleteWatchdogSettings", { service_id: "a" })).status).toBe(204);
    expect((await get(rig)).body.total).toBe(0);
  });

  it("are listed in pages, those of a service apart", async () => {
    const rig = await Rig.open();
    for (const service_id of ["b", "a", "c"]) await set(rig, { service_id, direction: "low" });
    await set(rig, { service_id: "b", metric_name: "m", direction: "high" });
    const names: string[] = [];
    for (let page_token = "", pages = 0; pages === 0 || page_token !== ""; pages++) {
      const { body } = await get(rig, { limit: "2", page_token });
      for (const { service_id, metric_name } of body.overrides) names.push(`${service_id}/${metric_name}`);
      page_token = body.page_token;
    }
    expect(names).toEqual(["a/null", "b/null", "b/m", "c/null"]);
    expect((await get(rig, { service_id: "b" })).body.total).toBe(2);
  });

  it("reach every engine with the tables of new thresholds, once", async () => {
    const rig = await Rig.open();
    await set(rig, { service_id: "a", z_threshold: 4 });
    await set(rig, { service_id: "b", z_threshold: 4 });
    await set(rig, { service_id: "b", z_threshold: 4 });
    await set(rig, { service_id: "a", z_threshold: 3 });
    for (const [engine] of rig.engines.entries()) {
      const changes = reported(rig, engine);
      expect(changes.map(({ tables }) => tables.map(({ threshold }) => threshold))).toEqual([[4], [], []]);
      expect(changes[0]?.places).toEqual([{ tenant: "default", serviceId: "a", metricName: null, overrides: { zThreshold: 4 } }]);
      expect(changes[0]?.tables[0]?.tables[127]).toBe(4);
    }
  });

  it("are in the audit log", async () => {
    const rig = await Rig.open();
    await set(rig, { service_id: "a", z_threshold: 4 });
    await set(rig, { service_id: "a", z_threshold: 5 });
    await rig.ask("deleteWatchdogSettings", { service_id: "a" });
    const { body } = await rig.ask("audit", {});
    expect(body.entries.map(({ action, before, after }: Record<string, unknown>) => ({ action, before, after }))).toEqual([
      { action: "settings.delete", before: { z_threshold: 5 }, after: null },
      { action: "settings.set", before: { z_threshold: 4 }, after: { z_threshold: 5 } },
      { action: "settings.set", before: null, after: { z_threshold: 4 } },
    ]);
  });

  const refused: Array<[title: string, body: unknown, code: string, field: string | undefined]> = [
    ["a threshold below its bound", { z_threshold: 0.99 }, "invalid_field", "z_threshold"],
    ["a threshold above its bound", { z_threshold: 20.01 }, "invalid_field", "z_threshold"],
    ["a text for a number", { z_threshold: "4" }, "invalid_field", "z_threshold"],
    ["part of a minute", { rca_cooldown_minutes: 1.5 }, "invalid_field", "rca_cooldown_minutes"],
    ["a dedup age of 0", { dedup_max_age_minutes: 0 }, "invalid_field", "dedup_max_age_minutes"],
    ["a direction that does not exist", { direction: "up" }, "invalid_field", "direction"],
    ["a metric without a service", { metric_name: "m", excluded: true }, "bad_request", undefined],
    ["nothing to set", { service_id: "a" }, "bad_request", undefined],
    ["an unknown member", { zThreshold: 4 }, "unknown_field", "zThreshold"],
  ];
  it.each(refused)("refuse %s", async (_, body, code, field) => {
    const rig = await Rig.open();
    const answer = await set(rig, body);
    expect(answer).toMatchObject({ status: 400, body: { error: code, ...(field !== undefined && { field }) } });
    expect(reported(rig)).toEqual([]);
  });

  it("take the bounds themselves", async () => {
    const rig = await Rig.open();
    expect((await set(rig, { z_threshold: 1, dedup_max_age_minutes: 1, evaluation_delay_seconds: 3600 })).status).toBe(201);
    expect((await set(rig, { z_threshold: 20, rca_cooldown_minutes: 0 })).status).toBe(200);
  });

  it("refuse a threshold more than engines have room for, and take it once another is gone", async () => {
    const rig = await Rig.open();
    for (let i = 0; i < THRESHOLDS_MAX; i++) expect((await set(rig, { service_id: `s${i}`, z_threshold: 4 + i / 10 })).status).toBe(201);
    expect((await set(rig, { service_id: "again", z_threshold: 4 })).status).toBe(201);
    expect((await set(rig, { service_id: "initial", z_threshold: 3 })).status).toBe(201);
    const answer = await set(rig, { service_id: "more", z_threshold: 15 });
    expect(answer).toMatchObject({ status: 422, body: { error: "unprocessable" } });
    expect(answer.body.message).toContain("use one of 4, 4.1");
    await rig.ask("deleteWatchdogSettings", { service_id: "s5" });
    expect((await set(rig, { service_id: "more", z_threshold: 15 })).status).toBe(201);
  });
});

describe("threshold profiles", () => {
  it("keep their numbers while in use, and give a freed one out last", () => {
    const profiles = new ThresholdProfiles(3);
    expect(profiles.use([4, 5, 3, 4])).toEqual([
      { profile: 1, threshold: 4 },
      { profile: 2, threshold: 5 },
    ]);
    expect(profiles.use([5, 6])).toEqual([{ profile: 3, threshold: 6 }]);
    expect(profiles.use([5, 6, 7])).toEqual([{ profile: 1, threshold: 7 }]);
    expect([3, 4, 5, 6, 7].map((zThreshold) => profiles.profileOf({ zThreshold, excluded: false }))).toEqual([0, 0, 2, 3, 1]);
    expect([0, 1, 2, 3, 31].map((profile) => profiles.thresholdOf(profile))).toEqual([3, 7, 5, 6, 3]);
    expect(profiles.profileOf({ zThreshold: 5, excluded: true })).toBe(31);
  });
});

describe("the table of settings", () => {
  it("answers by the narrowest place, member by member", () => {
    const table = new SettingsTable(environmentSettings({}));
    table.put({ tenant: "t", serviceId: null, metricName: null }, { zThreshold: 4, direction: "low" });
    table.put({ tenant: "t", serviceId: "s", metricName: "m" }, { zThreshold: 6 });
    table.put({ tenant: "t", serviceId: "s", metricName: null }, { zThreshold: 5, minimumTraffic: 9 });
    expect(table.settingsOf("t", "s", "m")).toMatchObject({ zThreshold: 6, direction: "low", minimumTraffic: 9, rcaCooldownMinutes: 15 });
    expect(table.settingsOf("t", "s", "other").zThreshold).toBe(5);
    expect(table.settingsOf("t", "other", "m")).toMatchObject({ zThreshold: 4, minimumTraffic: 0 });
    expect(table.settingsOf("other", "s", "m")).toBe(table.initial);
    expect([table.size, table.sizeOf("t"), table.hasMetrics("t", "s"), table.hasMetrics("t", "other")]).toEqual([3, 3, true, false]);
    table.put({ tenant: "t", serviceId: "s", metricName: "m" }, {});
    expect([table.size, table.hasMetrics("t", "s")]).toEqual([2, false]);
  });
});
