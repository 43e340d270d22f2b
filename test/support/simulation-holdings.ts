// What a server says that it holds, compared with the oracle: samples, records, dead letters and anomalies, through the queries of clients.
import type { DeadLetterEnvelope } from "../../src/core/protocol/coordinator-frame.ts";
import { canonicalAttributes, environmentOf } from "../../src/domain/series/stream-identity.ts";
import { isOfArrival } from "./arrival-series.ts";
import type { MemoryStoreContents } from "./memory-store.ts";
import { type ExpectedAnomaly, pairOf, type ServerOracle, streamKey } from "./oracle.ts";
import type { SimulatedServer } from "./simulation-server.ts";
import { type PlannedBody, recordText, type StreamPlan } from "./simulation-workload.ts";

/** An anomaly as clients see it, as far as it does not depend on the clock. */
export interface SeenAnomaly {
  readonly id: string;
  readonly pair: string;
  readonly direction: string;
  readonly startedAt: string;
  readonly z: number;
  readonly score: number;
  readonly streams: number;
  readonly resolved: boolean;
}

/** What one server holds. */
export class Holdings {
  readonly #server: SimulatedServer;
  readonly #control: MemoryStoreContents;

  constructor(server: SimulatedServer, control: MemoryStoreContents) {
    this.#server = server;
    this.#control = control;
  }

  /** Throws on the first difference; `lost` are bodies that may have been taken besides, so that their dead letters may be there once more. */
  async compare(streams: readonly StreamPlan[], oracle: ServerOracle, lost: readonly PlannedBody[]): Promise<SeenAnomaly[]> {
    for (const stream of streams) await this.#compareSamples(stream, oracle);
    await this.#compareRecords(oracle);
    await this.#compareDeadLetters(oracle, lost);
    const anomalies = await this.#anomalies();
    compareAnomalies(anomalies, oracle);
    return anomalies;
  }

  async #compareSamples(stream: StreamPlan, oracle: ServerOracle): Promise<void> {
    const expected = [...(oracle.streams.get(streamKey(stream))?.samples ?? [])].sort(([a], [b]) => a - b);
    if (oracle.streams.get(streamKey(stream)) === undefined) return;
    const answer = await this.samplesOf(stream);
    if (answer.matches !== 1 || !answer.complete)
      throw new Error(`${streamKey(stream)}: ${answer.matches} matches, complete ${answer.complete}`);
    compareLists(
      `samples of ${streamKey(stream)}${stream.counterFromMs === 0 ? " (counter)" : ""}`,
      answer.points.map(String),
      expected.map(String),
    );
  }

  /** All samples of a stream. */
  async samplesOf(stream: StreamPlan): Promise<{ points: Array<readonly [number, number]>; matches: number; complete: boolean }> {
    const { serviceId, metricName, attributes } = stream;
    const query = {
      service_id: serviceId,
      metric_name: metricName,
      environment: environmentOf(attributes),
      attributes: canonicalAttributes(attributes),
      limit: "10000",
    };
    const answer = (await this.#server.query("seriesData", query)) as {
      points: Array<{ timestamp: string; value: number }>;
      complete: boolean;
      matches: number;
    };
    const points = answer.points.map(({ timestamp, value }) => [Date.parse(timestamp), value] as const);
    return { points, matches: answer.matches, complete: answer.complete };
  }

  async #compareRecords(oracle: ServerOracle): Promise<void> {
    const seen: string[] = [];
    for (const type of ["log", "event", "trace"]) {
      for (let token = ""; ; ) {
        const query = { type, limit: "1000", ...(token !== "" && { page_token: token }) };
        const page = (await this.#server.query("records", query)) as { records: Array<Record<string, unknown>>; page_token: string };
        seen.push(...page.records.map(recordText));
        token = page.page_token;
        if (token === "") break;
      }
    }
    compareLists("records", seen.sort(), [...oracle.records.values()].sort());
  }

  async #compareDeadLetters(oracle: ServerOracle, lost: readonly PlannedBody[]): Promise<void> {
    const seen = new Map<string, number>();
    let total = 0;
    for (const value of this.#control.get("dead_letters")?.values() ?? []) {
      const payload = JSON.stringify((JSON.parse(Buffer.from(value.subarray(1)).toString()) as DeadLetterEnvelope).payload);
      seen.set(payload, (seen.get(payload) ?? 0) + 1);
      total++;
    }
    const maybe = new Map<string, number>();
    for (const { letters } of lost) for (const letter of letters) maybe.set(letter, (maybe.get(letter) ?? 0) + 1);
    for (const [letter, least] of oracle.letters) {
      const count = seen.get(letter) ?? 0;
      const most = least + (maybe.get(letter) ?? 0);
      if (count < least || count > most) throw new Error(`dead letter ${letter} is stored ${count} times instead of ${least} to ${most}`);
    }
    for (const letter of seen.keys()) if (!oracle.letters.has(letter)) throw new Error(`unexpected dead letter ${letter}`);
    const stats = (await this.#server.query("dlqStats")) as { total_failed: number };
    if (stats.total_failed !== total) throw new Error(`dlq-stats counts ${stats.total_failed} dead letters, ${total} are stored`);
  }

  async #anomalies(): Promise<SeenAnomaly[]> {
    const seen: SeenAnomaly[] = [];
    for (let token = ""; ; ) {
      const query = { limit: "1000", ...(token !== "" && { page_token: token }) };
      const page = (await this.#server.query("anomalies", query)) as { anomalies: Array<Record<string, unknown>>; page_token: string };
      for (const each of page.anomalies) {
        if (isOfArrival(each.metric_name)) continue;
        seen.push({
          id: each.anomaly_id as string,
          pair: pairOf(each.environment as string, each.service_id as string, each.metric_name as string),
          direction: each.direction as string,
          startedAt: each.started_at as string,
          z: each.z_score as number,
          score: each.anomaly_score as number,
          streams: each.streams as number,
          resolved: each.resolved as boolean,
        });
      }
      token = page.page_token;
      if (token === "") break;
    }
    return seen.sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}

/** Differences of z by rounding: statistics may be taken anew at another sample after a start. */
const Z_TOLERANCE = 1e-6;

function anomalyText({ pair, direction, startedAt, z, streams, resolved }: SeenAnomaly | Omit<SeenAnomaly, "id" | "score">): string {
  return `${pair} ${direction} ${startedAt} z ${z.toPrecision(6)} of ${streams} streams ${resolved ? "resolved" : "open"}`;
}

function compareAnomalies(seen: readonly SeenAnomaly[], oracle: ServerOracle): void {
  const known = seen.filter(({ pair }) => !oracle.unknownPairs.has(pair));
  const expected = oracle.anomalies
    .filter(({ pair }) => !oracle.unknownPairs.has(pair))
    .map((each: ExpectedAnomaly) =>
      anomalyText({
        pair: each.pair,
        direction: each.direction,
        startedAt: new Date(each.startedAtMs).toISOString(),
        z: each.z,
        streams: each.streams,
        resolved: each.openStreams === 0,
      }),
    );
  compareLists("anomalies", known.map(anomalyText).sort(), expected.sort());
}

/** Throws when two runs of the same workload have found different anomalies. */
export function compareRuns(what: string, seen: readonly SeenAnomaly[], expected: readonly SeenAnomaly[]): void {
  compareLists(
    what,
    seen.map((each) => `${each.id} ${anomalyText(each)}`),
    expected.map((each) => `${each.id} ${anomalyText(each)}`),
  );
  seen.forEach(({ z, score }, index) => {
    const other = expected[index] as SeenAnomaly;
    if (Math.abs(z - other.z) > Z_TOLERANCE || Math.abs(score - other.score) > Z_TOLERANCE)
      throw new Error(`${what}: z ${z} instead of ${other.z}`);
  });
}

/** Both lists in the same order. */
function compareLists(what: string, seen: readonly string[], expected: readonly string[]): void {
  const at = expected.findIndex((each, index) => each !== seen[index]);
  if (at < 0 && seen.length === expected.length) return;
  const place = at < 0 ? expected.length : at;
  const present = new Set(seen);
  const wanted = new Set(expected);
  const missing = expected.filter((each) => !present.has(each));
  const extra = seen.filter((each) => !wanted.has(each));
  const some = (list: readonly string[]) => `${list.length} (${list.slice(0, 4).join(" | ")})`;
  throw new Error(
    `${what}: ${seen.length} instead of ${expected.length}, different from place ${place}: missing ${some(missing)}, not expected ${some(extra)}`,
  );
}
