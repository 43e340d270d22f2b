// Incidents of every category through the whole server on a virtual clock: what the reports say, whatever the number of engines, and after a kill.
import { describe, expect, it } from "vitest";
import { CAUSES, type Cause, EXPECTED, STEP_MS, shopStep } from "../../src/cli/incident/scenario.ts";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 10);
const BROKEN_FROM = 40;
/** Two minutes of it: the first two revisions. */
const UNTIL = BROKEN_FROM + 12;
/** Five minutes of it: the third. */
const AFTER_THIRD = BROKEN_FROM + 34;
const QUIET_TICKS = 360;
const TURNS = 10;
const encoder = new TextEncoder();

// biome-ignore lint/suspicious/noExplicitAny: answers are read field by field
type Json = any;

async function submit(watched: WatchedServer, kind: number, body: unknown): Promise<void> {
  let status = 0;
  watched.server.submit(0, kind, encoder.encode(JSON.stringify(body)), "", (answer) => {
    status = answer.status;
  });
  await watched.server.rest();
  expect(status).toBe(200);
}

type Change = (traces: Json, tick: number) => void;

async function runTicks(
  watched: WatchedServer,
  environment: string,
  cause: Cause,
  from: number,
  to: number,
  change?: Change,
): Promise<void> {
  for (let tick = from; tick < to; tick++) {
    const { records, traces } = shopStep(environment, cause, tick, watched.nowMs, BROKEN_FROM, formatRfc3339);
    change?.(traces, tick);
    await submit(watched, BODY_JSON_BATCH, records);
    await submit(watched, otlpBodyKind("traces", "json"), traces);
    watched.machine.clock.advance(STEP_MS);
    for (let turn = 0; turn < TURNS; turn++) {
      await watched.server.rest();
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

const NANOSECONDS = 1_000_000n;
const CLIENT = 3;

/** From the fault on, each call of catalog's takes 300 ms more on its way, and so do those that wait for it. */
function slowNetwork(traces: Json, tick: number): void {
  if (tick < BROKEN_FROM) return;
  for (const { resource, scopeSpans } of traces.resourceSpans) {
    const service = resource.attributes[0].value.stringValue;
    for (const span of scopeSpans[0].spans) {
      const isWaiting =
        service === "catalog" ||
        (service === "storefront" && span.kind === CLIENT && span.name.includes("catalog")) ||
        (service === "storefront" && span.kind !== CLIENT);
      if (isWaiting) span.endTimeUnixNano = String(BigInt(span.endTimeUnixNano) + 300n * NANOSECONDS);
    }
  }
}

const reportsOf = async (watched: WatchedServer): Promise<Json[]> =>
  ((await watched.server.query("rcaReports", { limit: "100" })) as Json).reports;

async function broken(cause: Cause, engines = 2): Promise<WatchedServer> {
  const watched = await WatchedServer.open(START, engines);
  await runTicks(watched, "shop", cause, 0, UNTIL);
  return watched;
}

describe("analysis of incidents", () => {
  it.each(["deployment", "third-party", "surge", "code"] as const)("names service and category of %s", async (cause) => {
    const watched = await broken(cause);
    const reports = await reportsOf(watched);
    expect(reports).toHaveLength(1);
    const [report] = reports;
    if (process.env.SHOW) console.log(JSON.stringify(report, null, 1));
    const { service, category } = EXPECTED[cause];
    expect(report).toMatchObject({ category, enough: true, revision: 2 });
    expect(report.candidates[0].service_id).toBe(service);
    expect(report.confidence).toBeGreaterThan(0.65);
    const anomalies = await watched.anomalies();
    // A pair in its cooldown triggers nothing: one that is low and high at once is one.
    expect(report.anomaly_count).toBe(anomalies.filter(({ rca_triggered }) => rca_triggered).length);
    expect(JSON.stringify(report)).not.toMatch(/order \d|item \d/);
  });

  it("says the same of a full disk for any number of engines, and has it after a kill", async () => {
    const [one, three] = [await broken("disk", 1), await broken("disk", 3)];
    const [report] = await reportsOf(one);
    expect(await reportsOf(three)).toEqual([report]);
    const { service, category } = EXPECTED.disk;
    expect(report).toMatchObject({ category, enough: true, first_symptom: { service_id: expect.any(String) } });
    expect(report.candidates[0]).toMatchObject({ service_id: service, metric_name: "disk_used_percent", instance: "orders-1" });
    expect(report.impact.map(({ service_id }: Json) => service_id)).toContain("checkout");
    const radius = (await three.server.query("blastRadius", { service_id: "orders", environment: "shop" })) as Json;
    expect(radius).toMatchObject({ directly_affected: ["checkout"], transitively_affected: ["storefront"] });
    await three.kill();
    expect(await reportsOf(three)).toEqual([report]);
    await runTicks(three, "shop", "disk", UNTIL, AFTER_THIRD);
    const [third, ...others] = await reportsOf(three);
    expect(others).toEqual([]);
    expect(third).toMatchObject({ report_id: report.report_id, revision: 3, final: false, enough: true });
    expect(third.candidates[0]).toMatchObject({ service_id: service, metric_name: "disk_used_percent" });
  });

  it("remembers a deployment over a kill", async () => {
    const watched = await WatchedServer.open(START);
    await runTicks(watched, "shop", "deployment", 0, BROKEN_FROM);
    await watched.kill();
    await runTicks(watched, "shop", "deployment", BROKEN_FROM, UNTIL);
    const [report] = await reportsOf(watched);
    expect(report.looked_at.changes).toBe(1);
    expect(JSON.stringify(report.candidates)).toContain("deployment");
  });

  it("names what lies behind a slow network, which only callers' spans show", async () => {
    const [one, three] = [await WatchedServer.open(START, 1), await WatchedServer.open(START, 3)];
    for (const watched of [one, three]) await runTicks(watched, "shop", "none", 0, UNTIL, slowNetwork);
    const [report] = await reportsOf(one);
    const [same, ...others] = await reportsOf(three);
    expect(others).toEqual([]);
    // Which of the anomalies of one moment is the first, and names the incident, hangs on the engines.
    const said = ({ anomalies, candidates, summary, confidence, impact, first_symptom }: Json) => ({
      anomalies,
      candidates,
      summary,
      confidence,
      impact,
      first_symptom,
    });
    expect(said(same)).toEqual(said(report));
    if (process.env.SHOW) console.log(JSON.stringify(report, null, 1));
    expect(report.candidates[0].service_id).toBe("inventory");
    expect(report.candidates[0].evidence).toContainEqual(
      expect.objectContaining({ source: "call", text: expect.stringContaining("ms between it and catalog") }),
    );
    expect(report.category).toBe("infrastructure");
  });

  it("reports no cause on a quiet hour", async () => {
    const watched = await WatchedServer.open(START);
    await runTicks(watched, "shop", "none", 0, QUIET_TICKS);
    expect((await reportsOf(watched)).filter(({ enough }) => enough).map(({ summary }) => summary)).toEqual([]);
    expect(CAUSES).toContain("none");
  });
});
