// `vedette demo`: sends 40 minutes of a small shop's telemetry in a few seconds to a running server, with anomalies planted at known moments,
// then asks the server what it found and how fast. Exits 1 when one was missed or found twice, or another went out to people. With --live it goes on behind that, until Ctrl-C.
import { setTimeout as pause } from "node:timers/promises";
import { type ServerRequest, serverFetch } from "../adapters/http/server-fetch.ts";
import { systemClock } from "../adapters/platform/clock.ts";
import { formatRfc3339 } from "../core/time/rfc3339.ts";
import { UnreachableError } from "../server/exit-code.ts";
import { writeError, writeLine } from "../server/terminal.ts";
import { askedServer, askingHeaders } from "./client/asked-server.ts";
import type { Environment, ServerConnection } from "./client/server-connection.ts";
import type { CommandArguments } from "./command-arguments.ts";
import { type DemoRecord, demoSteps, endOfSeries, PLANTED, type PlantedAnomaly, STEP_SECONDS, STEPS } from "./demo-telemetry.ts";

const BUCKET = /^svc_detection_latency_seconds_bucket\{le="([^"]+)"\} (\S+)$/gm;

/** Milliseconds between two requests of the sender; the whole demo takes about eight seconds. */
const SEND_EVERY_MS = 50;

interface FoundAnomaly {
  readonly service_id: string;
  readonly metric_name: string;
  readonly anomaly_score: number;
  readonly severity: string;
  readonly explanation: string;
  readonly outcome: string | null;
}

/** Answer of the server; throws where it refuses. */
export async function call<T>({ url, headers }: ServerConnection, path: string, init: ServerRequest = {}): Promise<T> {
  const response = await serverFetch(url, path, { ...init, headers: { ...headers, ...init.headers } });
  const text = await response.text();
  if (!response.ok) throw new Error(`${init.method ?? "GET"} ${path} answered ${response.status}: ${text.slice(0, 300)}`);
  return (response.headers.get("content-type")?.includes("json") ? JSON.parse(text) : text) as T;
}

/** The server that is meant, the operand before VEDETTE_URL, and with what it is asked: as every command asks. Throws UsageError. */
export function demoServer({ operands }: CommandArguments, environment: Environment): ServerConnection {
  const server = askedServer({ url: operands[0] }, environment);
  return { url: server.url, headers: askingHeaders(server) };
}

const JSON_TYPE = { "Content-Type": "application/json" };

interface SentService {
  readonly service_id: string;
  readonly environment: string;
}

/** Retires the services that a demo has sent: who stops on purpose is no incident. Where that is not allowed it says what will come of it. */
export async function retireServices(
  server: ServerConnection,
  isOfDemo: (service: SentService) => boolean,
  say: (line: string) => void,
): Promise<void> {
  try {
    const { services } = await call<{ services: SentService[] }>(server, "/api/v1/services?limit=1000");
    for (const { service_id, environment } of services.filter(isOfDemo)) {
      const init = { method: "POST", headers: JSON_TYPE, body: JSON.stringify({ environment, comment: "the demo has ended" }) };
      await call(server, `/api/v1/services/${encodeURIComponent(service_id)}/retire`, init);
    }
  } catch (error) {
    say(`the demo's services could not be retired, and will be missed in three minutes: ${(error as Error).message}`);
  }
}

/** The sender of one run. */
class DemoSender {
  readonly #server: ServerConnection;
  readonly #steps: Generator<DemoRecord[], never>;
  #last: DemoRecord[] = [];
  records = 0;
  refused = 0;

  constructor(server: ServerConnection, name: (service: string) => string) {
    this.#server = server;
    this.#steps = demoSteps(name, systemClock.wallMs() - STEPS * STEP_SECONDS * 1000, formatRfc3339);
  }

  async sendStep(): Promise<void> {
    this.#last = this.#steps.next().value;
    const init = { method: "POST", headers: JSON_TYPE, body: JSON.stringify(this.#last) };
    const answer = await call<{ queued: number; failed: number }>(this.#server, "/api/v1/telemetry/batch", init);
    this.records += answer.queued;
    this.refused += answer.failed;
  }

  async sendRun(showsProgress: boolean): Promise<void> {
    for (let step = 1; step <= STEPS; step++) {
      await this.sendStep();
      if (showsProgress && step % 40 === 0) writeLine(`  sent ${step} of ${STEPS} ticks, ${this.records} records`);
      await pause(SEND_EVERY_MS);
    }
  }

  /** Goes on as a shop would, a tick of time a tick, until a signal. */
  async goOn(): Promise<void> {
    const stop = new AbortController();
    const onSignal = () => stop.abort();
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, onSignal);
    while (!stop.signal.aborted) {
      await this.sendStep();
      await pause(STEP_SECONDS * 1000, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  /** Says that the series end: otherwise the demo's services would be found silent a few minutes later. */
  async end(): Promise<void> {
    const body = JSON.stringify(endOfSeries(this.#last, Date.parse(this.#last[0]?.timestamp ?? "") + 1000));
    await call(this.#server, "/v1/metrics", { method: "POST", headers: JSON_TYPE, body });
  }
}

interface JudgedRun {
  readonly planted: ReadonlyArray<{ readonly of: PlantedAnomaly; readonly hits: readonly FoundAnomaly[] }>;
  readonly others: readonly FoundAnomaly[];
  readonly othersPaged: number;
  /** Each planted one was found once, and no other reached people: noise of a young service may be declared. */
  readonly isGood: boolean;
}

function judge(found: readonly FoundAnomaly[], name: (service: string) => string): JudgedRun {
  const matches = (of: PlantedAnomaly, one: FoundAnomaly) => one.service_id === name(of.service) && one.metric_name === of.metric;
  const planted = PLANTED.map((of) => ({ of, hits: found.filter((one) => matches(of, one)) }));
  const others = found.filter((one) => !PLANTED.some((of) => matches(of, one)));
  const othersPaged = others.filter(({ outcome }) => outcome === "paged" || outcome === "absorbed").length;
  return { planted, others, othersPaged, isGood: othersPaged === 0 && planted.every(({ hits }) => hits.length === 1) };
}

function reportPlanted({ of, hits }: JudgedRun["planted"][number]): void {
  const [hit] = hits;
  const verdict = hits.length === 1 ? "found" : hits.length === 0 ? "MISSED" : `found ${hits.length} TIMES`;
  writeLine(`  ${verdict.padEnd(7)} ${of.story} (${of.service}, ${of.metric})`);
  if (hit !== undefined) writeLine(`          ${hit.severity}, score ${hit.anomaly_score.toFixed(2)}: ${hit.explanation}`);
}

/** Runs the demo; resolves with the exit code. */
export async function runDemo(input: CommandArguments, environment: Environment): Promise<number> {
  const server = demoServer(input, environment);
  const base = server.url;
  const reachable = await call(server, "/readyz").then(
    () => true,
    () => false,
  );
  if (!reachable) {
    throw new UnreachableError(
      `no server is ready at ${base}; start one with "make run" in another terminal, or name another: vedette demo http://host:port`,
    );
  }
  const run = systemClock.wallMs().toString(36).slice(-5);
  const name = (service: string) => `demo-${run}-${service}`;
  if (!input.has("json"))
    writeLine(`sending ${(STEPS * STEP_SECONDS) / 60} minutes of a shop's telemetry to ${base}, with ${PLANTED.length} anomalies planted`);
  const before = latencyHistogram(await call<string>(server, "/metrics"));
  const sender = new DemoSender(server, name);
  await sender.sendRun(!input.has("json"));
  await pause(500);
  const page = await call<{ anomalies: FoundAnomaly[] }>(server, "/api/v1/anomalies?limit=1000");
  const found = page.anomalies.filter((one) => one.service_id.startsWith(`demo-${run}-`));
  const latency = latencyHistogram(await call<string>(server, "/metrics")).map(({ bound, count }, i) => ({
    bound,
    count: count - (before[i]?.count ?? 0),
  }));
  const { records, refused } = sender;
  const end = async () => {
    await sender.end();
    await retireServices(server, ({ service_id }) => service_id.startsWith(`demo-${run}-`), writeError);
  };
  if (!input.has("live")) await end();
  const judged = judge(found, name);
  const { planted, others, othersPaged } = judged;
  if (input.has("json")) {
    const counted = planted.map(({ of, hits }) => ({ ...of, found: hits.length }));
    const sums = { others: others.length, others_paged: othersPaged, detection_p99: quantileOf(latency, 0.99) };
    writeLine(JSON.stringify({ records, refused, planted: counted, anomalies: found, ...sums }, null, 2));
    return judged.isGood ? 0 : 1;
  }
  writeLine(`\n${records} records stored, ${refused} refused. What was found:`);
  for (const each of planted) reportPlanted(each);
  writeLine(`  ${others.length} other ${others.length === 1 ? "anomaly" : "anomalies"}, ${othersPaged} of them told`);
  for (const one of others) writeLine(`          ${one.service_id} ${one.explanation}`);
  const p99 = quantileOf(latency, 0.99);
  writeLine(
    `\nfrom the arrival of the bytes to the stored anomaly: p50 ${quantileOf(latency, 0.5)}, p99 ${p99} (histogram svc_detection_latency_seconds, this run)`,
  );
  writeLine(`look closer: curl "${base}/api/v1/anomalies?service_id=${name("checkout")}"`);
  if (input.has("live")) {
    writeLine(`\ngoing on, a sample every ${STEP_SECONDS} s and an anomaly every three minutes: ${base}/   Ctrl-C ends it`);
    await sender.goOn();
    await end();
  }
  return judged.isGood ? 0 : 1;
}

// Reads the detection latency histogram back from the text of /metrics.

interface HistogramBucket {
  /** Upper bound in seconds. */
  readonly bound: number;
  /** Observations at or below the bound. */
  readonly count: number;
}

/** The buckets, by ascending bound. */
function latencyHistogram(text: string): HistogramBucket[] {
  return [...text.matchAll(BUCKET)].map(([, bound, count]) => ({
    bound: bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound),
    count: Number(count),
  }));
}

/** The bucket that holds a quantile, as text for people: "at most 5 ms". */
function quantileOf(buckets: readonly HistogramBucket[], quantile: number): string {
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0) return "unknown (nothing observed)";
  const bucket = buckets.find(({ count }) => count >= quantile * total) as HistogramBucket;
  return bucket.bound === Number.POSITIVE_INFINITY ? "over 10 s" : `at most ${bucket.bound * 1000} ms`;
}
