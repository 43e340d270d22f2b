// Each incident has an analysis of its own onset, through the whole server on a virtual clock: what calls, a node or a cause do not join is not one incident.
import { expect, it } from "vitest";
import { generator } from "../support/generator.ts";
import { type SentRecord, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const SERVICES = ["ra", "rb", "rc", "rd", "re", "rf"];
const SPIKES: Readonly<Record<string, number>> = { ra: 60, rb: 64 };
const BREAKS = 66;
const UNTIL = 69;

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
type Json = any;

it("D2: a later anomaly of another service is analysed at its own onset, and its report is its own", async () => {
  const watched = await WatchedServer.open(START, 1);
  const { normal } = generator(11);
  const near = (mean: number, sd: number) => mean + sd * Math.max(-2, Math.min(2, normal()));
  const records = (minute: number): SentRecord[] =>
    SERVICES.flatMap((service) => [
      { service, metric: "latency_ms", value: near(100, 3) + (SPIKES[service] === minute ? 900 : 0) },
      { service, metric: "cpu_percent", value: service === "rc" && minute >= BREAKS ? near(98, 0.5) : near(40, 2) },
    ]);
  for (let minute = 0; minute < UNTIL; minute++) {
    await watched.send(records(minute));
    await watched.minute();
  }
  const anomaly = (await watched.anomalies({ service_id: "rc" })).find(({ metric_name }) => metric_name === "cpu_percent");
  expect(anomaly.rca_triggered).toBe(true);
  const { reports } = (await watched.server.query("rcaReports", { service_id: "rc", limit: "10" })) as Json;
  expect(reports[0]).toMatchObject({ service_id: "rc", metric_name: "cpu_percent", enough: true });
  expect(reports[0].candidates[0]).toMatchObject({ service_id: "rc", metric_name: "cpu_percent" });
  const answer = (await watched.server.query("analyze", {}, "default", { anomaly_id: anomaly.anomaly_id })) as Json;
  expect(answer.root_cause.summary).toMatch(/rc.*cpu_percent/);
  expect(Date.parse(answer.analyzed_at)).toBeGreaterThanOrEqual(START + BREAKS * 60_000);
  const all = (await watched.server.query("rcaReports", { limit: "100" })) as Json;
  const firsts = all.reports.map((report: Json) => report.service_id);
  expect(firsts).toEqual(expect.arrayContaining(["ra", "rb", "rc"]));
});
