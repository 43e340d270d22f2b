// What the soak sends: one request of each kind, with what it must bring. Times are those of sending; values walk, and now and then leave their band for a
// few seconds, so that anomalies open and close all the time.
import { compressSync } from "snappy";
import { type Generator, generator } from "../support/generator.ts";
import { REMOTE_WRITE_HEADERS } from "../support/server-client.ts";
import { RemoteWriteFeed } from "./remote-write-feed.ts";

/** One request to be sent. */
export interface SoakRequest {
  readonly kind: SoakKind;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
  /** The only right status but 503. */
  readonly status: number;
  /** Records that count as accepted when it is acknowledged, and as refused. */
  readonly accepted: number;
  readonly refused: number;
}

export type SoakKind = "remote-write" | "new streams" | "JSON batch" | "single record" | "bad body" | "query";

/** Requests a second: 80,000 samples, 10,000 records in batches and 800 single ones. Each lasting stream gets a value a second. */
export const RATES: Readonly<Record<SoakKind, number>> = {
  "remote-write": 40,
  "new streams": 1,
  "JSON batch": 20,
  "single record": 800,
  "bad body": 10,
  query: 10,
};

const GROUPS = 40;
const SERIES_PER_GROUP = 2_000;
const BATCH_STREAMS = 10_000;
const BATCH_RECORDS = 500;
const BATCH_LOGS = 2;
const SINGLE_STREAMS = 800;
/** New streams that begin each second, and how many seconds each lasts before it falls idle. */
const NEW_PER_SECOND = 5;
const NEW_LIFE_SECONDS = 20;
/** Of so many values one begins an excursion of a few seconds. */
const EXCURSION_ONE_IN = 40_000;
const EXCURSION_SECONDS = 4;
const WRITE = "/api/v1/rwmetrics/write";
const BATCH = "/api/v1/telemetry/batch";
const SINGLE = "/api/v1/telemetry";
const JSON_HEADERS = { "Content-Type": "application/json" };

/** Values of many streams, each around a level of its own. */
class Walks {
  readonly #random: Generator;
  readonly #levels: Float64Array;
  readonly #excursions = new Map<number, number>();

  constructor(streams: number, random: Generator) {
    this.#random = random;
    this.#levels = Float64Array.from({ length: streams }, () => 50 + 100 * random.uniform());
  }

  next(stream: number): number {
    const left = this.#excursions.get(stream) ?? (this.#random.uniform() * EXCURSION_ONE_IN < 1 ? EXCURSION_SECONDS : 0);
    if (left > 1) this.#excursions.set(stream, left - 1);
    else this.#excursions.delete(stream);
    const noise = this.#random.uniform() + this.#random.uniform() + this.#random.uniform() - 1.5;
    return Math.round(((this.#levels[stream] as number) + 2 * noise + (left > 0 ? 60 : 0)) * 1000) / 1000;
  }
}

/** Series that are sent together. */
interface Group {
  readonly feed: RemoteWriteFeed;
  readonly walks: Walks;
}

/** Makes the requests, endlessly. */
export class SoakRequests {
  readonly #random: Generator;
  readonly #groups: readonly Group[];
  readonly #batchWalks: Walks;
  readonly #singleWalks: Walks;
  readonly #next: Record<SoakKind, number> = {
    "remote-write": 0,
    "new streams": 0,
    "JSON batch": 0,
    "single record": 0,
    "bad body": 0,
    query: 0,
  };

  constructor(seed: number) {
    this.#random = generator(seed);
    this.#groups = Array.from({ length: GROUPS }, (_, group) => ({
      feed: new RemoteWriteFeed(Array.from({ length: SERIES_PER_GROUP }, (__, i) => seriesLabels(group, i))),
      walks: new Walks(SERIES_PER_GROUP, this.#random),
    }));
    this.#batchWalks = new Walks(BATCH_STREAMS, this.#random);
    this.#singleWalks = new Walks(SINGLE_STREAMS, this.#random);
  }

  /** Streams that have begun by the requests made so far, the lasting ones aside. */
  get newStreams(): number {
    return this.#next["new streams"] * NEW_PER_SECOND;
  }

  make(kind: SoakKind, nowMs: number): SoakRequest {
    const number = this.#next[kind]++;
    switch (kind) {
      case "remote-write":
        return this.#remoteWrite(number, nowMs);
      case "new streams":
        return this.#newStreams(number, nowMs);
      case "JSON batch":
        return this.#batch(number, nowMs);
      case "single record":
        return this.#single(number, nowMs);
      case "bad body":
        return badBody(number, nowMs);
      case "query":
        return query(number, nowMs);
    }
  }

  #remoteWrite(number: number, nowMs: number): SoakRequest {
    const { feed, walks } = this.#groups[number % GROUPS] as Group;
    return writeRequest(
      "remote-write",
      feed.at(nowMs, (i) => walks.next(i)),
      SERIES_PER_GROUP,
    );
  }

  #newStreams(number: number, nowMs: number): SoakRequest {
    const labels: Array<Array<readonly [string, string]>> = [];
    for (let second = Math.max(0, number - NEW_LIFE_SECONDS + 1); second <= number; second++) {
      for (let i = 0; i < NEW_PER_SECOND; i++) {
        labels.push([
          ["__name__", "job_progress"],
          ["job", "batch"],
          ["run", `${second}-${i}`],
        ]);
      }
    }
    return writeRequest(
      "new streams",
      new RemoteWriteFeed(labels).at(nowMs, () => this.#random.uniform()),
      labels.length,
    );
  }

  #batch(number: number, nowMs: number): SoakRequest {
    const first = (number * BATCH_RECORDS) % BATCH_STREAMS;
    const time = new Date(nowMs).toISOString();
    const records = Array.from({ length: BATCH_RECORDS }, (_, i) => {
      const stream = first + i;
      return `{"service_id":"checkout-${stream % 50}","type":"metric","metric_name":"latency_ms","value":${this.#batchWalks.next(stream)},"timestamp":"${time}","attributes":{"instance":"host-${stream}","env":"prod"}}`;
    });
    for (let i = 0; i < BATCH_LOGS; i++) {
      records.push(
        `{"service_id":"checkout-${i}","type":"log","body":"order ${number * BATCH_LOGS + i} placed","timestamp":"${time}","attributes":{"level":"info"}}`,
      );
    }
    return jsonRequest("JSON batch", BATCH, `[${records.join(",")}]`, 200, records.length, 0);
  }

  #single(number: number, nowMs: number): SoakRequest {
    const stream = number % SINGLE_STREAMS;
    const value = this.#singleWalks.next(stream);
    const text = `{"service_id":"payments","metric_name":"queue_depth","value":${value},"timestamp":"${new Date(nowMs).toISOString()}","attributes":{"queue":"q-${stream}"}}`;
    return jsonRequest("single record", SINGLE, text, 200, 1, 0);
  }
}

function seriesLabels(group: number, i: number): Array<readonly [string, string]> {
  return [
    ["__name__", `metric_${i % 40}`],
    ["env", "production"],
    ["instance", `10.0.${group}.${Math.floor(i / 40)}:9100`],
    ["job", `service-${group}-${Math.floor(i / 400)}`],
    ["region", "eu-west-1"],
  ];
}

function writeRequest(kind: SoakKind, body: Buffer, samples: number): SoakRequest {
  return { kind, method: "POST", path: WRITE, headers: { ...REMOTE_WRITE_HEADERS }, body, status: 204, accepted: samples, refused: 0 };
}

function jsonRequest(kind: SoakKind, path: string, text: string, status: number, accepted: number, refused: number): SoakRequest {
  return { kind, method: "POST", path, headers: JSON_HEADERS, body: Buffer.from(text), status, accepted, refused };
}

/** Bodies that must be refused, whole or in part, and stored as dead letters where they hold records. */
function badBody(number: number, nowMs: number): SoakRequest {
  const record = (value: string, time: string) => `{"service_id":"bad","metric_name":"m","value":${value},"timestamp":"${time}"}`;
  const now = new Date(nowMs).toISOString();
  const bodies: Array<() => SoakRequest> = [
    () => jsonRequest("bad body", SINGLE, record("1", now).slice(0, 40), 400, 0, 1),
    () => jsonRequest("bad body", SINGLE, record('"much"', now), 400, 0, 1),
    () => jsonRequest("bad body", BATCH, `[${record("1", "yesterday")},${record("2", "2020-01-01T00:00:00Z")}]`, 200, 0, 2),
    () => ({ ...writeRequest("bad body", Buffer.from("no snappy block"), 0), status: 400, refused: 1 }),
    () => ({
      ...writeRequest("bad body", compressSync(Buffer.from("no protobuf, but well compressed")) as Buffer, 0),
      status: 400,
      refused: 1,
    }),
  ];
  return (bodies[number % bodies.length] as () => SoakRequest)();
}

function query(number: number, nowMs: number): SoakRequest {
  const since = encodeURIComponent(new Date(nowMs - 600_000).toISOString());
  const paths = [
    "/api/v1/anomalies?limit=50",
    "/api/v1/series?service_id=checkout-7&limit=50",
    `/api/v1/series/data?service_id=payments&metric_name=queue_depth&attributes=${encodeURIComponent('{"queue":"q-3"}')}&since=${since}`,
    `/api/v1/records?type=log&since=${since}&limit=50`,
    "/api/v1/status",
    "/healthz",
  ];
  return { kind: "query", method: "GET", path: paths[number % paths.length] as string, headers: {}, status: 200, accepted: 0, refused: 0 };
}
