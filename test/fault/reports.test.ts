// kill -9 at random moments of root-cause analysis: a report that was shown is there after the restart, no older than it was; every anomaly whose alert was
// acknowledged finds its report; an incident goes on as the same one; a resolution that was acknowledged is known.
// REPORT_KILLS=n and CRASH_SEED=n set how many kills and which; a kill takes two to five seconds. One in `make test`.
import { afterAll, describe, expect, it } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { readPages } from "./holdings.ts";

const KILLS = Number(process.env.REPORT_KILLS ?? 1);
const SEED = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1_000_000));
/** In each, alerts of a service are an incident: nothing joins services that do not call each other. */
const ENVIRONMENTS = ["prod", "staging", "test"];
const ALERTS_PER_REQUEST = 20;
/** Each that is not there is waited for. */
const SHOWN_MAX = 2;
const LIFE_MS_MIN = 50;
const LIFE_MS_SPREAD = 1_200;

interface Report {
  readonly report_id: string;
  readonly incident_id: string;
  readonly service_id: string;
  readonly environment: string;
  readonly revision: number;
  readonly anomaly_count: number;
  readonly evidence_until: string;
  readonly final: boolean;
}

const bench = new ServerBench();
afterAll(() => bench.close());
let random = SEED;
/** 0 to `most`: a linear congruential generator. */
function draw(most: number): number {
  random = (Math.imul(random, 1_664_525) + 1_013_904_223) >>> 0;
  return (random / 2 ** 32) * most;
}

/** What the servers have answered so far. */
class Answers {
  readonly shown = new Map<string, Report>();
  /** Anomalies of acknowledged alerts that have not been seen in a report after a restart yet. */
  readonly anomalies = new Set<string>();
  /** By incident. */
  readonly resolutions = new Map<string, string>();
  repeated = 0;
  #alerts = 0;

  /** Sends and asks until the server is gone. */
  async useUntilItEnds(server: ServerProcess): Promise<void> {
    let isGone = false;
    const repeat = async (work: () => Promise<void>) => {
      while (!isGone) {
        await work().catch(() => {
          isGone = true;
        });
      }
    };
    await Promise.all([repeat(() => this.#alert(server)), repeat(() => this.#read(server)), repeat(() => this.#resolve(server))]);
  }

  async #alert(server: ServerProcess): Promise<void> {
    const environment = ENVIRONMENTS[this.#alerts % ENVIRONMENTS.length];
    const startsAt = new Date().toISOString();
    const alerts = Array.from({ length: ALERTS_PER_REQUEST }, () => ({
      status: "firing",
      labels: { alertname: `Alert ${this.#alerts++}`, service: `service-${this.#alerts % 7}`, severity: "critical", environment },
      startsAt,
    }));
    const { anomalies } = await post(server, "/api/v1/alerts/webhook", { alerts });
    for (const { anomaly_id } of anomalies as Array<{ anomaly_id: string }>) this.anomalies.add(anomaly_id);
    await new Promise((resolve) => setTimeout(resolve, 40));
  }

  async #read(server: ServerProcess): Promise<void> {
    for (const report of await readPages<Report>(server, "/api/v1/rca/reports", "reports")) this.shown.set(report.report_id, report);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }

  async #resolve(server: ServerProcess): Promise<void> {
    const known = [...this.shown.values()].filter(({ incident_id: id }) => !this.resolutions.has(id));
    for (const report of known) this.resolutions.set(report.incident_id, (await post(server, ...resolutionOf(report))).knowledge_base_id);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }

  /** What a server that was started again does not know of it. */
  async differences(server: ServerProcess): Promise<string[]> {
    const wrong: string[] = [];
    const reports = await readPages<Report>(server, "/api/v1/rca/reports", "reports");
    for (const was of this.shown.values()) {
      const is = reports.find(({ report_id: id }) => id === was.report_id);
      const isOlder = is !== undefined && (is.revision < was.revision || is.anomaly_count < was.anomaly_count);
      if (is === undefined || isOlder || is.evidence_until < was.evidence_until)
        wrong.push(`${JSON.stringify(was)} was shown, is ${JSON.stringify(is)}`);
    }
    for (const report of this.shown.values()) {
      const known = this.resolutions.get(report.incident_id);
      if (known === undefined) continue;
      const again = await post(server, ...resolutionOf(report));
      if (again.knowledge_base_id !== known || again.stored !== false) wrong.push(`a resolution of ${report.incident_id} is lost`);
      this.repeated++;
    }
    for (const id of this.anomalies)
      if (wrong.length < SHOWN_MAX && !(await finds(server, id))) wrong.push(`anomaly ${id} finds no report`);
    this.anomalies.clear();
    const after = await readPages<Report>(server, "/api/v1/rca/reports", "reports");
    // A resolution ends its incident: what comes behind it is another.
    const open = after.filter(({ incident_id }) => !this.resolutions.has(incident_id));
    const places = open.map(({ environment, service_id }) => `${service_id} in ${environment}`);
    for (const place of new Set(places))
      if (places.filter((each) => each === place).length > 1) wrong.push(`${place} has several incidents`);
    return wrong;
  }
}

function resolutionOf({ incident_id, service_id }: Report): [string, unknown] {
  const body = { incident_id, service_id, resolution: "restarted", resolved_by: "ann", time_to_recovery_minutes: 5, tags: [] };
  return ["/api/v1/resolutions/webhook", body];
}

// biome-ignore lint/suspicious/noExplicitAny: answers of all shapes
async function post(server: ServerProcess, path: string, body: unknown): Promise<any> {
  const sent = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(server.origin + path, sent);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path} says ${response.status}: ${text}`);
  return JSON.parse(text);
}

/** Whether an anomaly's report is there in time. */
async function finds(server: ServerProcess, anomalyId: string): Promise<boolean> {
  const query = { anomaly_id: anomalyId, limit: "1" };
  const look = async () => (await server.get<{ total: number }>("/api/v1/rca/reports", query)).total === 1;
  return until("a report", look, Boolean, { patienceMs: PATIENCE_MS, everyMs: 50 }).catch(() => false);
}

describe("kill -9 at a random moment of root-cause analysis", () => {
  it(`loses no report over ${KILLS} kills; replay: CRASH_SEED=${SEED} make crash`, {
    timeout: 3 * PATIENCE_MS + 20_000 * KILLS,
  }, async () => {
    const settings = { DATA_DIR: bench.dataFolder(), WATCHDOG_WARMUP_MINUTES: "0" };
    const answers = new Answers();
    let acknowledged = 0;
    let revisions = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const server = await bench.start({ ...settings, ENGINES: String(1 + Math.floor(draw(3))) });
      expect(await answers.differences(server)).toEqual([]);
      const used = answers.useUntilItEnds(server);
      await until("the first resolution", () => answers.resolutions.size > 0, Boolean, { patienceMs: PATIENCE_MS, everyMs: 5 });
      await new Promise((resolve) => setTimeout(resolve, LIFE_MS_MIN + draw(LIFE_MS_SPREAD)));
      expect(await server.kill()).toBe("SIGKILL");
      await used;
      acknowledged += answers.anomalies.size;
      revisions = Math.max(0, ...[...answers.shown.values()].map(({ revision }) => revision));
    }
    const last = await bench.start(settings);
    expect(await answers.differences(last)).toEqual([]);
    expect([acknowledged > 0, answers.shown.size > 0, answers.repeated > 0]).toEqual([true, true, true]);
    console.log(JSON.stringify({ seed: SEED, kills: KILLS, acknowledged, revisions, reports: answers.shown.size }));
    await last.kill();
  });
});
