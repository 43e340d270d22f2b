// What people read of anomalies and their alerts later on: whether somebody was told by then, and a resource that fills beside a departure of the same series.
// Through the whole server on a virtual clock, alike for any number of engines.
import { describe, expect, it } from "vitest";
import { generator } from "../support/generator.ts";
import { WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const OUTLIER = 90;
const INCIDENT = 120;

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
type Json = any;
const alertsOf = async (watched: WatchedServer): Promise<Json[]> => ((await watched.server.query("alerts", {})) as Json).alerts;

describe.each([1, 2])("with %i engines", (engines) => {
  it("an anomaly that waited for its confirmation is paged once its alert is, and the lone outlier says why nobody was told", async () => {
    const watched = await WatchedServer.open(START, engines);
    const { normal } = generator(5);
    const minute = async (more: number) => {
      const value = 50 + (more === 0 ? 1 : 0.25) * Math.max(-2, Math.min(2, normal())) + more;
      await watched.send([{ service: "api", metric: "queue_length", value }]);
      await watched.minute();
    };
    const said = async () => (await watched.anomalies()).map((each: Json) => [each.resolved, each.outcome, each.suppressed_by]);
    for (let at = 0; at < OUTLIER; at++) await minute(0);
    await minute(7.5);
    for (let at = OUTLIER + 1; at < INCIDENT; at++) await minute(0);
    expect(await said()).toContainEqual([true, "suppressed", "confirmation"]);
    expect(await alertsOf(watched)).toMatchObject([{ state: "resolved", pages: 0, held_back_by: "confirmation", held_back_until: null }]);

    await minute(8);
    expect((await said())[0]).toEqual([false, "suppressed", "confirmation"]);
    expect(await alertsOf(watched)).toContainEqual(
      expect.objectContaining({
        state: "firing",
        held_back_until: expect.stringMatching(/^until a metric of the service departs as it does not/),
      }),
    );
    for (let more = 0; more < 4; more++) await minute(8);
    expect(await alertsOf(watched)).toContainEqual(expect.objectContaining({ state: "firing", pages: 1, held_back_by: null }));
    expect((await said())[0]).toEqual([false, "paged", null]);
    await watched.kill();
    expect((await said())[0]).toEqual([false, "paged", null]);
  });

  it("a series that breaches its headroom has an anomaly and a text for that, in the alert of its departure", async () => {
    const watched = await WatchedServer.open(START, engines);
    const { normal } = generator(9);
    for (let at = 0; at < 200; at++) {
      await watched.send([{ service: "db", metric: "pool.used_percent", value: (at < 180 ? 60 : 94) + 0.3 * normal() }]);
      await watched.minute();
    }
    const anomalies = (await watched.anomalies()).filter(({ resolved }) => !resolved);
    const departure = anomalies.find(({ detector }) => detector === "z_score");
    const breach = anomalies.find(({ detector }) => detector === "saturation");
    expect(departure).toMatchObject({ metric_name: "pool.used_percent", direction: "high" });
    expect(breach).toMatchObject({
      metric_name: "pool.used_percent",
      direction: "high",
      outcome: "absorbed",
      alert_id: departure.alert_id,
    });
    expect(breach.explanation).toMatch(
      /^pool\.used_percent is 9[34]\.?\d*% of 100%; over 92% of its capacity, usually (?:60|59\.\d|60\.\d)%/,
    );
    const alerts = await alertsOf(watched);
    expect(alerts.filter(({ state }) => state === "firing")).toMatchObject([{ alert_id: departure.alert_id, family: "metric", pages: 1 }]);
    const { decisions } = (await watched.server.query("alertLedger", { service_id: "db" })) as Json;
    expect(decisions.map(({ detector }: Json) => detector)).toContain("saturation");
  });
});
