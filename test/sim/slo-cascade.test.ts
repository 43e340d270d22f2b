// SLO burn and cascades through the whole server on a virtual clock.
import { describe, expect, it } from "vitest";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { type SentRecord, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const slo = (value: number, objective?: number): SentRecord => ({
  service: "checkout",
  metric: "availability",
  value,
  type: "slo",
  ...(objective !== undefined && { attributes: { objective: String(objective), env: "production" } }),
});

async function run(watched: WatchedServer, minutes: number, records: (minute: number) => readonly SentRecord[]): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    await watched.send(records(minute));
    await watched.minute();
  }
}

const open = async (watched: WatchedServer, metric: string) =>
  (await watched.anomalies()).filter((anomaly) => anomaly.metric_name === metric && !anomaly.resolved);

describe("SLO burn on the whole server", () => {
  it("fires from 14.4 times the budget on and not below, over an hour and five minutes", async () => {
    const watched = await WatchedServer.open(START);
    // An objective of 0.99: 14.4 times its budget are errors of 14.4 %.
    await run(watched, 61, () => [slo(1 - 0.1435, 0.99)]);
    expect((await open(watched, "slo.burn")).map(({ severity }) => severity)).not.toContain("high");
    await run(watched, 61, () => [slo(1 - 0.1445, 0.99)]);
    const [anomaly] = await open(watched, "slo.burn");
    expect(anomaly).toMatchObject({ service_id: "checkout", environment: "production", detector: "slo_burn", severity: "high" });
    expect(anomaly.attributes).toMatchObject({ slo: "availability", objective: 0.99, long_minutes: 60, short_minutes: 5 });
  });

  it("reads its windows again after a kill, each record once, and ends when the burn does", async () => {
    const watched = await WatchedServer.open(START);
    await run(watched, 70, () => [slo(0.9)]);
    const [before] = await open(watched, "slo.burn");
    expect(before).toMatchObject({ severity: "high", attributes: { objective: 0.999 } });
    await watched.kill();
    await run(watched, 2, () => [slo(0.9)]);
    const again = await open(watched, "slo.burn");
    expect(again).toHaveLength(1);
    expect(again[0]).toMatchObject({ anomaly_id: before.anomaly_id, streams: 1 });
    expect(watched.server.counter("sloWindows")).toBe(1);
    // Good minutes push the short windows of five and thirty minutes under their rates; six hours keep the low pair.
    await run(watched, 40, () => [slo(1)]);
    expect((await watched.anomalies()).filter(({ metric_name }) => metric_name === "slo.burn")).toHaveLength(1);
  });
});

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** web calls shop, shop calls db. */
function trace(number: number, endMs: number): Uint8Array {
  const span = (id: number, parent: number, service: string, kind: number, ms: number) => ({
    resource: { attributes: [{ key: "service.name", value: { stringValue: service } }] },
    scopeSpans: [
      {
        spans: [
          {
            traceId: hex(number + 1, 32),
            spanId: hex(id, 16),
            ...(parent === 0 ? {} : { parentSpanId: hex(parent, 16) }),
            name: `op of ${service}`,
            kind,
            startTimeUnixNano: `${endMs - ms}000000`,
            endTimeUnixNano: `${endMs}000000`,
          },
        ],
      },
    ],
  });
  const spans = [
    span(1, 0, "web", 2, 90),
    span(2, 1, "web", 3, 80),
    span(3, 2, "shop", 2, 70),
    span(4, 3, "shop", 3, 60),
    span(5, 4, "db", 2, 50),
  ];
  return new TextEncoder().encode(JSON.stringify({ resourceSpans: spans }));
}

async function watchedWithCalls(): Promise<WatchedServer> {
  const watched = await WatchedServer.open(START);
  for (let number = 0; number < 5; number++) {
    watched.server.submit(0, otlpBodyKind("traces", "json"), trace(number, watched.nowMs), "", () => undefined);
    await watched.server.rest();
  }
  return watched;
}

/** Queues that are quiet, and those that have jumped. */
const queues = (services: readonly string[], jumped: ReadonlySet<string>, minute: number): SentRecord[] =>
  services.map((service) => ({ service, metric: "queue_length", value: 50 + ((minute * 7) % 5) + (jumped.has(service) ? 400 : 0) }));

interface ListedAlert {
  readonly alert_id: string;
  readonly service_id: string;
  readonly state: string;
  readonly services: readonly string[];
  readonly merged_into: string | null;
}

const alertsOf = async (watched: WatchedServer) =>
  ((await watched.server.query("alerts", { limit: "100" })) as { alerts: ListedAlert[] }).alerts;

describe("cascades on the whole server", () => {
  it("tells three services that calls join as one, on the one that the others call, and names no cause (A6)", async () => {
    const watched = await watchedWithCalls();
    const services = ["web", "shop", "db", "other"];
    await run(watched, 30, (minute) => queues(services, new Set(), minute));
    await run(watched, 1, (minute) => queues(services, new Set(["db", "other"]), minute));
    await run(watched, 1, (minute) => queues(services, new Set(["db", "shop", "other"]), minute));
    expect(await open(watched, "service.cascade")).toEqual([]);
    await run(watched, 2, (minute) => queues(services, new Set(["db", "shop", "web", "other"]), minute));
    const [cascade] = await open(watched, "service.cascade");
    expect(cascade).toMatchObject({ service_id: "db", detector: "cascade", severity: "high" });
    expect([...cascade.attributes.members].sort()).toEqual(["db", "shop", "web"]);
    expect(cascade.explanation).toMatch(
      /^3 services that call each other fail together since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC: db, shop, web$/,
    ); // A6: the cause is the report's to name
    // Its members have paged before: it goes on under the identity of the first, and the others close into it.
    const alerts = await alertsOf(watched);
    const [first] = alerts.filter(({ services }) => services.length > 0);
    expect(first).toMatchObject({ service_id: "db", state: "firing", pages: 1, explanation: cascade.explanation, merged_into: null });
    const merged = alerts.filter(({ service_id }) => service_id === "shop" || service_id === "web");
    expect(merged.length).toBeGreaterThan(0);
    for (const each of merged) expect(each).toMatchObject({ state: "resolved", merged_into: first?.alert_id });
    expect(alerts.filter(({ state }) => state === "firing").map(({ service_id }) => service_id)).toEqual(
      expect.arrayContaining(["db", "other"]),
    );
    await watched.kill();
    await run(watched, 1, (minute) => queues(services, new Set(["db", "shop", "web", "other"]), minute));
    const again = await open(watched, "service.cascade");
    expect(again.map(({ anomaly_id, streams }) => `${anomaly_id} ${streams}`)).toEqual([`${cascade.anomaly_id} 1`]);
    await run(watched, 8, (minute) => queues(services, new Set(), minute));
    expect(await open(watched, "service.cascade")).toEqual([]);
  });

  it("tells no cascade of two services, nor of services that no call joins", async () => {
    const watched = await watchedWithCalls();
    const services = ["web", "shop", "x", "y"];
    await run(watched, 30, (minute) => queues(services, new Set(), minute));
    await run(watched, 3, (minute) => queues(services, new Set(services), minute));
    expect(new Set((await watched.anomalies()).map(({ service_id }) => service_id)).size).toBe(4);
    expect(await open(watched, "service.cascade")).toEqual([]);
  });
});
