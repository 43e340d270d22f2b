// What people do about alerts: each is stored, told, in the timeline and in the audit log, and done again it changes nothing.
import { describe, expect, it } from "vitest";
import type { Principal } from "../../../../src/core/protocol/query.ts";
import { episode as episodeOfRig, Rig, type RigOptions } from "../../../support/coordinator-rig.ts";

const MINUTE = 60_000;
const OPERATOR: Principal = { tenant: "default", subject: "ada", role: "operator" };

/** So rare for its series that its page waits for no confirmation. */
const episode: typeof episodeOfRig = (change) =>
  episodeOfRig({ verdict: { observed: 1, threshold: 0.3, baseline: { n: 120 }, gates: [{ name: "own_tail", passed: true }] }, ...change });
const open = (options: RigOptions = {}) => Rig.open({ watchdogIntervalMs: 60_000, ...options });
const alerts = async (rig: Rig, query: Record<string, string> = {}) => (await rig.ask("alerts", query)).body.alerts;
const anomalies = async (rig: Rig) => (await rig.ask("anomalies")).body.anomalies;
const audited = async (rig: Rig): Promise<string[]> =>
  (await rig.ask("audit")).body.entries.map(({ action }: { action: string }) => action);
const act = (rig: Rig, endpoint: string, alert_id: string, content: unknown = {}) =>
  rig.askAs(OPERATOR, endpoint, { path: { alert_id }, content });
const alertOf = async (rig: Rig) => (await rig.ask("alert", {}, { alert_id: (await alerts(rig))[0].alert_id })).body;
const timeline = async (rig: Rig, alert_id: string): Promise<Array<[string, string | null, string]>> =>
  (await rig.ask("alertTimeline", {}, { alert_id })).body.entries.map(({ kind, by, text }: Record<string, string>) => [kind, by, text]);
const told = (rig: Rig, event: string) =>
  rig.messages
    .flatMap((message) => (message.type === "events" ? message.events : []))
    .flatMap((one) => (one.event === event ? [JSON.parse(one.data)] : []));

/** An alert of two metrics that has paged. */
async function firing(options: RigOptions = {}) {
  const rig = await open(options);
  await rig.take(episode({ z: 7 }), episode({ metricName: "errors", z: 5 }));
  const [{ alert_id: id }] = await alerts(rig);
  rig.nowMs += MINUTE;
  return { rig, id };
}

describe("what people do about an alert", () => {
  it("acknowledging is stored, audited and told, and not for one that has ended", async () => {
    const rig = await open();
    await rig.take(episode());
    const [{ alert_id }] = await alerts(rig);
    expect((await act(rig, "acknowledgeAlert", alert_id, { note: "mine" })).body).toMatchObject({
      acknowledged_by: "ada",
      note: "mine",
    });
    expect(told(rig, "alert").at(-1)).toMatchObject({ alert_id, acknowledged_by: "ada" });
    expect(await rig.restarted().then((second) => alerts(second))).toMatchObject([
      { acknowledged_by: "ada", acknowledged_at: "2026-01-31T12:00:00.000Z" },
    ]);
    const { entries } = (await rig.ask("audit")).body;
    expect(entries[0]).toMatchObject({
      action: "alert.acknowledge",
      object: alert_id,
      before: { acknowledged_by: null },
      after: { acknowledged_by: "ada" },
    });
    await rig.take(episode({ transition: "close" }));
    expect((await act(rig, "acknowledgeAlert", alert_id, {})).body).toMatchObject({ error: "conflict" });
  });

  it("assigning is stored and told, also to nobody", async () => {
    const rig = await open();
    await rig.take(episode());
    const [{ alert_id }] = await alerts(rig);
    expect((await act(rig, "assignAlert", alert_id, { assignee: "bob" })).body).toMatchObject({ assignee: "bob" });
    expect((await act(rig, "assignAlert", alert_id, { assignee: null })).body).toMatchObject({ assignee: null });
    expect((await alertOf(rig)).history.map(({ change, note }: { change: string; note: string }) => [change, note]).slice(-2)).toEqual([
      ["assigned", "bob"],
      ["assigned", null],
    ]);
  });

  it("resolving an anomaly ends its alert; its streams may end later", async () => {
    const rig = await open();
    await rig.take(episode());
    const [{ anomaly_id }] = await anomalies(rig);
    rig.nowMs += MINUTE;
    const answer = (await rig.askAs(OPERATOR, "changeAnomaly", { path: { id: anomaly_id }, content: { resolved: true } })).body;
    expect(answer).toMatchObject({
      resolved: true,
      resolved_by: "person",
      resolved_by_name: "ada",
      resolved_at: "2026-01-31T12:01:00.000Z",
    });
    expect(await alertOf(rig)).toMatchObject({
      state: "resolved",
      history: [{}, {}, { change: "resolved", by: "ada" }],
      decisions: [{}, { outcome: "resolved" }],
    });
    await rig.take(episode({ transition: "close" }));
    expect((await anomalies(rig))[0]).toMatchObject({ resolved_by_name: "ada", resolved_at: "2026-01-31T12:01:00.000Z" });
    expect((await rig.askAs(OPERATOR, "changeAnomaly", { path: { id: anomaly_id }, content: { resolved: true } })).body).toMatchObject({
      resolved_by_name: "ada",
    });
  });
});

describe("resolving an alert", () => {
  it("ends it with all that is open in it, names who did it, and says so to readers of the stream", async () => {
    const { rig, id } = await firing();
    const answer = await act(rig, "resolveAlert", id, { comment: "rolled back" });
    expect([answer.status, answer.body]).toEqual([
      200,
      expect.objectContaining({
        state: "resolved",
        open_anomalies: 0,
        resolved_by: "person",
        resolved_by_name: "ada",
        resolution: "resolved by ada",
      }),
    ]);
    expect((await anomalies(rig)).map(({ resolved, resolved_by_name }: Record<string, unknown>) => [resolved, resolved_by_name])).toEqual([
      [true, "ada"],
      [true, "ada"],
    ]);
    expect(told(rig, "alert").at(-1)).toMatchObject({ alert_id: id, state: "resolved" });
    expect(told(rig, "anomaly").filter(({ resolved }) => resolved)).toHaveLength(2);
    expect((await timeline(rig, id)).at(-1)).toEqual(["resolved", "ada", "resolved by ada: rolled back"]);
    expect((await audited(rig))[0]).toBe("alert.resolve");
  });

  it("again answers the same and changes nothing", async () => {
    const { rig, id } = await firing();
    const { body: first } = await act(rig, "resolveAlert", id);
    rig.nowMs += MINUTE;
    expect(await act(rig, "resolveAlert", id, { comment: "twice" })).toMatchObject({ status: 200, body: first });
    expect((await audited(rig)).filter((action) => action === "alert.resolve")).toHaveLength(1);
  });

  it("is so after a restart, with its timeline", async () => {
    const { rig, id } = await firing();
    await act(rig, "resolveAlert", id, { comment: "rolled back" });
    const lines = await timeline(rig, id);
    const second = await rig.restarted();
    expect(await alerts(second)).toMatchObject([{ alert_id: id, state: "resolved", resolved_by: "person", resolved_by_name: "ada" }]);
    expect(await timeline(second, id)).toEqual(lines);
  });
});

describe("an acknowledgement", () => {
  it("ends with its alert: the next fire is a new page", async () => {
    const { rig, id } = await firing();
    await act(rig, "acknowledgeAlert", id, { note: "on it" });
    await rig.take(episode({ transition: "close" }), episode({ metricName: "errors", transition: "close" }));
    rig.nowMs += MINUTE;
    await rig.take(episode({ z: 7, startedAtMs: rig.nowMs }));
    expect(await alerts(rig)).toMatchObject([{ alert_id: id, state: "firing", acknowledged_by: null, pages: 2 }]);
  });

  it("by the same person with the same note changes nothing, and can be taken back", async () => {
    const { rig, id } = await firing();
    await act(rig, "acknowledgeAlert", id, { note: "on it" });
    for (const again of [{ note: "on it" }, {}])
      expect((await act(rig, "acknowledgeAlert", id, again)).body).toMatchObject({ acknowledged_by: "ada", note: "on it" });
    expect((await act(rig, "unacknowledgeAlert", id)).body).toMatchObject({ acknowledged_by: null });
    expect(await act(rig, "unacknowledgeAlert", id)).toMatchObject({ status: 200, body: { acknowledged_by: null } });
    expect((await audited(rig)).slice(0, 3)).toEqual(["alert.unacknowledge", "alert.acknowledge"]);
    expect((await timeline(rig, id)).slice(-2)).toEqual([
      ["acknowledged", "ada", "on it"],
      ["unacknowledged", "ada", ""],
    ]);
  });
});

describe("a snooze", () => {
  const until = (rig: Rig, minutes: number) => new Date(rig.nowMs + minutes * MINUTE).toISOString();
  const cycle = async (rig: Rig) => {
    rig.nowMs += MINUTE;
    rig.monotonicMs += MINUTE;
    await rig.drain();
  };

  it("calls nobody before its end, and asks again then", async () => {
    const { rig, id } = await firing();
    const end = until(rig, 5);
    const { body } = await act(rig, "snoozeAlert", id, { until: end, comment: "the supplier is at it" });
    expect(body).toMatchObject({
      snoozed_until: end,
      snoozed_by: "ada",
      held_back_by: "snoozed",
      held_back_until: `until ${end.slice(0, 19).replace("T", " ")} UTC: ada has snoozed it; then it is asked again`,
    });
    await rig.take(episode({ metricName: "third", z: 12 }));
    for (let minute = 0; minute < 4; minute++) await cycle(rig);
    expect(await alerts(rig)).toMatchObject([{ pages: 1, severity: "high", held_back_by: "snoozed" }]);
    await cycle(rig);
    await cycle(rig);
    expect(await alerts(rig)).toMatchObject([{ pages: 2, snoozed_until: null, held_back_by: null }]);
  });

  it("of an alert that has ended meanwhile asks nothing", async () => {
    const { rig, id } = await firing();
    await act(rig, "snoozeAlert", id, { until: until(rig, 2) });
    await act(rig, "resolveAlert", id);
    for (let minute = 0; minute < 4; minute++) await cycle(rig);
    expect(await alerts(rig)).toMatchObject([{ state: "resolved", pages: 1, snoozed_until: null }]);
  });

  it("ends by null without another page, and survives a restart", async () => {
    const { rig, id } = await firing();
    const end = until(rig, 60);
    await act(rig, "snoozeAlert", id, { until: end });
    const second = await rig.restarted();
    expect(await alerts(second)).toMatchObject([{ snoozed_until: end, snoozed_by: "ada" }]);
    expect((await act(second, "snoozeAlert", id, { until: null })).body).toMatchObject({ snoozed_until: null, held_back_by: null });
    expect(await act(second, "snoozeAlert", id, { until: null })).toMatchObject({ status: 200 });
    await cycle(second);
    expect(await alerts(second)).toMatchObject([{ pages: 1 }]);
  });

  it("lies ahead, by seven days at most", async () => {
    const { rig, id } = await firing();
    for (const minutes of [0, -1, 7 * 24 * 60 + 1]) {
      expect(await act(rig, "snoozeAlert", id, { until: until(rig, minutes) })).toMatchObject({
        status: 400,
        body: { error: "invalid_field", field: "until" },
      });
    }
    expect(await act(rig, "snoozeAlert", id, { until: until(rig, 7 * 24 * 60) })).toMatchObject({ status: 200 });
  });
});

describe("a comment", () => {
  it("stands in the timeline, is made anew by each request, and has 1,024 characters at most", async () => {
    const { rig, id } = await firing();
    const answer = await act(rig, "commentAlert", id, { text: "x".repeat(1_024) });
    expect([answer.status, answer.body.alert_id]).toEqual([201, id]);
    expect((await act(rig, "commentAlert", id, { text: "x".repeat(1_025) })).status).toBe(400);
    expect((await act(rig, "commentAlert", id, { text: "" })).status).toBe(400);
    rig.nowMs++;
    await act(rig, "commentAlert", id, { text: "second" });
    expect((await timeline(rig, id)).slice(-2).map(([kind, by]) => [kind, by])).toEqual(Array(2).fill(["comment", "ada"]));
  });
});

describe("a timeline", () => {
  it("tells how the alert was found, who was told what, and how it ended", async () => {
    const { rig, id } = await firing();
    await rig.take(episode({ transition: "close" }), episode({ metricName: "errors", transition: "close" }));
    const kinds = ["found", "joined", "paged", "updated", "not_told", "member_ended", "resolved"];
    expect((await timeline(rig, id)).map(([kind]) => kind)).toEqual(kinds);
    expect((await timeline(rig, id))[4]?.[2]).toBe("Firing: high, checkout (prod), latency_ms: no channel is configured");
    expect((await timeline(rig, id)).at(-2)?.[2]).toContain("latency_ms of checkout recovered");
    expect((await timeline(rig, id)).at(-1)?.[2]).toContain("recovered");
  });

  it("has a line of a member that ends without standing for the alert, of which people are not told (point 3)", async () => {
    const { rig, id } = await firing();
    const before = (await alertOf(rig)).history;
    await rig.take(episode({ metricName: "errors", transition: "close" }));
    const words = "errors of checkout recovered: values are what they were before it; 1 more open in the alert";
    expect((await timeline(rig, id)).at(-1)).toEqual(["member_ended", null, words]);
    expect((await alertOf(rig)).history).toEqual(before);
  });

  it("says what holds a page and until when", async () => {
    const rig = await open();
    await rig.take(episodeOfRig());
    const [{ alert_id: id }] = await alerts(rig);
    expect((await timeline(rig, id)).at(-1)).toEqual(["held", null, expect.stringContaining("nobody is told: confirmation, until")]);
  });

  it("comes in pages, and keeps the first and the newest lines where there are too many", async () => {
    const { rig, id } = await firing();
    for (let i = 0; i < 450; i++) {
      rig.nowMs++;
      await act(rig, "commentAlert", id, { text: `comment ${i}` });
    }
    const texts: string[] = [];
    let page_token = "";
    do {
      const { body } = await rig.ask("alertTimeline", { limit: "150", page_token }, { alert_id: id });
      texts.push(...body.entries.map(({ text }: { text: string }) => text));
      page_token = body.page_token;
    } while (page_token !== "");
    expect(texts).toHaveLength(400);
    expect(texts.at(-1)).toBe("comment 449");
    expect(texts.slice(5, 75)).toEqual(Array.from({ length: 70 }, (_, i) => `comment ${i}`));
  });

  it("goes with its alert", async () => {
    const { rig } = await firing({ alertsMax: 1 });
    await rig.take(episode({ serviceId: "cart", startedAtMs: rig.nowMs }));
    // Tenant and alert are the first 25 bytes of a line's key.
    const ofAlerts = [...(rig.control.contents.get("timeline") ?? new Map<string, Uint8Array>()).keys()].map((key) => key.slice(0, 25));
    expect(new Set(ofAlerts).size).toBe(1);
  });
});

describe("actions on many alerts", () => {
  const many = (rig: Rig, content: unknown) => rig.askAs(OPERATOR, "actOnAlerts", { content });

  it("are done to each by itself, and what is refused is said of that one", async () => {
    const { rig, id } = await firing();
    await rig.take(episode({ serviceId: "cart", startedAtMs: rig.nowMs }));
    const [{ alert_id: other }] = await alerts(rig, { service_id: "cart" });
    await act(rig, "resolveAlert", other);
    const { body } = await many(rig, { alert_ids: [id, other, "none", id], action: "acknowledge", note: "all mine" });
    expect(body.results).toEqual([
      { alert_id: id, status: 200, error: null },
      { alert_id: other, status: 409, error: "conflict" },
      { alert_id: "none", status: 404, error: "not_found" },
      { alert_id: id, status: 200, error: null },
    ]);
    expect((await alerts(rig, { service_id: "checkout" }))[0]).toMatchObject({ acknowledged_by: "ada", note: "all mine" });
    expect((await audited(rig)).filter((action) => action === "alert.acknowledge")).toHaveLength(1);
    await many(rig, { alert_ids: [id, other], action: "resolve" });
    expect(await alerts(rig, { state: "firing" })).toEqual([]);
  });

  it("take a hundred ids, an action that there is, and what it needs", async () => {
    const { rig, id } = await firing();
    for (const content of [
      { alert_ids: [], action: "resolve" },
      { alert_ids: Array(101).fill(id), action: "resolve" },
      { alert_ids: [id], action: "delete" },
      { alert_ids: [id], action: "snooze" },
      { alert_ids: [id], action: "comment" },
      { alert_ids: [id], action: "resolve", until: null },
    ]) {
      expect((await many(rig, content)).status, JSON.stringify(content)).toBe(400);
    }
    expect((await many(rig, { alert_ids: Array(100).fill(id), action: "resolve" })).body.results).toHaveLength(100);
  });

  it("reach no alert of another tenant", async () => {
    const { rig, id } = await firing();
    const stranger: Principal = { ...OPERATOR, tenant: "other" };
    const { body } = await rig.askAs(stranger, "actOnAlerts", { content: { alert_ids: [id], action: "resolve" } });
    expect(body.results).toEqual([{ alert_id: id, status: 404, error: "not_found" }]);
    for (const endpoint of ["resolveAlert", "unacknowledgeAlert", "acknowledgeAlert"]) {
      expect(await rig.askAs(stranger, endpoint, { path: { alert_id: id }, content: {} })).toMatchObject({ status: 404 });
    }
    expect(await rig.askAs(stranger, "alertTimeline", { path: { alert_id: id } })).toMatchObject({ status: 404 });
    expect(await alerts(rig)).toMatchObject([{ state: "firing" }]);
  });
});

it("a false alarm ends its alert", async () => {
  const { rig, id } = await firing();
  const peak = (await anomalies(rig)).find(({ metric_name }: { metric_name: string }) => metric_name === "latency_ms");
  await rig.askAs(OPERATOR, "changeAnomaly", { path: { id: peak.anomaly_id }, content: { feedback: "false_positive" } });
  expect(await alerts(rig)).toMatchObject([{ alert_id: id, state: "resolved", resolved_by: "person", resolved_by_name: "ada" }]);
});

it("what a false alarm does to the service's threshold stands in its settings", async () => {
  const { rig } = await firing();
  const [{ anomaly_id }] = await anomalies(rig);
  await rig.askAs(OPERATOR, "changeAnomaly", { path: { id: anomaly_id }, content: { feedback: "false_positive" } });
  const { feedback, settings } = (await rig.ask("watchdogSettings", { service_id: "checkout" })).body;
  expect(feedback).toMatchObject([{ family: "metric", factor: 1.1, false_positives: 1, true_positives: 0 }]);
  expect(feedback[0].z_threshold).toBeCloseTo(1.1 * settings.z_threshold.value, 9);
  expect((await rig.ask("watchdogSettings", { service_id: "cart" })).body.feedback).toEqual([]);
});

it("lists by severity begin with the worst, page by page", async () => {
  const rig = await open();
  for (const [service_id, severity] of Object.entries({ a: "medium", b: "high", c: "medium" })) {
    await rig.askAs(OPERATOR, "declareAnomaly", { content: { service_id, severity, explanation: "so it is" } });
  }
  for (const endpoint of ["alerts", "anomalies"]) {
    const severities: string[] = [];
    let page_token = "";
    do {
      const { body } = await rig.ask(endpoint, { sort: "severity", limit: "1", page_token });
      severities.push(...body[endpoint].map(({ severity }: { severity: string }) => severity));
      page_token = body.page_token;
    } while (page_token !== "");
    expect(severities, endpoint).toEqual(["high", "medium", "medium"]);
  }
});

it("a resolution of an incident ends its alert with all that is open in it", async () => {
  const { rig, id } = await firing();
  const [{ anomaly_id: incident_id }] = await anomalies(rig);
  const content = {
    incident_id,
    service_id: "checkout",
    resolution: "restarted",
    resolved_by: "ada",
    time_to_recovery_minutes: 5,
    tags: [],
  };
  await rig.askAs(OPERATOR, "resolutionWebhook", { content });
  expect(await alerts(rig)).toMatchObject([{ alert_id: id, state: "resolved", open_anomalies: 0 }]);
  expect((await anomalies(rig)).every(({ resolved }: { resolved: boolean }) => resolved)).toBe(true);
});
