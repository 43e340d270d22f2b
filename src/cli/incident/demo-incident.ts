// `vedette demo-incident`: breaks a made-up shop in five ways at once, each in an environment of its own, and beside them runs one in which nothing happens;
// then asks the server for its reports. Sends seven minutes of past in a few seconds, and then goes on as time does. Exits 1 where a report is missing or wrong.
import { setTimeout as pause } from "node:timers/promises";
import { type ServerRequest, serverFetch } from "../../adapters/http/server-fetch.ts";
import { systemClock } from "../../adapters/platform/clock.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { UnreachableError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import type { Environment, ServerConnection } from "../client/server-connection.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { call, demoServer, retireServices } from "../demo.ts";
import { CAUSES, type Cause, EXPECTED, STEP_MS, shopStep } from "./scenario.ts";

/** Ticks of a good past, sent at once. */
const PAST_STEPS = 42;
/** Steps with the cause, one each STEP_MS: reports are revised a minute after the first. */
const BROKEN_STEPS = 9;
/** Milliseconds between two ticks of the past. */
const SEND_EVERY_MS = 40;

interface Report {
  readonly environment: string;
  readonly category: string;
  readonly enough: boolean;
  readonly summary: string;
  readonly revision: number;
  readonly candidates: ReadonlyArray<{ readonly service_id: string }>;
}

const post = (body: unknown): ServerRequest => ({
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify(body),
});

/** One tick of every environment. */
async function sendStep(server: ServerConnection, environmentOf: (cause: Cause) => string, step: number, atMs: number): Promise<void> {
  for (const cause of CAUSES) {
    const { records, traces } = shopStep(environmentOf(cause), cause, step, atMs, PAST_STEPS, formatRfc3339);
    await call(server, "/api/v1/telemetry/batch", post(records));
    await call(server, "/v1/traces", post(traces));
  }
}

/** Verdict on a cause that was found: as it was planted, wrong, or nothing. */
interface Finding {
  readonly story: string;
  readonly outcome: "found" | "wrong" | "missed";
  readonly report: Report | undefined;
}

function findingOf(cause: Exclude<Cause, "none">, reports: readonly Report[]): Finding {
  const { service, category, story } = EXPECTED[cause];
  const report = reports.find(({ enough }) => enough) ?? reports[0];
  const isRight = report?.enough === true && report.candidates[0]?.service_id === service && report.category === category;
  return { story, outcome: isRight ? "found" : report === undefined ? "missed" : "wrong", report };
}

function show({ story, outcome, report }: Finding): void {
  writeLine(`  ${outcome === "found" ? "found " : outcome === "missed" ? "MISSED" : "WRONG "} ${story}`);
  if (report !== undefined) writeLine(`         revision ${report.revision}: ${report.summary}`);
}

async function isReady(base: string): Promise<boolean> {
  return serverFetch(base, "/readyz").then(
    ({ ok }) => ok,
    () => false,
  );
}

/** Runs it; resolves with the exit code. */
export async function runDemoIncident(input: CommandArguments, environment: Environment): Promise<number> {
  const server = demoServer(input, environment);
  const base = server.url;
  if (!(await isReady(base))) {
    throw new UnreachableError(
      `no server is ready at ${base}; start one with "make run" in another terminal, or name it: vedette demo-incident http://host:port`,
    );
  }
  const run = systemClock.wallMs().toString(36).slice(-5);
  const environmentOf = (cause: Cause) => `shop-${run}-${cause}`;
  // Ticks end where the windows of spans do: one that begins or ends within a window would leave it with a part of its calls, as a fall of traffic does.
  const startMs = Math.ceil(systemClock.wallMs() / STEP_MS) * STEP_MS - PAST_STEPS * STEP_MS;
  const say = input.has("json") ? writeError : writeLine;
  say(`sending seven minutes of a shop in ${CAUSES.length} environments to ${base}`);
  for (let step = 0; step < PAST_STEPS; step++) {
    await sendStep(server, environmentOf, step, startMs + step * STEP_MS);
    await pause(SEND_EVERY_MS);
  }
  say(`now five of them break; the reports are read in ${(BROKEN_STEPS * STEP_MS) / 1000} seconds, after their first revision`);
  for (let step = PAST_STEPS; step < PAST_STEPS + BROKEN_STEPS; step++) {
    await pause(Math.max(0, startMs + step * STEP_MS - systemClock.wallMs()));
    await sendStep(server, environmentOf, step, startMs + step * STEP_MS);
    if ((step - PAST_STEPS) % 3 === 2) say(`  ${((step - PAST_STEPS + 1) * STEP_MS) / 1000} s`);
  }
  await pause(2_000);
  const { reports } = await call<{ reports: Report[] }>(server, "/api/v1/rca/reports?limit=200");
  const of = (cause: Cause) => reports.filter((report) => report.environment === environmentOf(cause));
  const findings = CAUSES.flatMap((cause) => (cause === "none" ? [] : [findingOf(cause, of(cause))]));
  const quiet = of("none").filter(({ enough }) => enough);
  await retireServices(server, (service) => service.environment.startsWith(`shop-${run}-`), writeError);
  const code = findings.every(({ outcome }) => outcome === "found") && quiet.length === 0 ? 0 : 1;
  if (input.has("json")) {
    writeLine(JSON.stringify({ findings, reports_of_quiet: quiet.length }, null, 2));
    return code;
  }
  for (const finding of findings) show(finding);
  writeLine(`  ${quiet.length === 0 ? "quiet " : "LOUD  "} nothing happens: ${quiet.length} reports name a cause`);
  writeLine(`look closer: curl "${base}/api/v1/rca/reports?limit=10"`);
  return code;
}
