// Alerts of others, reports, resolutions and the memory of incidents, over a coordinator whose engines hold nothing: what evidence says is tested elsewhere.
import { describe, expect, it } from "vitest";
import { INCIDENT_MEMBERS_PER_INCIDENT_MAX, WEBHOOK_ALERTS_PER_REQUEST_MAX } from "../../../../src/core/config/analysis-limits.ts";
import { answerSchema } from "../../../support/answer-schema.ts";
import { DAY_MS, Rig, START_MS } from "../../../support/coordinator-rig.ts";

const MINUTE_MS = 60_000;
const TURNS = 30;

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
type Json = any;

/** Lets analyses that are due come to their end. */
async function settle(rig: Rig): Promise<void> {
  for (let turn = 0; turn < TURNS; turn++) {
    await rig.drain();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Lets time pass in steps, as a server's timer would. */
async function pass(rig: Rig, ms: number, stepMs = 30_000): Promise<void> {
  for (let left = ms; left > 0; left -= stepMs) {
    rig.nowMs += Math.min(left, stepMs);
    await settle(rig);
  }
}

async function ask(rig: Rig, endpoint: string, query: Record<string, string> = {}, content?: unknown, tenant = "default") {
  const answer = await rig.askAs({ tenant, subject: "ada", role: "operator" }, endpoint, { query, content });
  if (answer.status < 300) expect(answerSchema(endpoint, answer.status).parse(answer.body)).toEqual(answer.body);
  return answer;
}

const alert = (name: string, change: Record<string, unknown> = {}, labels: Record<string, string> = {}) => ({
  status: "firing",
  labels: { alertname: name, service: "checkout", severity: "critical", ...labels },
  annotations: { summary: `${name} is on` },
  startsAt: new Date(START_MS - MINUTE_MS).toISOString(),
  endsAt: "0001-01-01T00:00:00Z",
  ...change,
});

const fire = async (rig: Rig, ...alerts: unknown[]): Promise<Json> =>
  (await ask(rig, "alertWebhook", {}, { alerts, groupLabels: {} })).body;
const reports = async (rig: Rig, query = {}): Promise<Json[]> => (await ask(rig, "rcaReports", query)).body.reports;

const resolution = (incident_id: string, change: Record<string, unknown> = {}) => ({
  incident_id,
  service_id: "orders",
  resolution: "freed the disk",
  resolved_by: "ada@example.com",
  time_to_recovery_minutes: 25,
  tags: ["disk"],
  ...change,
});

describe("alerts of others", () => {
  it("D13: a time that cannot be read is 400, year 1 and none at all are no time", async () => {
    const rig = await Rig.open({});
    const send = (change: Record<string, unknown>) => ask(rig, "alertWebhook", {}, { alerts: [alert("Down", change)], groupLabels: {} });
    for (const name of ["startsAt", "endsAt"]) {
      for (const time of ["nope", "tomorrow", "2026-13-01T00:00:00Z"]) {
        const { status, body } = await send({ [name]: time });
        expect([name, time, status, body.error, body.field]).toEqual([name, time, 400, "invalid_timestamp", `alerts.0.${name}`]);
      }
      for (const time of ["0001-01-01T00:00:00Z", "", "2026-01-31T12:00:00.123456789+01:00"]) {
        expect([name, time, (await send({ [name]: time })).status]).toEqual([name, time, 200]);
      }
    }
  });
  it("are one where the servers of a pair differ in a label of REPLICA_LABELS, and the end of one ends what the other began", async () => {
    const before = await Rig.open({});
    const of = (name: string, pod: string, change: Record<string, unknown> = {}) => alert(name, change, { ha_pod: pod });
    const { anomaly_id: earlier } = await fire(before, of("Old", "a"));
    const rig = await before.restarted({ replicaLabels: "ha_pod" });
    const { anomaly_id } = await fire(rig, of("Down", "a"));
    expect((await fire(rig, of("Down", "b"))).anomaly_id).toBe(anomaly_id);
    const ends = { status: "resolved", endsAt: new Date(rig.nowMs).toISOString() };
    expect((await fire(rig, of("Down", "b", ends))).anomaly_id).toBe(anomaly_id);
    // What was open before the label was named ends as it began.
    expect((await fire(rig, of("Old", "a", ends))).anomaly_id).toBe(earlier);
    expect((await ask(rig, "alerts", {})).body.alerts.map((one: Json) => one.state)).toEqual(["resolved", "resolved"]);
  });

  it("an end with the start of the other server of a pair ends what is open, after a restart too; that of an older episode does not", async () => {
    const before = await Rig.open({});
    const iso = (ms: number) => new Date(ms).toISOString();
    const ended = (change: Record<string, unknown>) => alert("Down", { status: "resolved", endsAt: iso(START_MS), ...change });
    const { anomaly_id } = await fire(before, alert("Down"));
    const other = { startsAt: iso(START_MS - MINUTE_MS + 7) };
    expect((await fire(before, alert("Down", other))).anomaly_id).toBe(anomaly_id);
    const rig = await before.restarted({});
    const state = async () => (await ask(rig, "alerts", {})).body.alerts.map((one: Json) => one.state);
    await fire(rig, ended({ startsAt: iso(START_MS - 9 * MINUTE_MS), endsAt: iso(START_MS - 5 * MINUTE_MS) }));
    expect(await state()).toEqual(["firing"]);
    expect((await fire(rig, ended(other))).anomaly_id).toBe(anomaly_id);
    expect(await state()).toEqual(["resolved"]);
  });

  it.each([0, 1])(
    "go on while one server of a pair says so in the request in which the other's ends, which comes first: %i",
    async (first) => {
      const rig = await Rig.open({});
      const of = (replica: string, change: Record<string, unknown> = {}) => alert("Down", change, { replica });
      const { anomaly_id } = await fire(rig, of("a"), of("b", { startsAt: new Date(START_MS - MINUTE_MS + 7).toISOString() }));
      const ended = { status: "resolved", endsAt: new Date(rig.nowMs).toISOString() };
      const both = [of("a"), of("b", ended)];
      const { anomalies } = await fire(rig, ...(first === 0 ? both : both.reverse()));
      expect(anomalies.map((one: Json) => one.anomaly_id)).toEqual([anomaly_id, anomaly_id]);
      expect((await ask(rig, "alerts", {})).body.alerts).toMatchObject([{ state: "firing", pages: 1, anomalies: 1 }]);
      await fire(rig, of("a", ended), of("b", ended));
      expect((await ask(rig, "alerts", {})).body.alerts).toMatchObject([{ state: "resolved", pages: 1 }]);
    },
  );

  it("case 27: two instances are two pages, and the end of one is not that of the other, over a restart too", async () => {
    const before = await Rig.open({});
    const of = (instance: string, change: Record<string, unknown> = {}) => alert("Down", change, { instance });
    const { anomalies } = await fire(before, of("h1"), of("h2"));
    expect(new Set(anomalies.map((one: Json) => one.anomaly_id)).size).toBe(2);
    const rig = await before.restarted({});
    const states = async () =>
      (await ask(rig, "alerts", {})).body.alerts.map((one: Json) => `${one.labels.instance} ${one.state} ${one.pages}`).sort();
    await fire(rig, of("h1", { status: "resolved" }));
    expect(await states()).toEqual(["h1 resolved 1", "h2 firing 1"]);
    await fire(rig, of("h2", { status: "resolved" }));
    expect(await states()).toEqual(["h1 resolved 1", "h2 resolved 1"]);
  });

  it("are anomalies with a report at once, whatever the warm-up; a repeat changes nothing", async () => {
    const rig = await Rig.open({ warmUpMinutes: 8 });
    const first = await fire(rig, alert("Slow"), alert("Down", {}, { service_id: "orders", severity: "warning" }));
    expect(first).toMatchObject({ status: "ok", rca_triggered: true, anomaly_id: first.anomalies[0].anomaly_id });
    expect(await fire(rig, alert("Slow"), alert("Down", {}, { service_id: "orders", severity: "warning" }))).toEqual(first);
    await settle(rig);
    const { body } = await ask(rig, "anomalies");
    expect(body.anomalies.map((each: Json) => [each.service_id, each.metric_name, each.anomaly_score, each.severity]).sort()).toEqual([
      ["checkout", "Slow", expect.closeTo(0.9, 2), "high"],
      ["orders", "Down", expect.closeTo(0.6, 2), "medium"],
    ]);
    // Nothing joins the two: each has an analysis of its own.
    const [report, other, ...others] = (await reports(rig)).sort((a, b) => (a.service_id < b.service_id ? -1 : 1));
    expect(others).toEqual([]);
    expect(other).toMatchObject({ service_id: "orders", anomaly_count: 1 });
    expect(report).toMatchObject({ incident_id: first.anomaly_id, revision: 1, anomaly_count: 1, enough: false, category: "unknown" });
    expect(report.summary).toMatch(/^Not enough evidence for a cause: looked at 0 series/);
  });

  it("end with their own resolved, and what was resolved before it came says nothing", async () => {
    const rig = await Rig.open();
    const { anomaly_id: id } = await fire(rig, alert("Slow"));
    expect(await fire(rig, alert("Other", { status: "resolved" }))).toMatchObject({ anomaly_id: "", anomalies: [], rca_triggered: false });
    expect((await fire(rig, alert("Slow", { status: "resolved" }))).anomaly_id).toBe(id);
    expect((await ask(rig, "anomalies")).body.anomalies).toMatchObject([{ anomaly_id: id, resolved: true }]);
  });

  it("come as an array alone too, with common labels, and within bounds", async () => {
    const rig = await Rig.open();
    expect((await ask(rig, "alertWebhook", {}, [alert("Bare", {}, { service: "" })])).body.anomalies).toHaveLength(1);
    expect((await ask(rig, "anomalies")).body.anomalies).toMatchObject([{ service_id: "unknown" }]);
    const many = Array.from({ length: WEBHOOK_ALERTS_PER_REQUEST_MAX + 1 }, (_, i) => alert(`a${i}`));
    const refused = await ask(rig, "alertWebhook", {}, { alerts: many });
    expect(refused).toMatchObject({ status: 400, body: { message: expect.stringContaining(String(WEBHOOK_ALERTS_PER_REQUEST_MAX)) } });
    expect((await ask(rig, "alertWebhook", {}, { alerts: many.slice(1) })).body.anomalies).toHaveLength(WEBHOOK_ALERTS_PER_REQUEST_MAX);
    const common = { alerts: [{ status: "firing", labels: {} }], commonLabels: { alertname: "Common", service: "cart" } };
    await ask(rig, "alertWebhook", {}, common);
    expect((await ask(rig, "anomalies", { service_id: "cart" })).body.anomalies).toMatchObject([{ metric_name: "Common" }]);
  });

  it("trigger one analysis a pair within its cooldown, over a restart too", async () => {
    const rig = await Rig.open();
    await fire(rig, alert("Slow"));
    await fire(rig, alert("Slow", { status: "resolved" }));
    const again = (atMs: number) => alert("Slow", { startsAt: new Date(atMs).toISOString() });
    rig.nowMs += 5 * MINUTE_MS;
    expect(await fire(rig, again(rig.nowMs))).toMatchObject({ rca_triggered: false });
    await fire(rig, { ...again(rig.nowMs), status: "resolved" });
    const restarted = await rig.restarted();
    restarted.nowMs += MINUTE_MS;
    expect(await fire(restarted, again(restarted.nowMs))).toMatchObject({ rca_triggered: false });
    restarted.nowMs += 15 * MINUTE_MS;
    await fire(restarted, { ...again(START_MS + 6 * MINUTE_MS), status: "resolved" });
    expect(await fire(restarted, again(restarted.nowMs))).toMatchObject({ rca_triggered: true });
  });
});

describe("reports", () => {
  it("are revised each minute of the first five while they name no cause and at the end, and name what joins within a second", async () => {
    const rig = await Rig.open();
    const { anomaly_id: id } = await fire(rig, alert("Slow"));
    await settle(rig);
    const joined = await fire(rig, alert("Down"));
    await pass(rig, 2_000, 1_000);
    expect(await reports(rig, { anomaly_id: joined.anomaly_id })).toMatchObject([{ incident_id: id, revision: 1, anomaly_count: 2 }]);
    await pass(rig, MINUTE_MS);
    expect(await reports(rig)).toMatchObject([{ revision: 2, final: false }]);
    await pass(rig, 5 * MINUTE_MS);
    expect(await reports(rig)).toMatchObject([{ revision: 6, final: false, enough: false }]);
    await fire(rig, alert("Slow", { status: "resolved" }), alert("Down", { status: "resolved" }));
    await pass(rig, 2 * MINUTE_MS);
    expect(await reports(rig)).toMatchObject([{ revision: 7, final: true, anomaly_id: id }]);
  });

  it("are final with their first revision where all of the incident is over by then, and not where one of it goes on", async () => {
    for (const [goesOn, final] of [
      [[], true],
      [[alert("Down")], false],
    ] as const) {
      const rig = await Rig.open();
      await Promise.all([fire(rig, alert("Slow"), ...goesOn), fire(rig, alert("Slow", { status: "resolved" }))]);
      await pass(rig, 2_000, 1_000);
      expect(await reports(rig)).toMatchObject([{ revision: 1, final, anomaly_count: 1 + goesOn.length }]);
    }
  });

  it("are found by each of the anomalies of a large incident, over a restart, until they go", async () => {
    const rig = await Rig.open({ retentionMs: 2 * DAY_MS });
    const many = Array.from({ length: INCIDENT_MEMBERS_PER_INCIDENT_MAX + 30 }, (_, i) => alert("Down", {}, { service: `s${i}` }));
    const { anomalies, anomaly_id: incident } = await fire(rig, ...many);
    await pass(rig, 2_000, 1_000);
    const [report] = await reports(rig);
    expect(report).toMatchObject({ incident_id: incident, anomaly_count: many.length });
    expect(report.anomalies).toHaveLength(INCIDENT_MEMBERS_PER_INCIDENT_MAX);
    const found = async (of: Rig) => {
      const counts = anomalies.map(({ anomaly_id }: Json) => ask(of, "rcaReports", { anomaly_id }).then(({ body }) => body.total));
      return (await Promise.all(counts)).reduce((sum: number, total: number) => sum + total, 0);
    };
    expect(await found(rig)).toBe(many.length);
    const unnamed = anomalies.find(({ anomaly_id }: Json) => !report.anomalies.includes(anomaly_id));
    expect((await ask(rig, "similarReports", { anomaly_id: unnamed.anomaly_id })).body.reports).toEqual([]);
    expect((await ask(rig, "rcaReports", { anomaly_id: unnamed.anomaly_id }, undefined, "other")).body.total).toBe(0);
    const restarted = await rig.restarted({ retentionMs: 2 * DAY_MS });
    expect(await found(restarted)).toBe(many.length);
    await pass(restarted, 64 * MINUTE_MS, 4 * MINUTE_MS);
    expect(await reports(restarted)).toMatchObject([{ anomaly_count: many.length, final: true }]);
    restarted.nowMs += 3 * DAY_MS;
    restarted.monotonicMs += 3 * DAY_MS;
    await settle(restarted);
    expect([await found(restarted), restarted.control.contents.get("incident_members")?.size ?? 0]).toEqual([0, 0]);
  });

  it("are one for each of forty findings at once that nothing joins, of its own service and onset", async () => {
    const rig = await Rig.open();
    const many = Array.from({ length: 40 }, (_, i) => alert(`Down${i}`, {}, { service: `s${i}` }));
    const { anomalies } = await fire(rig, ...many);
    for (let i = 0; i < many.length; i++) await settle(rig);
    const own = await Promise.all(anomalies.map(({ anomaly_id }: Json) => reports(rig, { anomaly_id })));
    expect(own.map((of) => of.map(({ service_id, anomaly_count }: Json) => [service_id, anomaly_count]))).toEqual(
      many.map((_, i) => [[`s${i}`, 1]]),
    );
  });

  it("go on after a restart, also one before the first", async () => {
    const rig = await Rig.open();
    await fire(rig, alert("Slow"));
    await settle(rig);
    const later = alert("Down", { startsAt: new Date(START_MS + 20 * MINUTE_MS).toISOString() }, { service: "orders" });
    rig.nowMs += 20 * MINUTE_MS;
    rig.engines[0]!.isDead = true;
    const { anomaly_id: second } = await fire(rig, later);
    await settle(rig);
    expect(await reports(rig, { anomaly_id: second })).toEqual([]);
    const restarted = await rig.restarted();
    await settle(restarted);
    expect(await reports(restarted, { anomaly_id: second })).toMatchObject([{ revision: 1 }]);
    await pass(restarted, MINUTE_MS);
    expect(await reports(restarted, { anomaly_id: second })).toMatchObject([{ revision: 2 }]);
    expect((await reports(restarted)).length).toBe(2);
  });

  it("that a restart interrupts wait until the server serves, through a kill too, ahead of what comes meanwhile", async () => {
    const rig = await Rig.open();
    rig.engines[0]!.isDead = true;
    const early = Array.from({ length: 5 }, (_, i) => alert(`Down${i}`, {}, { service: `s${i}` }));
    const { anomalies } = await fire(rig, ...early);
    await settle(rig);
    for (let kills = 0; kills < 2; kills++) {
      const killed = await rig.restarted({ isStarting: true });
      await settle(killed);
      expect([killed.counter("rcaInterrupted"), killed.counter("rcaIncidents"), await reports(killed)]).toEqual([early.length, 0, []]);
      expect((await ask(killed, "status")).body.components.rca).toBe("behind");
      expect((await ask(killed, "anomalies")).body.total).toBe(early.length);
    }
    const restarted = await rig.restarted({ isStarting: true });
    const late = await fire(restarted, alert("Slow", { startsAt: new Date(restarted.nowMs).toISOString() }));
    expect(restarted.counter("rcaInterrupted")).toBe(early.length + 1);
    restarted.coordinator.markEnginesReady();
    for (let i = 0; i <= early.length; i++) await settle(restarted);
    expect([restarted.counter("rcaInterrupted"), (await ask(restarted, "status")).body.components.rca]).toEqual([0, "ok"]);
    for (const { anomaly_id } of [...anomalies, late]) expect(await reports(restarted, { anomaly_id })).toHaveLength(1);
    const own = await Promise.all([...anomalies, late].map(({ anomaly_id }: Json) => reports(restarted, { anomaly_id })));
    expect(own.map(([report]) => report.created_at)).toEqual(own.map(([report]) => report.created_at).sort());
  });

  it("wait for an engine that does not answer, and are tried again", async () => {
    const rig = await Rig.open();
    rig.engines[0]!.isDead = true;
    await fire(rig, alert("Slow"));
    await settle(rig);
    expect([await reports(rig), rig.counter("rcaFailures")]).toEqual([[], 1]);
    rig.engines[0]!.isDead = false;
    await pass(rig, 10_000, 5_000);
    expect(await reports(rig)).toMatchObject([{ revision: 1 }]);
  });

  it("are of one environment where it is asked for (A10)", async () => {
    const rig = await Rig.open();
    const ids: string[] = [];
    for (const environment of ["prod", "staging"]) {
      ids.push((await fire(rig, alert("Slow", { startsAt: new Date(rig.nowMs).toISOString() }, { environment }))).anomaly_id);
      await pass(rig, 10 * MINUTE_MS, 5 * MINUTE_MS);
    }
    const of = async (environment: string) => (await reports(rig, { environment })).map(({ incident_id }) => incident_id);
    expect([await of("prod"), await of("staging"), await of("")]).toEqual([[ids[0]], [ids[1]], []]);
    expect((await reports(rig)).length).toBe(2);
  });

  it("come in pages, newest first, by service, anomaly and time", async () => {
    const rig = await Rig.open();
    const ids: string[] = [];
    for (let i = 0; i < 3; i++) {
      ids.unshift((await fire(rig, alert(`a${i}`, { startsAt: new Date(rig.nowMs).toISOString() }, { service: `s${i}` }))).anomaly_id);
      await pass(rig, 10 * MINUTE_MS, 5 * MINUTE_MS);
    }
    const first = (await ask(rig, "rcaReports", { limit: "2" })).body;
    expect([first.total, first.reports.map((each: Json) => each.incident_id)]).toEqual([3, ids.slice(0, 2)]);
    expect((await reports(rig, { limit: "2", page_token: first.page_token })).map((each) => each.incident_id)).toEqual(ids.slice(2));
    expect((await reports(rig, { service_id: "s1" })).map((each) => each.incident_id)).toEqual([ids[1]]);
    expect((await reports(rig, { since: new Date(START_MS + 15 * MINUTE_MS).toISOString() })).length).toBe(1);
    expect(await ask(rig, "rcaReports", { limit: "1001" })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/1000/) },
    });
  });

  it("go with RETENTION_DAYS; what helped stays", async () => {
    const rig = await Rig.open({ retentionMs: 2 * DAY_MS });
    const { anomaly_id: id } = await fire(rig, alert("Slow"));
    await settle(rig);
    await ask(rig, "resolutionWebhook", {}, resolution(id));
    await pass(rig, 2 * MINUTE_MS);
    rig.nowMs += 3 * DAY_MS;
    rig.monotonicMs += 3 * DAY_MS;
    await settle(rig);
    expect([await reports(rig), rig.counter("rcaReports"), rig.counter("rcaReportsExpired")]).toEqual([[], 0, 1]);
    expect((await ask(rig, "resolutionWebhook", {}, resolution(id))).body).toMatchObject({ stored: false });
    const restarted = await rig.restarted();
    expect((await ask(restarted, "resolutionWebhook", {}, resolution(id))).body).toMatchObject({ stored: false });
  });
});

describe("analyses that are asked for", () => {
  it("have all fields where there is not enough evidence", async () => {
    const rig = await Rig.open();
    const { anomaly_id: id } = await fire(rig, alert("Slow"));
    await settle(rig);
    const { status, body } = await ask(rig, "analyze", {}, { anomaly_id: id });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      anomaly_id: id,
      service_id: "checkout",
      root_cause: { category: "unknown", confidence: 0, historical_matches: [], evidence: {} },
      features: { raw_value: null, day_of_week: 6, is_weekend: true, hour_of_day: 11, correlated_metrics: {} },
      blast_radius: [],
      causal_relationships: [],
      predicted_anomalies: [],
    });
  });

  it("are refused for what is unknown, and for what another tenant has", async () => {
    const rig = await Rig.open();
    const { anomaly_id: id } = await fire(rig, alert("Slow"));
    await settle(rig);
    const timestamp = new Date(START_MS).toISOString();
    for (const [endpoint, query, body, tenant] of [
      ["analyze", {}, { anomaly_id: "0".repeat(32) }, "default"],
      ["analyze", {}, { anomaly_id: id }, "other"],
      ["analyze", {}, { service_id: "nobody", metric_name: "m", timestamp }, "default"],
      ["similarReports", { anomaly_id: id }, undefined, "other"],
      ["resolutionWebhook", {}, resolution(id), "other"],
      ["correlations", { service_id: "nobody" }, undefined, "default"],
      ["blastRadius", { service_id: "nobody" }, undefined, "default"],
    ] as const) {
      expect([endpoint, (await ask(rig, endpoint, query, body, tenant)).status]).toEqual([endpoint, 404]);
    }
    expect(await ask(rig, "correlations", { service_id: "x", depth: "11" })).toMatchObject({
      status: 400,
      body: { message: expect.stringMatching(/1.*10/) },
    });
    expect((await ask(rig, "rcaReports", {}, undefined, "other")).body).toMatchObject({ reports: [], total: 0 });
    expect((await ask(rig, "scorecard", {}, undefined, "other")).body).toMatchObject({ resolutions: 0, hits_at_1: null });
  });
});

describe("resolutions", () => {
  it("are stored once, resolve their anomaly, are audited and replaced by another", async () => {
    const rig = await Rig.open();
    const { anomaly_id: id } = await fire(rig, alert("Slow"));
    await settle(rig);
    const first = (await ask(rig, "resolutionWebhook", {}, resolution(id))).body;
    expect(first).toMatchObject({ status: "ok", stored: true });
    expect((await ask(rig, "resolutionWebhook", {}, resolution(id))).body).toEqual({ ...first, stored: false });
    expect((await ask(rig, "anomalies")).body.anomalies).toMatchObject([{ resolved: true }]);
    const other = (await ask(rig, "resolutionWebhook", {}, resolution(id, { resolution: "added a volume" }))).body;
    expect(other).toEqual(first);
    const audit = (await rig.askAs({ tenant: "default", subject: "root", role: "admin" }, "audit", {})).body;
    const stored = audit.entries.filter((entry: Json) => entry.action === "resolution.store");
    expect(stored.map((entry: Json) => entry.after.resolution)).toEqual(["added a volume", "freed the disk"]);
  });

  it("score the reports by the service that they name", async () => {
    const rig = await Rig.open();
    const { anomaly_id: id } = await fire(rig, alert("Slow"));
    await settle(rig);
    await ask(rig, "resolutionWebhook", {}, resolution(id));
    expect((await ask(rig, "scorecard")).body).toMatchObject({
      resolutions: 1,
      hits_at_1: 0,
      hits_at_3: 0,
      not_enough: 1,
      revisions: [{ revision: 1, reports: 1, hits_at_1: 0, hits_at_3: 0 }],
      calibration: [],
      brier: null,
    });
  });
});
