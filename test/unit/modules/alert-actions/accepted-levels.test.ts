// A level that somebody accepts: told to the engines first, then the alert ends in these words; what has no level answers what to do instead.

import { setImmediate as nextTurn } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { ENDPOINTS } from "../../../../src/api/endpoints.ts";
import type { Principal } from "../../../../src/core/protocol/query.ts";
import { DETECTOR_FAMILIES } from "../../../../src/domain/alerting/ensemble.ts";
import type { Alert } from "../../../../src/domain/alerting/paging/alert.ts";
import { levelAdvice } from "../../../../src/modules/alert-actions/level-acceptance.ts";
import { episode as episodeOfRig, Rig } from "../../../support/coordinator-rig.ts";

const START = Date.UTC(2026, 0, 31, 12);
const MINUTE = 60_000;
const OPERATOR: Principal = { tenant: "default", subject: "ada", role: "operator" };
const verdict = { observed: 312, expected: 180, threshold: 0.3, baseline: { n: 120 }, gates: [{ name: "own_tail", passed: true }] };
const episode: typeof episodeOfRig = (change) => episodeOfRig({ verdict, ...change });

const alerts = async (rig: Rig) => (await rig.ask("alerts")).body.alerts;
const own = (rig: Rig) => rig.messages.flatMap((message) => (message.type === "own-telemetry" ? [message] : []));
const bodies = (rig: Rig) => own(rig).map(({ body }) => JSON.parse(Buffer.from(body).toString("utf8")));

/** Asks, and has an engine answer what it is sent. */
async function ask(rig: Rig, endpoint: string, given: object, status = 200) {
  let sent = own(rig).length;
  let isDone = false;
  const answer = rig.askAs(OPERATOR, endpoint, given).finally(() => {
    isDone = true;
  });
  for (; !isDone; await nextTurn()) {
    const message = own(rig)[sent];
    if (message === undefined) continue;
    sent++;
    await rig.coordinator.handle({ type: "own-telemetry-answer", id: message.id, status, body: null });
  }
  return answer;
}

const accept = (rig: Rig, alert_id: string, status = 200) =>
  ask(rig, "acceptAlert", { path: { alert_id }, content: { comment: "the new cache" } }, status);

/** A server that has values of a metric. */
async function quiet() {
  const rig = await Rig.open({ watchdogIntervalMs: MINUTE });
  const summary = { tenant: "default", environment: "prod", serviceId: "checkout", metricName: "latency_ms", attributes: {} };
  const values = [180, 181, 300, 304, 308];
  rig.engines[0]?.streams.push({ summary, times: values.map((_, i) => START + (i - 3) * 1_000), values } as never);
  return { rig };
}

async function firing() {
  const { rig } = await quiet();
  await rig.take(episode({ z: 7 }), episode({ metricName: "errors", z: 5 }));
  const [{ alert_id: id }] = await alerts(rig);
  rig.nowMs += MINUTE;
  return { rig, id };
}

describe("accepting the level of an alert", () => {
  it("tells the engines of each of its pairs, by the clock of their samples, and then ends it as a new level by somebody", async () => {
    const { rig, id } = await firing();
    const { status, body } = await accept(rig, id);
    const pair = { environment: "prod", serviceId: "checkout" };
    expect(bodies(rig)).toEqual([
      {
        pairs: [
          { ...pair, metricName: "errors", atMs: START + MINUTE },
          { ...pair, metricName: "latency_ms", atMs: START + 1_000 },
        ],
      },
    ]);
    expect([status, body]).toEqual([
      200,
      expect.objectContaining({
        state: "resolved",
        open_anomalies: 0,
        resolved_by: "accepted",
        resolved_by_name: "ada",
        accepted_level: { from: 180, to: 304 },
        resolution: "new level: from 180 to 304, accepted by ada",
      }),
    ]);
    const { entries } = (await rig.ask("alertTimeline", {}, { alert_id: id })).body;
    expect(entries.at(-1)).toMatchObject({
      kind: "resolved",
      by: "ada",
      text: "new level: from 180 to 304, accepted by ada: the new cache",
    });
    expect((await rig.ask("audit")).body.entries[0]).toMatchObject({ action: "alert.accept", object: id });
    const found = (await rig.ask("anomalies")).body.anomalies;
    expect(found.map(({ resolved_by, accepted_level }: Record<string, unknown>) => [resolved_by, accepted_level])).toEqual(
      expect.arrayContaining([
        ["accepted", { from: 180, to: 304 }],
        ["accepted", null],
      ]),
    );
    const again = await accept(rig, id);
    expect([again.status, again.body.resolved_by, bodies(rig).length]).toEqual([200, "accepted", 1]);
    expect(await rig.restarted().then(alerts)).toMatchObject([{ resolved_by: "accepted", resolved_by_name: "ada" }]);
  });

  it.each([
    ["saturation", { detector: "saturation", metricName: "latency_ms", z: 5 }, "firing", 1],
    ["multivariate", { detector: "isolation_forest", metricName: "service.multivariate", z: 6 }, "resolved", 0],
  ] as const)("of a metric in an alert of %s is taken, and what is no level goes on", async (family, found, state, open) => {
    const { rig } = await quiet();
    // Behind the warm-up.
    rig.nowMs += 10 * MINUTE;
    const now = { startedAtMs: rig.nowMs, observedAtMs: rig.nowMs };
    await rig.take(episode({ ...found, ...now }));
    await rig.take(episode({ z: 4 }));
    const [{ alert_id: id, family: of, open_anomalies }, ...more] = await alerts(rig);
    expect([of, open_anomalies, more]).toEqual([family, 2, []]);
    expect((await accept(rig, id)).body).toMatchObject({ state, open_anomalies: open });
    const { entries } = (await rig.ask("alertTimeline", {}, { alert_id: id })).body;
    const level = "new level: from 180 to 304, accepted by ada";
    const said = entries
      .filter(({ by }: Record<string, unknown>) => by === "ada")
      .map(({ kind, text }: Record<string, unknown>) => [kind, text]);
    const ended = (metric: string, words: string) => ["member_ended", `${metric} of checkout ${words}; 1 more open in the alert`];
    const stays = "new level: it stays so, and is the usual from now on, accepted by ada";
    expect(said).toEqual([
      ["comment", "the new cache"],
      state === "firing" ? ended("latency_ms", level) : ended("service.multivariate", stays),
      ...(state === "firing" ? [] : [["resolved", `${level}: the new cache`]]),
    ]);
    expect((await accept(rig, id)).status).toBe(200);
    expect(bodies(rig)).toHaveLength(1);
  });

  it("changes nothing where the engines take nothing", async () => {
    const { rig, id } = await firing();
    const { status, body } = await accept(rig, id, 503);
    expect([status, body.error]).toEqual([503, "overloaded"]);
    expect(await alerts(rig)).toMatchObject([{ state: "firing", open_anomalies: 2 }]);
  });

  it("is not asked again while its streams say that it goes on, and is told of what begins behind it", async () => {
    const { rig, id } = await firing();
    await accept(rig, id);
    await rig.take(episode({ transition: "update", z: 9 }));
    expect(await alerts(rig)).toMatchObject([{ state: "resolved" }]);
    await rig.take(episode({ transition: "close" }), episode({ transition: "close", metricName: "errors" }));
    const startedAtMs = START + 2 * MINUTE;
    await rig.take(episode({ startedAtMs, observedAtMs: startedAtMs, z: 6, explanation: "far beyond" }));
    expect(await alerts(rig)).toMatchObject([{ alert_id: id, state: "firing", explanation: "far beyond", pages: 2 }]);
  });

  it.each([
    ["manual", "resolve it"],
    ["slo_burn", "set another objective"],
  ])("is refused for an alert of %s, with what to do instead", async (detector, advice) => {
    const rig = await Rig.open({ watchdogIntervalMs: MINUTE });
    await rig.take(episode({ detector }));
    const [{ alert_id }] = await alerts(rig);
    const { status, body } = await accept(rig, alert_id);
    expect([status, body.error, own(rig)]).toEqual([409, "conflict", []]);
    expect(body.message).toContain(advice);
  });

  it("answers for each of many", async () => {
    const { rig, id } = await firing();
    await rig.take(episode({ detector: "manual", serviceId: "cart" }));
    const other = (await alerts(rig)).find(({ service_id }: { service_id: string }) => service_id === "cart").alert_id;
    const content = { action: "accept", alert_ids: [other, id, "nobody"] };
    expect((await ask(rig, "actOnAlerts", { content })).body.results).toEqual([
      { alert_id: other, status: 409, error: "conflict" },
      { alert_id: id, status: 200, error: null },
      { alert_id: "nobody", status: 404, error: "not_found" },
    ]);
  });
});

it.each(DETECTOR_FAMILIES)("what is advised instead for an alert of %s is there", (family) => {
  const advice = levelAdvice({ state: { key: { family } }, peak: { metricName: "latency_ms" } } as unknown as Alert);
  const known = ENDPOINTS.map(({ method, path }) => `${method} ${path}`);
  for (const [, named] of advice.matchAll(/\(([A-Z]+ \/[^)]+)\)/g)) expect(known).toContain(named);
});
