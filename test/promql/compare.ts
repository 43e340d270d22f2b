// `make promql-compare`: Debian's Prometheus and this server take one feed of remote-write and are asked the same generated queries; answers must lie within 1e-6 of each
// other. Prometheus 2.42 has ranges that are closed at both ends, so all is asked at moments that are no sample's. Exit code 1 where an answer differs.
// usage: make promql-compare [PROMQL_SEED=n] [PROMQL_QUERIES=n]
import { ServerBench } from "../support/server-process.ts";
import { feedBodies } from "./compared-feed.ts";
import { generatedQueries } from "./generated-queries.ts";
import { PrometheusProcess, sendBody, WRITE_PATHS } from "./prometheus-process.ts";

const RELATIVE_ERROR = 1e-6;
/** Below it a difference is rounding of what should be nothing. */
const ABSOLUTE_ERROR = 1e-9;
const SHOWN_MAX = 20;
const ROUND_MS = 60_000;
/** Samples lie here in a minute's quarter, questions there. */
const SAMPLE_AT_MS = 4_000;
const ASKED_BEHIND_MS = 7_000;
type Point = readonly [number, string];

interface Result {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: Point;
  readonly values?: readonly Point[];
}

interface Answer {
  readonly status: string;
  readonly error?: string;
  readonly data?: { readonly resultType: string; readonly result: readonly Result[] };
}

/** Points by series and time. */
function pointsOf({ data }: Answer): Map<string, number> {
  const points = new Map<string, number>();
  for (const { metric, value, values = [] } of data?.result ?? []) {
    const name = JSON.stringify(Object.entries(metric).sort(([a], [b]) => (a < b ? -1 : 1)));
    for (const [seconds, text] of value === undefined ? values : [value])
      points.set(`${name} @${seconds}`, Number(text.replace("Inf", "Infinity")));
  }
  return points;
}

function isNear(a: number, b: number): boolean {
  if (Object.is(a, b) || a === b) return true;
  const difference = Math.abs(a - b);
  return difference <= ABSOLUTE_ERROR || difference <= RELATIVE_ERROR * Math.max(Math.abs(a), Math.abs(b));
}

/** The first difference of two answers; undefined where there is none. */
function difference(theirs: Answer, ours: Answer): string | undefined {
  if (theirs.status !== ours.status) return `${theirs.status} ${theirs.error ?? ""}, here ${ours.status} ${ours.error ?? ""}`;
  const [expected, got] = [pointsOf(theirs), pointsOf(ours)];
  for (const [point, value] of expected) {
    const own = got.get(point);
    if (own === undefined) return `${point} ${value} is missing here`;
    if (!isNear(value, own)) return `${point}: ${value}, here ${own}`;
  }
  const more = [...got.keys()].find((point) => !expected.has(point));
  return more === undefined ? undefined : `${more} is here alone`;
}

async function asked(base: string, path: string, parameters: Readonly<Record<string, string>>): Promise<Answer> {
  return (await (await fetch(`${base}/api/v1/${path}?${new URLSearchParams(parameters)}`)).json()) as Answer;
}

async function compare(theirs: string, ours: string, endMs: number): Promise<number> {
  const count = Number(process.env.PROMQL_QUERIES ?? 500);
  const queries = generatedQueries(Number(process.env.PROMQL_SEED ?? 1), count);
  const at = (endMs - ASKED_BEHIND_MS) / 1_000;
  let [different, points] = [0, 0];
  for (const [index, query] of queries.entries()) {
    const isRange = index % 2 === 1;
    const parameters = isRange ? { query, start: String(at - 3_600), end: String(at), step: "60" } : { query, time: String(at) };
    const path = isRange ? "query_range" : "query";
    const answers = await Promise.all([asked(theirs, path, parameters), asked(`${ours}/prometheus`, path, parameters)]);
    points += pointsOf(answers[0]).size;
    const problem = difference(...answers);
    if (problem !== undefined && ++different <= SHOWN_MAX) console.log(`${path} ${query}\n    ${problem}`);
  }
  console.log(`${count - different} of ${count} queries agree, ${points} values`);
  return different;
}

async function run(): Promise<number> {
  const bench = new ServerBench();
  const prometheus = await PrometheusProcess.start();
  try {
    const { origin } = await bench.start();
    const endMs = Math.floor(Date.now() / ROUND_MS) * ROUND_MS - ROUND_MS + SAMPLE_AT_MS;
    for (const body of feedBodies(endMs)) {
      await sendBody(prometheus.origin + WRITE_PATHS.theirs, body);
      await sendBody(origin + WRITE_PATHS.ours, body);
    }
    return (await compare(prometheus.origin, origin, endMs)) === 0 ? 0 : 1;
  } finally {
    prometheus.end();
    await bench.close();
  }
}

process.exitCode = await run();
