// Alerts as the coordinator keeps them: with the verdicts that they follow from, in the ledger, over failures and restarts, and what people do about them.
import { describe, expect, it } from "vitest";
import type { Principal } from "../../../../src/core/protocol/query.ts";
import { DAY_MS, episode as episodeOfRig, Rig, type RigOptions, START_MS } from "../../../support/coordinator-rig.ts";

const MINUTE = 60_000;
const OPERATOR: Principal = { tenant: "default", subject: "ada", role: "operator" };

/** So rare for its series that its page waits for no confirmation. */
const episode: typeof episodeOfRig = (change) =>
  episodeOfRig({ verdict: { observed: 1, threshold: 0.3, baseline: { n: 120 }, gates: [{ name: "own_tail", passed: true }] }, ...change });
const open = (options: RigOptions = {}) => Rig.open({ watchdogIntervalMs: 60_000, ...options });
const alerts = async (rig: Rig, query: Record<string, string> = {}) => (await rig.ask("alerts", query)).body;
const anomalies = async (rig: Rig) => (await rig.ask("anomalies")).body.anomalies;
const alertOf = async (rig: Rig) => (await rig.ask("alert", {}, { alert_id: (await alerts(rig)).alerts[0].alert_id })).body;
const ask = (rig: Rig, endpoint: string, path: Record<string, string>, content: unknown) =>
  rig.askAs(OPERATOR, endpoint, { path, content });
const reported = (rig: Rig) =>
  rig.messages
    .flatMap((message) => (message.type === "events" ? message.events : []))
    .flatMap(({ event, data }) => (event === "alert" ? [JSON.parse(data)] : []));

describe("an alert", () => {
  it("opens with its first anomaly, takes in the others of the service, and ends with the last", async () => {
    const rig = await open();
    await rig.take(episode({ z: 7 }), episode({ metricName: "errors", z: 9, explanation: "worse" }));
    const page = await alerts(rig);
    const list = await anomalies(rig);
    expect(page).toEqual({
      alerts: [
        {
          alert_id: expect.stringMatching(/^[0-9a-f]{32}$/),
          state: "firing",
          severity: "high",
          service_id: "checkout",
          environment: "prod",
          family: "metric",
          started_at: "2026-01-31T11:59:59.000Z",
          updated_at: "2026-01-31T12:00:00.000Z",
          resolved_at: null,
          anomaly_ids: expect.toSatisfy((ids: string[]) => ids.length === 2),
          anomalies: 2,
          open_anomalies: 2,
          services: [],
          explanation: "worse",
          labels: {
            service_id: "checkout",
            metric_name: "errors",
            environment: "prod",
            detector: "z_score",
            family: "metric",
            severity: "high",
          },
          resolved_by: null,
          resolved_by_name: null,
          accepted_level: null,
          resolution: null,
          acknowledged_by: null,
          acknowledged_at: null,
          note: null,
          assignee: null,
          snoozed_until: null,
          snoozed_by: null,
          merged_into: null,
          pages: 1,
          held_back_by: null,
          held_back_until: null,
          notification: { state: "not_told", channel: null, at: null, reason: "no channel is configured" },
        },
      ],
      total: 1,
      page_token: "",
    });
    const [{ alert_id }] = page.alerts;
    const byMetric = new Map(list.map((anomaly: { metric_name: string }) => [anomaly.metric_name, anomaly]));
    expect(byMetric.get("latency_ms")).toMatchObject({ alert_id, outcome: "paged", suppressed_by: null });
    expect(byMetric.get("errors")).toMatchObject({ alert_id, outcome: "absorbed", suppressed_by: "dedup" });
    rig.nowMs += 5 * MINUTE;
    await rig.take(episode({ transition: "close" }));
    expect((await alerts(rig)).alerts).toMatchObject([{ state: "firing", open_anomalies: 1 }]);
    await rig.take(episode({ metricName: "errors", transition: "close", observedAtMs: rig.nowMs - 500 }));
    expect((await alerts(rig)).alerts).toMatchObject([{ state: "resolved", open_anomalies: 0, resolved_at: "2026-01-31T12:04:59.500Z" }]);
    expect(reported(rig).map(({ state }) => state)).toEqual(["firing", "resolved"]);
    expect([rig.counter("alertsOpened"), rig.counter("alertsFiring"), rig.counter("pagesDecided"), rig.counter("ledgerRows")]).toEqual([
      1, 0, 1, 3,
    ]);
  });

  it("tells its members, its history and every decision on it", async () => {
    const rig = await open();
    await rig.take(episode());
    rig.nowMs += MINUTE;
    await rig.take(episode({ metricName: "errors" }));
    rig.nowMs += MINUTE;
    await rig.take(episode({ transition: "close" }), episode({ metricName: "errors", transition: "close" }));
    const { members, history, decisions, decisions_complete } = await alertOf(rig);
    expect(members.map((member: { metric_name: string; resolved: boolean }) => [member.metric_name, member.resolved])).toEqual([
      ["latency_ms", true],
      ["errors", true],
    ]);
    expect(history.map(({ change }: { change: string }) => change)).toEqual(["opened", "paged", "updated", "resolved"]);
    expect(decisions.map(({ outcome }: { outcome: string }) => outcome)).toEqual(["paged", "absorbed", "resolved"]);
    expect(decisions[0].gates.map(({ name }: { name: string }) => name)).toEqual([
      "exclusion",
      "direction",
      "warmup",
      "threshold",
      "tier",
      "inhibited",
      "silenced",
    ]);
    expect(decisions[0].rca).toEqual({ name: "rca_cooldown", passed: true, value: null, limit: 15 });
    expect(decisions_complete).toBe(true);
  });

  it("is listed by state, severity, service, environment, family and time, page by page", async () => {
    const rig = await open();
    await rig.take(episode({ serviceId: "a" }), episode({ serviceId: "b", environment: "staging" }));
    rig.nowMs += MINUTE;
    await rig.take(
      episode({ serviceId: "c", detector: "slo_burn", metricName: "slo.burn", z: 2.5 }),
      episode({ serviceId: "a", transition: "close" }),
    );
    const found = async (query: Record<string, string>) =>
      (await alerts(rig, query)).alerts.map(({ service_id }: { service_id: string }) => service_id).sort();
    expect(await found({ state: "firing" })).toEqual(["b", "c"]);
    expect(await found({ state: "resolved" })).toEqual(["a"]);
    expect(await found({ severity: "medium" })).toEqual(["c"]);
    expect(await found({ service_id: "b" })).toEqual(["b"]);
    expect(await found({ environment: "prod" })).toEqual(["a", "c"]);
    expect(await found({ family: "slo_burn" })).toEqual(["c"]);
    expect(await found({ since: "2026-01-31T12:01:00Z" })).toEqual(["c"]);
    expect(await found({ until: "2026-01-31T12:01:00Z" })).toEqual(["a", "b"]);
    const seen: string[] = [];
    for (let token = ""; ; ) {
      const page = await alerts(rig, { limit: "1", ...(token !== "" && { page_token: token }) });
      expect(page.total).toBe(3);
      seen.push(...page.alerts.map(({ service_id }: { service_id: string }) => service_id));
      token = page.page_token;
      if (token === "") break;
    }
    expect([seen[0], seen.length]).toEqual(["c", 3]);
  });

  it("is not seen by another tenant", async () => {
    const rig = await open();
    await rig.take(episode());
    const [{ alert_id }] = (await alerts(rig)).alerts;
    expect((await rig.ask("alert", {}, { alert_id }, "other")).status).toBe(404);
    expect((await rig.ask("alerts", {}, {}, "other")).body).toEqual({ alerts: [], total: 0, page_token: "" });
  });
});

describe("what is stored of alerts", () => {
  it("is the same after a restart, and known episodes fire no second time", async () => {
    const rig = await open();
    const frames = [episode(), episode({ metricName: "errors" })];
    await rig.take(...frames);
    const before = await alertOf(rig);
    const second = await rig.restarted();
    await second.take(...frames);
    expect(await alertOf(second)).toEqual(before);
    expect([second.counter("ledgerRows"), second.counter("alertsFiring"), second.counter("pagesDecided")]).toEqual([2, 1, 0]);
    second.nowMs += MINUTE;
    await second.take(episode({ metricName: "third", startedAtMs: START_MS }));
    expect(await alertOf(second)).toMatchObject({ alert_id: before.alert_id, anomalies: 3, pages: 1 });
  });

  it("is the same whether commits fail or not, in either store", async () => {
    const run = async (prepare: (rig: Rig, i: number) => void) => {
      const rig = await open();
      for (let i = 0; i < 24; i++) {
        rig.nowMs += MINUTE;
        prepare(rig, i);
        const [service, detector] = [`s${i % 3}`, i % 2 === 0 ? "z_score" : "saturation"];
        rig.engines[0]?.frames.push(
          episode({ serviceId: service, detector, metricName: `m${i}`, startedAtMs: rig.nowMs, transition: "open" }),
        );
        for (let tries = 0; tries < 3; tries++) {
          await rig.drain();
          rig.monotonicMs += 10_000;
        }
      }
      return [...(rig.control.contents.get("alerts") ?? []), ...(rig.series.contents.get("ledger") ?? [])].map(([key, value]) => [
        Buffer.from(key, "latin1").toString("hex"),
        Buffer.from(value).toString(),
      ]);
    };
    const expected = await run(() => undefined);
    expect(expected.length).toBeGreaterThan(24);
    expect(await run((rig, i) => i % 3 === 0 && rig.control.failNext("ENOSPC"))).toEqual(expected);
    expect(await run((rig, i) => i % 3 === 1 && rig.series.failNext("ENOSPC"))).toEqual(expected);
  });

  it("has a row for what changes a decision only: openings, raises, ends", async () => {
    const rig = await open();
    await rig.take(episode({ attributes: { i: 0 }, z: 4 }));
    await rig.take(...[1, 2, 3].map((i) => episode({ attributes: { i }, z: 4 + i })));
    await rig.take(episode({ attributes: { i: 0 }, z: 12, transition: "update" }));
    expect(rig.counter("ledgerRows")).toBe(1);
  });

  it("goes after RETENTION_DAYS without a change, rows of the ledger after theirs", async () => {
    const rig = await open();
    await rig.take(episode());
    rig.nowMs += 29 * DAY_MS;
    rig.monotonicMs += 29 * DAY_MS;
    await rig.take(episode({ serviceId: "cart" }));
    rig.nowMs += DAY_MS + 1;
    rig.monotonicMs += DAY_MS + 1;
    await rig.drain();
    expect((await alerts(rig)).alerts).toMatchObject([{ service_id: "cart" }]);
    expect([rig.counter("alertsExpired"), rig.counter("ledgerRows"), rig.counter("ledgerRowsDropped")]).toEqual([1, 1, 1]);
    expect(rig.series.contents.get("ledger")?.size).toBe(1);
  });

  it("is bounded by number: resolved ones go first, then the oldest", async () => {
    const rig = await open({ alertsMax: 3 });
    for (const serviceId of ["a", "b", "c"]) {
      rig.nowMs += MINUTE;
      await rig.take(episode({ serviceId }));
    }
    await rig.take(episode({ serviceId: "b", transition: "close" }));
    rig.nowMs += MINUTE;
    await rig.take(episode({ serviceId: "d" }));
    expect((await alerts(rig)).alerts.map(({ service_id }: { service_id: string }) => service_id)).toEqual(["d", "c", "a"]);
    rig.nowMs += MINUTE;
    await rig.take(episode({ serviceId: "e" }));
    expect((await alerts(rig)).alerts.map(({ service_id }: { service_id: string }) => service_id)).toEqual(["e", "d", "c"]);
    expect([rig.counter("alertsDropped"), rig.counter("alertsFiring")]).toEqual([2, 3]);
  });

  it("fires no longer for an anomaly that was dropped by number", async () => {
    const rig = await open({ anomaliesMax: 1 });
    await rig.take(episode({ serviceId: "a" }));
    rig.nowMs += 1;
    await rig.take(episode({ serviceId: "b" }));
    expect((await alerts(rig)).alerts.map(({ service_id, state }: { service_id: string; state: string }) => [service_id, state])).toEqual([
      ["b", "firing"],
      ["a", "resolved"],
    ]);
  });
});

describe("an alert that is held back", () => {
  it("waits for a confirmation where its finding is not extreme, and fires meanwhile", async () => {
    const rig = await open();
    await rig.take(episode({ verdict: { observed: 1, threshold: 3, baseline: { n: 120 } } }));
    expect((await alerts(rig)).alerts).toMatchObject([{ state: "firing", pages: 0, held_back_by: "confirmation" }]);
    expect((await anomalies(rig))[0]).toMatchObject({ outcome: "suppressed", suppressed_by: "confirmation" });
  });

  it("is asked again at the end of each cycle, and pages when nothing holds it any more", async () => {
    const rig = await open();
    await rig.drain();
    for (let minute = 0; minute <= 3; minute++) {
      await rig.take(episode({ startedAtMs: rig.nowMs }));
      if (minute < 3) await rig.take(episode({ startedAtMs: rig.nowMs, transition: "close" }));
      rig.nowMs += MINUTE;
    }
    // The third reopening in the hour, at minute 3: it pages five minutes after the last page, which was at minute 2.
    expect((await alerts(rig)).alerts).toMatchObject([{ state: "firing", pages: 3, held_back_by: "flapping" }]);
    const cycle = async (minute: number) => {
      rig.nowMs = START_MS + minute * MINUTE;
      rig.monotonicMs += 60_000;
      for (let turns = 0; turns < 20; turns++) await rig.drain();
      return (await alerts(rig)).alerts[0];
    };
    expect(await cycle(6)).toMatchObject({ pages: 3, held_back_by: "flapping" });
    expect(await cycle(7)).toMatchObject({ pages: 4, held_back_by: null });
    expect(await cycle(8)).toMatchObject({ pages: 4 });
    expect((await alertOf(rig)).decisions.at(-1)).toMatchObject({ outcome: "paged", at: "2026-01-31T12:07:00.000Z" });
  });
});

describe("the list of alerts", () => {
  it("goes by when they were found, as that of anomalies does: what came late is among what is new", async () => {
    const rig = await open();
    await rig.take(episode({ startedAtMs: rig.nowMs - 20 * MINUTE, observedAtMs: rig.nowMs - 20 * MINUTE }));
    const at = (minutes: number) => new Date(rig.nowMs + minutes * MINUTE).toISOString();
    const [{ started_at }] = (await alerts(rig)).alerts;
    expect(started_at).toBe(at(-20));
    const listed = async (query: Record<string, string>) => [
      (await rig.ask("alerts", query)).body.total,
      (await rig.ask("anomalies", query)).body.total,
    ];
    expect(await listed({ since: at(-1) })).toEqual([1, 1]);
    expect(await listed({ until: at(-1) })).toEqual([0, 0]);
    expect(await listed({ since: at(1) })).toEqual([0, 0]);
  });
});

describe("two detectors within two minutes", () => {
  it("raise both anomalies, stored and told, and one that only grows raises nothing", async () => {
    const rig = await open();
    await rig.drain();
    const disk = { detector: "saturation", metricName: "disk.used_percent" };
    await rig.take(episode({ ...disk, z: 1.3 }));
    rig.nowMs += 10 * MINUTE;
    await rig.take(episode({ ...disk, transition: "update", z: 1.6, observedAtMs: rig.nowMs }));
    const stale = episode({ detector: "stale", metricName: "service.stale", direction: "low", z: -2.5, startedAtMs: rig.nowMs });
    await rig.take(stale);
    const said = async (of: Rig) =>
      Object.fromEntries((await anomalies(of)).map((each: Record<string, unknown>) => [each.detector, [each.severity, each.outcome]]));
    expect(await said(rig)).toEqual({ saturation: ["low", "logged"], stale: ["medium", "paged"] });
    rig.nowMs += MINUTE;
    await rig.take(episode({ detector: "slo_burn", metricName: "slo.burn", z: 2.1, startedAtMs: rig.nowMs }));
    const both = { saturation: ["low", "logged"], stale: ["high", "paged"], slo_burn: ["high", "paged"] };
    expect(await said(rig)).toEqual(both);
    expect(await said(await rig.restarted())).toEqual(both);
    const fired = (await alerts(rig)).alerts.map(({ family, severity, pages }: Record<string, unknown>) => [family, severity, pages]);
    expect(fired.sort()).toEqual([
      ["slo_burn", "high", 1],
      ["stale", "high", 1],
    ]);
    const events = rig.messages.flatMap((message) => (message.type === "events" ? message.events : []));
    const raised = events.filter(({ event, data }) => event === "anomaly" && JSON.parse(data).detector === "stale").at(-1);
    expect(JSON.parse(raised?.data ?? "{}")).toMatchObject({ severity: "high" });
  });
});

describe("what is said of an anomaly that was held back", () => {
  const cycle = async (rig: Rig) => {
    rig.nowMs += MINUTE;
    rig.monotonicMs += MINUTE;
    for (let turns = 0; turns < 20; turns++) await rig.drain();
  };
  const silence = (rig: Rig, minutes: number) =>
    ask(
      rig,
      "createSilence",
      {},
      {
        matchers: [{ name: "service_id", operator: "=", value: "checkout" }],
        ends_at: new Date(rig.nowMs + minutes * MINUTE).toISOString(),
      },
    );
  const said = async (rig: Rig) => (await anomalies(rig)).map((each: Record<string, unknown>) => [each.outcome, each.suppressed_by]);

  it("follows its alert when that pages, in lists, alone and in the event stream, also after a restart", async () => {
    const rig = await open();
    await rig.drain();
    await silence(rig, 2);
    await rig.take(episode(), episode({ metricName: "errors" }));
    expect(await said(rig)).toEqual(Array(2).fill(["suppressed", "silenced"]));
    await cycle(rig);
    expect(await said(rig)).toEqual(Array(2).fill(["suppressed", "silenced"]));
    await cycle(rig);
    expect((await alerts(rig)).alerts).toMatchObject([{ pages: 1, held_back_by: null }]);
    expect(await said(rig)).toEqual(Array(2).fill(["paged", null]));
    const [{ anomaly_id }] = await anomalies(rig);
    const one = (await rig.ask("anomaly", {}, { id: anomaly_id })).body;
    expect(one).toMatchObject({ outcome: "paged", suppressed_by: null, decision: { outcome: "suppressed", suppressed_by: "silenced" } });
    expect(await said(await rig.restarted())).toEqual(Array(2).fill(["paged", null]));
    await rig.take(episode({ transition: "close" }));
    const events = rig.messages.flatMap((message) => (message.type === "events" ? message.events : []));
    const last = events.filter(({ event }) => event === "anomaly").at(-1)?.data ?? "{}";
    expect(JSON.parse(last)).toMatchObject({ resolved: true, outcome: "paged", suppressed_by: null });
  });

  it("keeps why nobody was told, where its alert was resolved first", async () => {
    const rig = await open();
    await rig.drain();
    await silence(rig, 2);
    await rig.take(episode());
    await rig.take(episode({ transition: "close" }));
    await cycle(rig);
    await cycle(rig);
    await cycle(rig);
    expect((await alerts(rig)).alerts).toMatchObject([{ state: "resolved", pages: 0, held_back_by: "silenced" }]);
    expect(await said(rig)).toEqual([["suppressed", "silenced"]]);
    rig.nowMs += MINUTE;
    await rig.take(episode({ startedAtMs: rig.nowMs }));
    expect((await alerts(rig)).alerts).toMatchObject([{ state: "firing", pages: 1, held_back_by: null }]);
    expect(await said(rig)).toEqual(Array(2).fill(["paged", null]));
  });
});

describe("an anomaly declared by hand", () => {
  const body = { service_id: "checkout", severity: "high", explanation: "customers cannot pay" };
  it("pages in the warm-up, and says who declared it", async () => {
    const rig = await open();
    const { status, body: made } = await ask(rig, "declareAnomaly", {}, body);
    expect([status, made]).toEqual([
      201,
      expect.objectContaining({
        service_id: "checkout",
        metric_name: "service.manual",
        severity: "high",
        detector: "manual",
        outcome: "paged",
        explanation: "customers cannot pay",
        attributes: { declared_by: "ada" },
      }),
    ]);
    expect(made.anomaly_score).toBeCloseTo(0.9, 12);
    expect((await alerts(rig)).alerts).toMatchObject([{ family: "manual", severity: "high", pages: 1 }]);
    expect((await rig.ask("audit")).body.entries[0]).toMatchObject({ action: "anomaly.declare", object: made.anomaly_id });
    rig.nowMs += 1;
    expect((await ask(rig, "declareAnomaly", {}, body)).body).toMatchObject({ anomaly_id: made.anomaly_id, streams: 2 });
    expect((await ask(rig, "changeAnomaly", { id: made.anomaly_id }, { resolved: true })).body).toMatchObject({ resolved: true });
    expect((await alerts(rig, { state: "firing" })).total).toBe(0);
  });
  it("of low severity is logged and makes no alert", async () => {
    const rig = await open();
    expect((await ask(rig, "declareAnomaly", {}, { ...body, severity: "low" })).body).toMatchObject({
      severity: "low",
      outcome: "logged",
      alert_id: null,
    });
    expect((await ask(rig, "declareAnomaly", {}, { ...body, metric_name: "orders", severity: "medium" })).body).toMatchObject({
      severity: "medium",
      outcome: "paged",
    });
  });
});

describe("feedback", () => {
  const isSecond = ({ metric_name }: { metric_name: string }) => metric_name === "second";
  const judge = async (rig: Rig, feedback: string, note?: string) => {
    const [{ anomaly_id }] = await anomalies(rig);
    return (await ask(rig, "changeAnomaly", { id: anomaly_id }, { feedback, ...(note !== undefined && { note }) })).body;
  };
  it("raises the bar of the service's family, is shown as a gate, and a changed mind takes its place", async () => {
    const rig = await open();
    await rig.take(episode({ z: 3.1 }));
    expect(await judge(rig, "false_positive", "load test")).toMatchObject({
      feedback: "false_positive",
      feedback_by: "ada",
      feedback_note: "load test",
    });
    await judge(rig, "false_positive", "load test");
    await rig.take(episode({ metricName: "second", z: 3.25 }), episode({ serviceId: "cart", metricName: "second", z: 3.25 }));
    const second = async (service_id: string) => (await rig.ask("anomalies", { service_id })).body.anomalies.find(isSecond);
    const [inCart, inCheckout] = [await second("cart"), await second("checkout")];
    expect([inCart.outcome, inCheckout.outcome, inCheckout.suppressed_by]).toEqual(["paged", "suppressed", "feedback"]);
    const { decision } = (await rig.ask("anomaly", {}, { id: inCheckout.anomaly_id })).body;
    expect(decision.gates.at(-1)).toEqual({ name: "feedback", passed: false, value: 3.25, limit: expect.closeTo(3.3, 9) });
    const first = (await anomalies(rig)).find(({ metric_name }: { metric_name: string }) => metric_name === "latency_ms");
    await ask(rig, "changeAnomaly", { id: first.anomaly_id }, { feedback: "true_positive" });
    await rig.take(episode({ metricName: "third", z: 3.05 }));
    expect((await anomalies(rig)).find(({ metric_name }: { metric_name: string }) => metric_name === "third").outcome).not.toBe(
      "suppressed",
    );
  });
  it("on an anomaly whose service no key can hold is kept with the anomaly alone", async () => {
    const rig = await open();
    await rig.take(episode({ serviceId: "\0".repeat(1_024), z: 3.1 }));
    expect(await judge(rig, "false_positive")).toMatchObject({ feedback: "false_positive" });
    expect(rig.control.contents.get("feedback")?.size ?? 0).toBe(0);
  });
  it("survives a restart, and its row goes when it has worn off", async () => {
    const rig = await open();
    await rig.take(episode({ z: 3.1 }));
    await judge(rig, "false_positive");
    const second = await rig.restarted();
    await second.take(episode({ metricName: "second", z: 3.25, startedAtMs: START_MS }));
    expect((await anomalies(second)).map(({ suppressed_by }: { suppressed_by: string }) => suppressed_by).sort()).toEqual([
      "feedback",
      null,
    ]);
    second.nowMs += 14 * DAY_MS;
    second.monotonicMs += 14 * DAY_MS;
    await second.drain();
    expect(second.control.contents.get("feedback")?.size).toBe(0);
  });
});
