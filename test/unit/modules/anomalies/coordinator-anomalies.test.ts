import { describe, expect, it } from "vitest";
import { MINUTE_MS } from "../../../../src/core/time/durations.ts";
import { anomalyScore } from "../../../../src/domain/detection/anomaly-score.ts";
import { DAY_MS, episode, Rig, START_MS } from "../../../support/coordinator-rig.ts";

const list = async (rig: Rig, query: Record<string, string> = {}, tenant = "default") =>
  (await rig.ask("anomalies", query, {}, tenant)).body;

describe("an anomaly", () => {
  it("is stored with the fields of the contract, and its latency is observed", async () => {
    const rig = await Rig.open();
    rig.monotonicMs = 5_000;
    await rig.take(episode({ z: -4.2, direction: "low", attributes: { zone: "a" }, arrivalMs: 4_970 }));
    const { anomalies, total, page_token } = await list(rig);
    expect({ total, page_token }).toEqual({ total: 1, page_token: "" });
    expect(anomalies[0]).toEqual({
      anomaly_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      service_id: "checkout",
      metric_name: "latency_ms",
      anomaly_score: anomalyScore(4.2),
      z_score: -4.2,
      detected_at: "2026-01-31T12:00:00.000Z",
      rca_triggered: true,
      resolved: false,
      severity: "high",
      environment: "prod",
      attributes: { zone: "a" },
      series: { service_id: "checkout", metric_name: "latency_ms", environment: "prod", attributes: { zone: "a" } },
      observed_at: "2026-01-31T11:59:59.500Z",
      started_at: "2026-01-31T11:59:59.000Z",
      resolved_at: null,
      resolved_by: null,
      resolved_by_name: null,
      accepted_level: null,
      direction: "low",
      detector: "z_score",
      explanation: "why",
      verdict: { observed: 1 },
      streams: 1,
      alert_id: null,
      outcome: "suppressed",
      suppressed_by: "direction",
      notification: { state: "not_told", channel: null, at: null, reason: "direction keeps it from paging" },
      feedback: null,
    });
    expect((await rig.ask("anomaly", {}, { id: anomalies[0].anomaly_id })).body).toMatchObject(anomalies[0]);
    expect(rig.latencies).toEqual([0.03]);
    expect(rig.messages.filter(({ type }) => type === "events")).toEqual([
      { type: "events", events: [{ event: "anomaly", tenant: "default", data: JSON.stringify(anomalies[0]) }], arrivalsMs: [4_970] },
    ]);
  });

  it("is not found under another tenant or id", async () => {
    const rig = await Rig.open();
    await rig.take(episode());
    const [{ anomaly_id }] = (await list(rig)).anomalies;
    expect((await rig.ask("anomaly", {}, { id: anomaly_id }, "other")).status).toBe(404);
    expect((await rig.ask("anomaly", {}, { id: "nope" })).body).toMatchObject({ status: "error", error: "not_found" });
    expect(await list(rig, {}, "other")).toEqual({ anomalies: [], total: 0, page_token: "" });
  });

  it("gathers the streams of its pair, keeps the highest peak, and is resolved by the last", async () => {
    const rig = await Rig.open();
    const a = { attributes: { i: "a" } };
    const b = { attributes: { i: "b" } };
    await rig.take(
      episode({ ...a, z: 4 }),
      episode({ ...b, z: 3.5, startedAtMs: START_MS }),
      episode({ ...b, transition: "update", startedAtMs: START_MS, z: 9, explanation: "worse" }),
    );
    expect((await list(rig)).anomalies).toMatchObject([
      { streams: 2, z_score: 9, explanation: "worse", attributes: { i: "b" }, resolved: false },
    ]);
    rig.nowMs += 1000;
    await rig.take(episode({ ...a, transition: "close", z: 4 }));
    expect((await list(rig)).anomalies).toMatchObject([{ resolved: false }]);
    await rig.take(episode({ ...b, transition: "close", startedAtMs: START_MS, observedAtMs: START_MS + 900, z: 9 }));
    expect((await list(rig)).anomalies).toMatchObject([
      { resolved: true, resolved_at: "2026-01-31T12:00:00.900Z", resolved_by: "recovered", z_score: 9 },
    ]);
    expect(rig.counter("anomaliesOpen")).toBe(0);
    expect(rig.counter("anomaliesStored")).toBe(1);
  });

  it("B9: began and ended by its values, whenever they came, and so did its alert and what was said of it; over a restart too", async () => {
    const rig = await Rig.open();
    const ago = { startedAtMs: START_MS - 18 * MINUTE_MS, z: 9 };
    await rig.take(episode({ ...ago, observedAtMs: START_MS - 18 * MINUTE_MS }));
    rig.nowMs += 2000;
    await rig.take(episode({ ...ago, transition: "close", observedAtMs: START_MS - 17 * MINUTE_MS }));
    const times = { started_at: "2026-01-31T11:42:00.000Z", resolved_at: "2026-01-31T11:43:00.000Z" };
    for (const of of [rig, await rig.restarted()]) {
      const [anomaly] = (await list(of)).anomalies;
      expect(anomaly).toMatchObject({ ...times, detected_at: "2026-01-31T12:00:00.000Z", resolved: true, resolved_by: "recovered" });
      expect((await of.ask("alerts", {}, {})).body.alerts).toMatchObject([{ ...times, state: "resolved", resolved_by: "recovered" }]);
    }
  });

  it("B9: ends by the clock where no value shows its end, and never before it began", async () => {
    const rig = await Rig.open();
    const other = { metricName: "errors", startedAtMs: START_MS - 100 };
    await rig.take(episode({ z: 9 }), episode(other));
    rig.nowMs += 5000;
    await rig.take(episode({ z: 9, transition: "end", observedAtMs: START_MS - 400 }));
    await rig.take(episode({ ...other, transition: "close", observedAtMs: START_MS - 900 }));
    const ends = (await list(rig)).anomalies.map(({ metric_name, resolved_at, resolved_by }: Record<string, string>) => [
      metric_name,
      resolved_at,
      resolved_by,
    ]);
    expect(ends.sort()).toEqual([
      ["errors", "2026-01-31T11:59:59.900Z", "recovered"],
      ["latency_ms", "2026-01-31T12:00:05.000Z", "ended"],
    ]);
  });

  it("tells the event stream of openings, higher peaks and ends, not of every member", async () => {
    const rig = await Rig.open();
    const reported = () =>
      rig.messages
        .flatMap((message) => (message.type === "events" ? message.events : []))
        .flatMap(({ event, data }) => (event === "anomaly" ? [JSON.parse(data)] : []));
    await rig.take(episode({ attributes: { i: 0 } }));
    await rig.take(...[1, 2, 3].map((i) => episode({ attributes: { i } })));
    expect(reported()).toHaveLength(1);
    await rig.take(episode({ attributes: { i: 4 }, z: 6 }));
    await rig.take(...[0, 1, 2, 3, 4].map((i) => episode({ attributes: { i }, transition: "close" })));
    expect(reported().map(({ z_score, streams, resolved }) => [z_score, streams, resolved])).toEqual([
      [5, 1, false],
      [6, 5, false],
      [6, 5, true],
    ]);
    expect(new Set(reported().map(({ anomaly_id }) => anomaly_id)).size).toBe(1);
  });

  it("is another one for the other direction, environment, metric, and after it was resolved", async () => {
    const rig = await Rig.open();
    await rig.take(
      episode(),
      episode({ direction: "low" }),
      episode({ environment: "" }),
      episode({ metricName: "errors" }),
      episode({ transition: "close" }),
      episode({ startedAtMs: START_MS + 60_000 }),
    );
    expect((await list(rig)).total).toBe(5);
  });

  it("opens again when a stream fires late on the same start", async () => {
    const rig = await Rig.open();
    await rig.take(episode(), episode({ transition: "close" }), episode({ attributes: { i: "late" } }));
    expect((await list(rig)).anomalies).toMatchObject([{ streams: 2, resolved: false, resolved_at: null }]);
  });

  it("is not changed by frames that come again, in one commit or many, before or after a restart", async () => {
    const frames = [
      episode({ attributes: { i: "a" }, z: 4 }),
      episode({ attributes: { i: "b" }, z: 5 }),
      episode({ attributes: { i: "a" }, transition: "update", z: 7 }),
      episode({ metricName: "errors", z: 3.1 }),
      episode({ attributes: { i: "a" }, transition: "close", z: 7 }),
      episode({ metricName: "errors", transition: "close", z: 3.1 }),
    ];
    const rig = await Rig.open({ seed: 5 });
    await rig.take(...frames);
    const before = rig.durable();
    rig.nowMs += 3_600_000;
    await rig.take(...frames);
    for (const frame of frames) await rig.take(frame);
    expect(rig.durable()).toEqual(before);
    const next = await rig.restarted();
    for (let from = 0; from < frames.length; from++) await next.take(...frames.slice(from));
    expect(next.durable()).toEqual(before);
    expect(next.counter("anomaliesOpen")).toBe(1);
    await next.take(episode({ attributes: { i: "b" }, transition: "close", z: 5 }));
    expect((await list(next, { service_id: "checkout" })).anomalies.every((each: { resolved: boolean }) => each.resolved)).toBe(true);
  });

  it("ends in the same state wherever the process dies and is replayed from any earlier frame", async () => {
    const frames = ["a", "b", "c"].flatMap((i, at) => [
      episode({ attributes: { i }, z: 4 + at }),
      episode({ attributes: { i }, transition: "update" as const, z: 8 - at }),
    ]);
    frames.push(...["b", "a", "c"].map((i) => episode({ attributes: { i }, transition: "close" as const, z: 8 })));
    const whole = await Rig.open();
    await whole.take(...frames);
    const expected = whole.durable();
    for (let dies = 0; dies <= frames.length; dies++) {
      for (const from of [0, Math.floor(dies / 2), dies]) {
        const rig = await Rig.open();
        await rig.take(...frames.slice(0, dies));
        const next = await rig.restarted();
        await next.take(...frames.slice(from));
        expect(next.durable()).toEqual(expected);
      }
    }
  });

  it("does not come back when a replay brings what is past its retention", async () => {
    const rig = await Rig.open({ retentionMs: DAY_MS });
    await rig.take(episode());
    rig.nowMs += DAY_MS + 60_000;
    rig.monotonicMs += DAY_MS + 60_000;
    await rig.take(episode());
    expect((await list(rig)).total).toBe(0);
    expect(rig.counter("anomaliesOpen")).toBe(0);
    expect(
      [...rig.control.contents]
        .filter(([table]) => !["secrets", "tenants", "rca_reports", "incident_members", "incident_memory"].includes(table))
        .every(([, rows]) => rows.size === 0),
    ).toBe(true);
  });

  it("makes room for a new one at the maximum, and is counted", async () => {
    const rig = await Rig.open({ anomaliesMax: 3 });
    for (let i = 0; i < 5; i++) {
      rig.nowMs += 1000;
      await rig.take(episode({ metricName: `m${i}` }));
    }
    expect((await list(rig)).anomalies.map((each: { metric_name: string }) => each.metric_name)).toEqual(["m4", "m3", "m2"]);
    expect(rig.counter("anomaliesDropped")).toBe(2);
    expect(rig.control.contents.get("anomalies")?.size).toBe(3);
    expect(rig.counter("anomaliesOpen")).toBe(3);
  });

  it("that made room is not opened again by a replay", async () => {
    const rig = await Rig.open({ anomaliesMax: 2 });
    const frames = [0, 1, 2, 3].map((i) => episode({ metricName: `m${i}` }));
    for (const frame of frames) {
      rig.nowMs += 1000;
      await rig.take(frame);
    }
    await rig.take(episode({ metricName: "m0", transition: "close" }));
    const stored = [...(rig.control.contents.get("anomalies")?.keys() ?? [])];
    await rig.take(...frames, episode({ metricName: "m0", transition: "update", z: 50 }));
    expect([...(rig.control.contents.get("anomalies")?.keys() ?? [])]).toEqual(stored);
    expect((await list(rig)).anomalies.map((each: { metric_name: string }) => each.metric_name).sort()).toEqual(["m2", "m3"]);
    expect(rig.counter("anomaliesStored")).toBe(4);
  });

  it("leaves no more episodes behind than the maximum", async () => {
    const rig = await Rig.open({ episodesMax: 4 });
    await rig.take(...Array.from({ length: 11 }, (_, i) => episode({ attributes: { i } })));
    rig.monotonicMs += 120_000;
    await rig.drain();
    expect(rig.control.contents.get("episodes")?.size).toBe(4);
    expect(rig.control.contents.get("episode_times")?.size).toBe(4);
  });
});

describe("the list of anomalies", () => {
  const filled = async (count = 9) => {
    const rig = await Rig.open();
    for (let i = 0; i < count; i++) {
      rig.nowMs = START_MS + i * 1000;
      await rig.take(episode({ serviceId: i % 3 === 0 ? "cart" : "checkout", metricName: `m${i}`, z: 2 + i }));
    }
    return rig;
  };
  const names = (body: { anomalies: Array<{ metric_name: string }> }) => body.anomalies.map((each) => each.metric_name);

  const filters = (query: Record<string, string>, expected: readonly string[], total = expected.length) =>
    it(`with ${JSON.stringify(query)} has ${expected.length} of ${total}`, async () => {
      const body = await list(await filled(), query);
      expect(names(body)).toEqual(expected);
      expect(body.total).toBe(total);
    });
  filters({}, ["m8", "m7", "m6", "m5", "m4", "m3", "m2", "m1", "m0"]);
  filters({ service_id: "cart" }, ["m6", "m3", "m0"]);
  filters({ since: "2026-01-31T12:00:06Z" }, ["m8", "m7", "m6"]);
  filters({ until: "2026-01-31T12:00:02Z" }, ["m1", "m0"]);
  filters({ since: "2026-01-31T12:00:02Z", until: "2026-01-31T12:00:05Z" }, ["m4", "m3", "m2"]);
  filters({ min_score: String(anomalyScore(8)) }, ["m8", "m7", "m6"]);
  filters({ min_score: "1" }, []);
  filters({ limit: "2" }, ["m8", "m7"], 9);
  filters({ service_id: "cart", since: "2026-01-31T12:00:01Z", min_score: "0.8", limit: "1" }, ["m6"], 2);
  filters({ service_id: "nobody" }, []);

  it("has pages that neither repeat nor skip while rows arrive", async () => {
    const rig = await filled(40);
    const seen: string[] = [];
    let token = "";
    let rounds = 0;
    do {
      const body = await list(rig, { limit: "7", page_token: token });
      seen.push(...names(body));
      token = body.page_token;
      rig.nowMs += 1;
      await rig.take(...[1, 2, 3].map((i) => episode({ metricName: `new${rounds}.${i}` })));
    } while (token !== "" && ++rounds < 20);
    expect(seen).toEqual(Array.from({ length: 40 }, (_, i) => `m${39 - i}`));
  });

  it("has pages over anomalies of one millisecond, and over a clock that steps back", async () => {
    const rig = await Rig.open();
    await rig.take(...Array.from({ length: 30 }, (_, i) => episode({ metricName: `m${i}` })));
    rig.nowMs -= 5_000;
    await rig.take(...Array.from({ length: 5 }, (_, i) => episode({ metricName: `back${i}` })));
    const seen: string[] = [];
    let token = "";
    do {
      const body = await list(rig, { limit: "4", page_token: token });
      seen.push(...names(body));
      token = body.page_token;
    } while (token !== "");
    expect(seen).toHaveLength(35);
    expect(new Set(seen).size).toBe(35);
    expect(seen.slice(30).every((name) => name.startsWith("back"))).toBe(true);
  });

  it("refuses the token of other filters, of another tenant, and a broken one; takes another limit", async () => {
    const rig = await filled();
    const { page_token } = await list(rig, { limit: "2", service_id: "checkout" });
    const refusals = [
      await rig.ask("anomalies", { page_token, limit: "2" }),
      await rig.ask("anomalies", { page_token, service_id: "cart" }),
      await rig.ask("anomalies", { page_token, service_id: "checkout" }, {}, "other"),
      await rig.ask("anomalies", { page_token: `${page_token.slice(0, -2)}AA`, service_id: "checkout" }),
    ];
    for (const { status, body } of refusals) expect([status, body.error, body.field]).toEqual([400, "invalid_page_token", "page_token"]);
    expect(names(await list(rig, { page_token, service_id: "checkout", limit: "50" }))).toEqual(["m5", "m4", "m2", "m1"]);
  });

  it("takes a token after a restart", async () => {
    const rig = await filled();
    const { page_token } = await list(rig, { limit: "5" });
    expect(names(await list(await rig.restarted(), { page_token }))).toEqual(["m3", "m2", "m1", "m0"]);
  });

  it("refuses a range that runs backwards", async () => {
    const { status, body } = await (await filled(1)).ask("anomalies", { since: "2026-01-31T12:00:01Z", until: "2026-01-31T12:00:00Z" });
    expect([status, body.field]).toEqual([400, "since"]);
  });
});
