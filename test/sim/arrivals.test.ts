// Stale services and the silence of a whole tenant, through the whole server on a virtual clock.
import { describe, expect, it } from "vitest";
import { DRILL_SERVICE } from "../../src/core/protocol/own-telemetry.ts";
import { MINUTE_MS, type SentRecord, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const SERVICES = ["a", "b", "c", "d", "e"];
const record = (service: string, environment = ""): SentRecord => ({
  service,
  metric: "queue_length",
  value: 5,
  ...(environment !== "" && { attributes: { env: environment } }),
});

async function run(watched: WatchedServer, minutes: number, records: readonly SentRecord[]): Promise<void> {
  for (let minute = 0; minute < minutes; minute++) {
    if (records.length > 0) await watched.send(records);
    await watched.minute();
  }
}

const stale = async (watched: WatchedServer, resolved = false) =>
  (await watched.anomalies())
    .filter((anomaly) => anomaly.metric_name === "service.stale" && anomaly.resolved === resolved)
    .map(({ service_id, environment }) => `${service_id} ${environment}`)
    .sort();

describe("arrivals on the whole server", () => {
  it("tells a service that is silent for more than five of its intervals, and ends it with the next sample", async () => {
    const watched = await WatchedServer.open(START);
    const all = SERVICES.map((service) => record(service));
    await run(watched, 60, all);
    expect(await stale(watched)).toEqual([]);
    // The newest sample came a minute before this minute's cycle: at five minutes of silence it is just not stale.
    await run(watched, 4, all.slice(1));
    expect(await stale(watched)).toEqual([]);
    await run(watched, 1, all.slice(1));
    expect(await stale(watched)).toEqual(["a "]);
    const [anomaly] = (await watched.anomalies()).filter(({ metric_name }) => metric_name === "service.stale");
    expect(anomaly).toMatchObject({ detector: "stale", direction: "low", severity: "medium" });
    expect(anomaly.explanation).toBe("no sample of a for 6 min; it usually sends every 60 s");
    await run(watched, 1, all);
    expect(await stale(watched)).toEqual([]);
    expect(await stale(watched, true)).toEqual(["a "]);
  });

  it("tells one environment of a service while the other sends, and nothing of the service of fire drills", async () => {
    const watched = await WatchedServer.open(START);
    const both = [...SERVICES.map((service) => record(service, "staging")), ...SERVICES.map((service) => record(service, "production"))];
    await run(watched, 60, [...both, record(DRILL_SERVICE, "drill-1")]);
    await run(watched, 6, both.slice(1));
    expect(await stale(watched)).toEqual(["a staging"]);
  });

  it("makes one alert on ingestion when more than half fall silent at once, and none of their own", async () => {
    const watched = await WatchedServer.open(START);
    const all = SERVICES.map((service) => record(service));
    await run(watched, 60, all);
    await run(watched, 6, all.slice(3));
    expect(await stale(watched)).toEqual(["ingestion "]);
    const [anomaly] = (await watched.anomalies()).filter(({ service_id }) => service_id === "ingestion");
    expect(anomaly.attributes).toEqual({
      services: ["a", "b", "c"],
      silent: 3,
      silent_most: 3,
      silent_since: "2026-01-05T06:59:00.000Z",
      watched: 5,
    });
    expect(anomaly.observed_at).toBe("2026-01-05T06:59:00.000Z");
    await run(watched, 1, all);
    expect(await stale(watched)).toEqual([]);
  });

  it("makes alerts of their own where two of five fall silent", async () => {
    const watched = await WatchedServer.open(START);
    const all = SERVICES.map((service) => record(service));
    await run(watched, 60, all);
    await run(watched, 6, all.slice(2));
    expect(await stale(watched)).toEqual(["a ", "b "]);
  });

  it("counts silence from the start of the process, and goes on with what was open before a kill", async () => {
    const watched = await WatchedServer.open(START);
    const all = SERVICES.map((service) => record(service));
    await run(watched, 60, all);
    await run(watched, 6, all.slice(1));
    expect(await stale(watched)).toEqual(["a "]);
    watched.machine.clock.advance(60 * MINUTE_MS);
    await watched.kill();
    await run(watched, 3, all.slice(1));
    // Nobody could receive: the silence of before is not known to go on until five minutes have passed again.
    expect((await stale(watched)).filter((name) => name !== "a ")).toEqual([]);
    await run(watched, 4, all.slice(1));
    expect(await stale(watched)).toEqual(["a "]);
    await run(watched, 1, all);
    expect(await stale(watched)).toEqual([]);
  });
});
