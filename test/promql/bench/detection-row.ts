// The row of the bench of queries that says what queries cost detection: spikes are sent at a fixed rate, and how long each takes to the event stream is compared between
// minutes with queries and minutes without, by turns on one server.
import { generator } from "../../support/generator.ts";
import { ServerBench, type ServerProcess } from "../../support/server-process.ts";
import { sendBody, WRITE_PATHS } from "../prometheus-process.ts";
import { counterBodies, gaugeBody, gaugeName, isSpike } from "./bench-feed.ts";
import { type Figure, quantile } from "./bench-figure.ts";

const QUERIED = { name: "bench_requests_total", series: 1_000, samples: 1_440, stepMs: 15_000 };
const GAUGES = 4_000;
/** Each second every gauge has a sample, in so many bodies of which each has a spike: none has two. */
const BODIES_PER_SECOND = 10;
const QUIET_ROUNDS = 130;
const AT_ONCE = 20;
/** Terms of a query each of which reads 1,440,000 samples: 10^9 in all. */
const HEAVY_TERMS = 695;
const SETTLE_MS = 3_000;

/** Milliseconds from sending to the event, by the metric of the spiked series. */
export class Spikes {
  readonly #sentMs = new Map<string, number>();
  readonly latenciesMs = new Map<string, number>();

  sent(name: string): void {
    this.#sentMs.set(name, performance.now());
  }

  heard(name: string): void {
    const sentMs = this.#sentMs.get(name);
    if (sentMs !== undefined && !this.latenciesMs.has(name)) this.latenciesMs.set(name, performance.now() - sentMs);
  }
}

/** Reads the event stream until it is ended. */
export async function listen(origin: string, spikes: Spikes, end: AbortSignal): Promise<void> {
  const answer = await fetch(`${origin}/api/v1/stream`, { signal: end });
  let rest = "";
  const decoder = new TextDecoder();
  try {
    for await (const bytes of answer.body as ReadableStream<Uint8Array>) {
      const blocks = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = blocks.pop() as string;
      for (const block of blocks) {
        const data = /^event: anomaly$/m.test(block) ? /^data: (.*)$/m.exec(block)?.[1] : undefined;
        if (data === undefined) continue;
        const { verdict, metric_name } = JSON.parse(data) as { verdict: { observed: number }; metric_name: string };
        if (isSpike(verdict.observed)) spikes.heard(metric_name);
      }
    }
  } catch (error) {
    if (!end.aborted) throw error;
  }
}

/** Sends gauges at their rate for a while, a spike in each body; returns the spiked series. */
async function sendSpikes(origin: string, seconds: number, firstSpike: number, spikes: Spikes): Promise<string[]> {
  const { uniform } = generator(firstSpike + 1);
  const perBody = GAUGES / BODIES_PER_SECOND;
  const startMs = performance.now();
  const names: string[] = [];
  const answers: Array<Promise<void>> = [];
  for (let body = 0; body < seconds * BODIES_PER_SECOND; body++) {
    const dueMs = startMs + (body * 1_000) / BODIES_PER_SECOND;
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, dueMs - performance.now())));
    const first = (body % BODIES_PER_SECOND) * perBody;
    const spike = first + Math.floor((firstSpike + body) / BODIES_PER_SECOND);
    const indexes = Array.from({ length: perBody }, (_, at) => first + at);
    const bytes = gaugeBody(indexes, Date.now(), uniform, spike);
    names.push(gaugeName(spike));
    spikes.sent(gaugeName(spike));
    answers.push(sendBody(origin + WRITE_PATHS.ours, bytes));
  }
  await Promise.all(answers);
  return names;
}

/** Asks without pause until it is ended; returns how many of each status came. */
async function askUntil(url: string, end: AbortSignal): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  while (!end.aborted) {
    const answer = await fetch(url, { signal: end }).catch(() => undefined);
    if (answer === undefined) break;
    await answer.arrayBuffer().catch(() => undefined);
    statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
  }
  return statuses;
}

/** What some seconds of spikes came to. */
export interface Minutes {
  readonly latenciesMs: readonly number[];
  readonly planted: number;
  readonly statuses: ReadonlyMap<number, number>;
}

/** Runs phases one after another on one server. */
export class DetectionTurns {
  readonly #server: ServerProcess;
  readonly #spikes: Spikes;
  readonly #seconds: number;
  #planted = 0;

  constructor(server: ServerProcess, spikes: Spikes, seconds: number) {
    this.#server = server;
    this.#spikes = spikes;
    this.#seconds = seconds;
  }

  /** Spikes with so many askers of a query beside them. */
  async run(askers: number, url: string): Promise<Minutes> {
    const end = new AbortController();
    const asked = Array.from({ length: askers }, () => askUntil(url, end.signal));
    const names = await sendSpikes(this.#server.origin, this.#seconds, this.#planted, this.#spikes);
    this.#planted += names.length;
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    end.abort();
    const statuses = new Map<number, number>();
    for (const each of await Promise.all(asked))
      for (const [status, count] of each) statuses.set(status, (statuses.get(status) ?? 0) + count);
    const latenciesMs = names.flatMap((name) => this.#spikes.latenciesMs.get(name) ?? []);
    return { latenciesMs, planted: names.length, statuses };
  }
}

async function fill(origin: string): Promise<number> {
  const endMs = Date.now() - 60_000;
  for (const body of counterBodies({ ...QUERIED, endMs })) await sendBody(origin + WRITE_PATHS.ours, body);
  await fillGauges(origin);
  return endMs;
}

/** Sends every gauge one value, no spike. */
export async function sendOrdinary(origin: string, timeMs: number, { uniform } = generator(timeMs)): Promise<void> {
  const indexes = Array.from({ length: GAUGES }, (_, index) => index);
  await sendBody(origin + WRITE_PATHS.ours, gaugeBody(indexes, timeMs, uniform));
}

/** Gives every gauge a past without spikes. */
export async function fillGauges(origin: string): Promise<void> {
  const random = generator(3);
  const fromMs = Date.now() - QUIET_ROUNDS * 1_000;
  for (let round = 0; round < QUIET_ROUNDS; round++) await sendOrdinary(origin, fromMs + round * 1_000, random);
}

function queryUrls(origin: string, endMs: number) {
  const base = `${origin}/prometheus/api/v1`;
  const range = new URLSearchParams({
    query: `rate(${QUERIED.name}[5m])`,
    start: String(endMs / 1_000 - 6 * 3_600),
    end: String(endMs / 1_000),
    step: "60",
  });
  const term = `sum(count_over_time(${QUERIED.name}[6h]))`;
  const heavy = new URLSearchParams({ query: Array(HEAVY_TERMS).fill(term).join(" + "), time: String(endMs / 1_000) });
  return { many: `${base}/query_range?${range}`, heavy: `${base}/query?${heavy}` };
}

function figuresOf(what: string, without: readonly Minutes[], beside: Minutes): Figure[] {
  const own = quantile(
    without.flatMap(({ latenciesMs }) => [...latenciesMs]),
    0.99,
  );
  const p99 = quantile(beside.latenciesMs, 0.99);
  const answers = [...beside.statuses].map(([status, count]) => `${count} of ${status}`).join(", ");
  const note = `without ${own.toFixed(1)} ms, beside ${p99.toFixed(1)} ms; answers: ${answers}`;
  return [
    { what: `${what}, detection p99 above without`, value: p99 - own, unit: "ms", bar: 50, note },
    { what: `${what}, spikes lost`, value: beside.planted - beside.latenciesMs.length, unit: `of ${beside.planted}`, bar: 0, goal: 0 },
  ];
}

/** Detection beside twenty queries at once, and beside one that would load 10^9 samples. */
export async function detectionRow(seconds: number): Promise<Figure[]> {
  const bench = new ServerBench();
  const end = new AbortController();
  try {
    const server = await bench.start();
    const endMs = await fill(server.origin);
    const spikes = new Spikes();
    const listening = listen(server.origin, spikes, end.signal);
    const urls = queryUrls(server.origin, endMs);
    const turns = new DetectionTurns(server, spikes, seconds);
    await turns.run(0, ""); // what a first anomaly runs through is compiled meanwhile
    const before = await turns.run(0, "");
    const many = await turns.run(AT_ONCE, urls.many);
    const between = await turns.run(0, "");
    const heavy = await turns.run(1, urls.heavy);
    end.abort();
    await listening;
    const without = [before, between];
    return [
      ...figuresOf(`${AT_ONCE} queries of rate at once`, without, many),
      ...figuresOf("a query that would load 10^9 samples", without, heavy),
      {
        what: "without queries, spikes lost",
        value: without.reduce((sum, { planted, latenciesMs }) => sum + planted - latenciesMs.length, 0),
        unit: "",
        bar: 0,
        goal: 0,
      },
    ];
  } finally {
    end.abort();
    await bench.close();
  }
}
