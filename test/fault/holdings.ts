// Everything that a server tells of what it holds, in a form that two servers can be compared by.
import { DETECTOR_Z_SCORE } from "../../src/domain/detection/verdict.ts";
import { isOfArrival } from "../support/arrival-series.ts";
import { type LoadScript, recordContent, seriesKey } from "../support/load-sender-script.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import type { ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

export interface Holdings {
  /** By `seriesKey`: how many samples the stream has taken, and those stored as "ms=value". */
  readonly series: ReadonlyMap<string, { readonly samples: number; readonly points: readonly string[] }>;
  /** `recordContent` of each, sorted. */
  readonly records: readonly string[];
  /** By reason. */
  readonly deadLetters: Readonly<Record<string, number>>;
  /** One line each, sorted. */
  readonly anomalies: readonly string[];
}

interface SeriesRow {
  readonly service_id: string;
  readonly metric_name: string;
  readonly environment: string;
  readonly attributes: Record<string, string>;
  readonly samples: number;
}

const RECORD_TYPES = ["log", "event", "trace", "profile", "slo"];
const PAUSE_MS = 20;

/** Reads it all through the API. */
export async function readHoldings(server: ServerProcess): Promise<Holdings> {
  const deadLetters = await settledDeadLetters(server);
  const rows = (await readPages<SeriesRow>(server, "/api/v1/series", "series")).filter((row) => !isOfArrival(row.metric_name));
  const series = new Map<string, { samples: number; points: string[] }>();
  for (const row of rows)
    series.set(seriesKey(row.service_id, row.metric_name, row.attributes), {
      samples: row.samples,
      points: await pointsOf(server, row),
    });
  if (series.size !== rows.length) throw new Error("a series is listed twice");
  const records: string[] = [];
  for (const type of RECORD_TYPES)
    records.push(...(await readPages<Record<string, unknown>>(server, "/api/v1/records", "records", { type })).map(recordContent));
  const anomalies = await readPages<Record<string, unknown>>(server, "/api/v1/anomalies", "anomalies");
  return {
    series,
    records: records.sort(),
    deadLetters,
    // What the Watchdog's cycles find hangs on when they ran.
    anomalies: anomalies
      .filter((each) => each.detector === DETECTOR_Z_SCORE && !isOfArrival(each.metric_name))
      .map(anomalyLine)
      .sort(),
  };
}

/** Dead letters by reason, once everything that the engines have sent is stored. */
export async function settledDeadLetters(server: ServerProcess, least = 0): Promise<Record<string, number>> {
  let before = "";
  const look = async () => {
    const stats = await server.get<{ total_failed: number; by_reason: Record<string, number> }>("/api/v1/debug/dlq-stats");
    const now = `${JSON.stringify(stats.by_reason)} ${await framesSent(server)}`;
    const isSettled = stats.total_failed >= least && now === before;
    before = now;
    return { ...stats, isSettled };
  };
  const waiting = { patienceMs: PATIENCE_MS, everyMs: PAUSE_MS };
  return (await until(`${least} dead letters, and no more`, look, ({ isSettled }) => isSettled, waiting)).by_reason;
}

/** Frames that the coordinator has committed; when it stands still, nothing is under way. */
async function framesSent(server: ServerProcess): Promise<string> {
  const text = await (await fetch(`${server.origin}/metrics`)).text();
  return /^vedette_coordinator_frames_total .*$/m.exec(text)?.[0] ?? "";
}

async function pointsOf(server: ServerProcess, { service_id, metric_name, environment, attributes }: SeriesRow): Promise<string[]> {
  const query = { service_id, metric_name, environment, attributes: JSON.stringify(attributes), limit: "10000" };
  const answer = await server.get<{
    points: Array<{ timestamp: string; value: number }>;
    matches: number;
    complete: boolean;
  }>("/api/v1/series/data", query);
  if (answer.matches !== 1 || !answer.complete)
    throw new Error(`series/data is not one whole series: ${JSON.stringify({ ...answer, points: undefined })}`);
  return answer.points.map(({ timestamp, value }) => `${Date.parse(timestamp)}=${value}`);
}

/** All rows of a list, page by page. */
export async function readPages<Row>(
  server: ServerProcess,
  path: string,
  name: string,
  query: Record<string, string> = {},
): Promise<Row[]> {
  const rows: Row[] = [];
  let token = "";
  do {
    const page: Record<string, unknown> = await server.get(path, {
      ...query,
      limit: "1000",
      ...(token === "" ? {} : { page_token: token }),
    });
    rows.push(...(page[name] as Row[]));
    token = page.page_token as string;
  } while (token !== "");
  return rows;
}

function anomalyLine({
  anomaly_id,
  service_id,
  metric_name,
  attributes,
  started_at,
  observed_at,
  direction,
  anomaly_score,
  z_score,
  resolved,
  streams,
}: Record<string, unknown>): string {
  return JSON.stringify({
    service_id,
    metric_name,
    started_at,
    direction,
    anomaly_id,
    anomaly_score,
    z_score,
    resolved,
    streams,
    observed_at,
    attributes,
  });
}

/** What two sorted lists do not share, one line each, cut to a few. */
function difference(what: string, expected: readonly string[], got: readonly string[]): string[] {
  const count = (list: readonly string[]) => {
    const counts = new Map<string, number>();
    for (const one of list) counts.set(one, (counts.get(one) ?? 0) + 1);
    return counts;
  };
  const [wanted, held] = [count(expected), count(got)];
  const lines: string[] = [];
  for (const [one, times] of wanted) if ((held.get(one) ?? 0) < times) lines.push(`${what} missing: ${one.slice(0, 400)}`);
  for (const [one, times] of held) if ((wanted.get(one) ?? 0) < times) lines.push(`${what} too many: ${one.slice(0, 400)}`);
  return lines.length > 8 ? [...lines.slice(0, 8), `${what}: ${lines.length - 8} further differences`] : lines;
}

/** What the senders know that the server must hold. */
export function differencesToScripts(scripts: readonly LoadScript[], found: Holdings): string[] {
  const lines = difference(
    "record",
    scripts.flatMap(({ records }) => records),
    found.records,
  );
  for (const { series } of scripts) {
    for (const [key, { times, values }] of series) {
      const expected = times.map((time, i) => `${time}=${values[i]}`);
      lines.push(...difference(`sample of ${key}`, expected, found.series.get(key)?.points ?? []));
    }
  }
  return lines;
}

/** What of the first is not in the second, or is besides. */
export function differences(expected: Holdings, found: Holdings): string[] {
  const lines = difference("series", [...expected.series.keys()], [...found.series.keys()]);
  for (const [key, { samples, points }] of expected.series) {
    const other = found.series.get(key);
    lines.push(...difference(`sample of ${key}`, points, other?.points ?? []));
    if (other !== undefined && other.samples !== samples) lines.push(`count of ${key}: expected ${samples}, found ${other.samples}`);
  }
  lines.push(...difference("record", expected.records, found.records));
  lines.push(...difference("anomaly", expected.anomalies, found.anomalies));
  lines.push(...difference("dead letters", [JSON.stringify(sorted(expected.deadLetters))], [JSON.stringify(sorted(found.deadLetters))]));
  return lines;
}

function sorted(counts: Readonly<Record<string, number>>): Array<[string, number]> {
  return Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1));
}
