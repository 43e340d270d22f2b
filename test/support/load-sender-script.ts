// What one sender sends in its life, made of a seed: requests in order, and what a server must hold once all of them are acknowledged.
// A script has a service of its own, so every stream and every pair has one sender. Timestamps of a stream ascend by a second.
import { compressSync } from "snappy";
import type { Attributes } from "../../src/core/protocol/coordinator-frame.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { canonicalAttributes } from "../../src/domain/series/stream-identity.ts";
import { type Generator, generator } from "./generator.ts";
import { encodeBody, type Series } from "./remote-write-body.ts";

/** One request; sending it again changes nothing but the dead letters that it makes. */
export interface LoadRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** The status that says that it is committed. */
  readonly status: number;
  /** Its rejected records, one reason each. */
  readonly rejected: readonly string[];
  /** Records or samples of it that are accepted. */
  readonly accepted: number;
}

export interface ScriptOptions {
  readonly seed: number;
  readonly serviceId: string;
  readonly startMs: number;
  readonly requests: number;
}

/** The samples of one stream as /api/v1/series/data shows them. */
export interface ExpectedSeries {
  readonly times: number[];
  readonly values: number[];
}

type TelemetryRecord = Readonly<Record<string, unknown>>;

const TICKS_PER_BATCH = 8;
const TICKS_PER_WRITE = 80;
const JSON_HEADERS = { "content-type": "application/json" };
const WRITE_HEADERS = { "content-type": "application/x-protobuf", "content-encoding": "snappy" };

/** A stream to come: a gauge around 100, or a counter that grows by about 100, with plateaus of another height planted in it. */
class StreamSource {
  readonly counter: boolean;
  readonly #random: Generator;
  readonly #decimals: boolean;
  #tick = 0;
  #total = 0;
  #plantedFor = 0;

  constructor(random: Generator, counter: boolean, decimals: boolean) {
    this.#random = random;
    this.counter = counter;
    this.#decimals = decimals;
  }

  /** The next sample, and how it is stored; null where a counter begins. */
  next(): { tick: number; sent: number; stored: number | null } {
    const tick = this.#tick++;
    if (this.#plantedFor > 0) this.#plantedFor--;
    else if (tick > 30 && this.#random.uniform() < 0.006) this.#plantedFor = 4;
    const value = 100 + 2 * this.#random.normal() + (this.#plantedFor > 0 ? 60 : 0);
    if (!this.counter) {
      const sent = this.#decimals ? Math.round(value * 1000) / 1000 : value;
      return { tick, sent, stored: sent };
    }
    const delta = Math.round(value);
    this.#total += delta;
    return { tick, sent: this.#total, stored: tick === 0 ? null : delta };
  }
}

interface NamedSource {
  readonly source: StreamSource;
  readonly metric: string;
  readonly attributes: Attributes;
}

/** A sender's requests and what comes of them. */
export class LoadScript {
  readonly requests: LoadRequest[] = [];
  /** By `seriesKey`. */
  readonly series = new Map<string, ExpectedSeries>();
  /** Content of the stored records, in no order. */
  readonly records: string[] = [];
  readonly #options: ScriptOptions;
  readonly #random: Generator;
  readonly #gauges: readonly NamedSource[];
  readonly #written: readonly NamedSource[];
  readonly #scored: Array<{ source: StreamSource; metric: string; type: string }>;
  #recordCount = 0;

  constructor(options: ScriptOptions) {
    this.#options = options;
    this.#random = generator(options.seed);
    const source = (counter: boolean, decimals: boolean) =>
      new StreamSource(generator(Math.floor(this.#random.uniform() * 2 ** 32)), counter, decimals);
    this.#gauges = [
      ...[0, 1, 2].map((i) => ({
        source: source(false, i > 0),
        metric: `latency_${i}_ms`,
        attributes: { zone: "a" } as Attributes,
      })),
      { source: source(false, false), metric: "latency_0_ms", attributes: { zone: "b", env: "prod" } },
      { source: source(true, true), metric: "jobs", attributes: { metric_type: "counter", zone: "a" } },
    ];
    this.#scored = ["trace", "profile"].map((type) => ({
      source: source(false, true),
      metric: `${type}.duration_ms`,
      type,
    }));
    this.#written = Array.from({ length: 12 }, (_, i) => {
      const counter = i % 4 === 3;
      return {
        source: source(counter, i % 3 === 0),
        metric: counter ? `requests_${i}_total` : `queue_${i >> 1}`,
        attributes: { instance: `host-${i % 2}` },
      };
    });
    for (let i = 0; i < options.requests; i++) this.requests.push(this.#next());
  }

  #next(): LoadRequest {
    const choice = this.#random.uniform();
    if (choice < 0.4) return this.#write();
    return choice < 0.8 ? this.#batch() : this.#single();
  }

  #time(tick: number): string {
    return formatRfc3339(this.#options.startMs + tick * 1000);
  }

  #expect(metric: string, attributes: Attributes, tick: number, value: number | null): void {
    const key = seriesKey(this.#options.serviceId, metric, attributes);
    const series = this.series.get(key) ?? { times: [], values: [] };
    this.series.set(key, series);
    if (value === null) return;
    series.times.push(this.#options.startMs + tick * 1000);
    series.values.push(value);
  }

  #sample({ source, metric, attributes }: NamedSource): TelemetryRecord {
    const { tick, sent, stored } = source.next();
    const { metric_type: _, ...identity } = attributes;
    this.#expect(metric, identity, tick, stored);
    return {
      service_id: this.#options.serviceId,
      metric_name: metric,
      value: sent,
      timestamp: this.#time(tick),
      attributes,
    };
  }

  /** A record of a kind that is kept as such. */
  #record(): TelemetryRecord {
    const number = this.#recordCount++;
    const service_id = this.#options.serviceId;
    const attributes = { number };
    const kind = ["log", "event", "slo", "trace", "profile"][Math.floor(this.#random.uniform() * 5)] as string;
    const scored = this.#scored.find(({ type }) => type === kind);
    if (scored !== undefined) {
      const { tick, sent, stored } = scored.source.next();
      this.#expect(scored.metric, {}, tick, stored);
      return this.#keep({
        service_id,
        type: kind,
        metric_name: scored.metric,
        value: sent,
        trace_id: `t${number}`,
        timestamp: this.#time(tick),
        attributes: {},
      });
    }
    const timestamp = this.#time(number);
    if (kind === "slo") return this.#keep({ service_id, type: kind, metric_name: "availability", value: 0.999, timestamp, attributes });
    return this.#keep({
      service_id,
      type: kind,
      body: `${kind} ${number} ${"of something that happened ".repeat(1 + (number % 20))}`,
      timestamp,
      attributes,
    });
  }

  #keep(record: TelemetryRecord): TelemetryRecord {
    this.records.push(recordContent(record));
    return record;
  }

  #invalid(): { record: unknown; reason: string } {
    const { service_id, timestamp } = { service_id: this.#options.serviceId, timestamp: this.#time(0) };
    const kinds = [
      { record: { service_id, timestamp, value: 1 }, reason: "missing_metric_name" },
      { record: { service_id, timestamp, metric_name: "m", value: "one" }, reason: "invalid_value" },
      { record: { timestamp, metric_name: "m", value: 1 }, reason: "missing_service_id" },
      { record: { service_id, timestamp: "yesterday", metric_name: "m", value: 1 }, reason: "invalid_timestamp" },
      { record: [1, 2], reason: "invalid_record" },
    ];
    return kinds[Math.floor(this.#random.uniform() * kinds.length)] as (typeof kinds)[number];
  }

  #batch(): LoadRequest {
    const records: unknown[] = [];
    const rejected: string[] = [];
    for (let tick = 0; tick < TICKS_PER_BATCH; tick++) {
      records.push(...this.#gauges.map((gauge) => this.#sample(gauge)), this.#record());
      if (this.#random.uniform() > 0.1) continue;
      const { record, reason } = this.#invalid();
      records.push(record);
      rejected.push(reason);
    }
    return jsonRequest("/api/v1/telemetry/batch", records, 200, rejected, records.length - rejected.length);
  }

  #single(): LoadRequest {
    const choice = this.#random.uniform();
    if (choice < 0.15) {
      const { record, reason } = this.#invalid();
      if (!Array.isArray(record)) return jsonRequest("/api/v1/telemetry", record, 400, [reason], 0);
    }
    const [gauge] = this.#gauges as [NamedSource];
    return jsonRequest("/api/v1/telemetry", choice < 0.6 ? this.#sample(gauge) : this.#record(), 200, [], 1);
  }

  #write(): LoadRequest {
    const series: Series[] = this.#written.map(({ source, metric, attributes }) => {
      const samples = Array.from({ length: TICKS_PER_WRITE }, () => {
        const { tick, sent, stored } = source.next();
        this.#expect(metric, attributes, tick, stored);
        return { time: this.#options.startMs + tick * 1000, value: sent };
      });
      return {
        labels: [
          ["__name__", metric],
          ["instance", attributes.instance as string],
          ["job", this.#options.serviceId],
        ],
        samples,
      };
    });
    const isBad = this.#random.uniform() < 0.2;
    const bad = {
      labels: [
        ["__name__", "bad"],
        ["job", this.#options.serviceId],
      ] as const,
      samples: [{ time: 1000, value: 1 }],
    };
    if (isBad) this.#expect("bad", {}, 0, null);
    const body = compressSync(Buffer.from(encodeBody(isBad ? [...series, bad] : series)));
    const rejected = isBad ? ["timestamp_too_old"] : [];
    const accepted = series.length * TICKS_PER_WRITE;
    return { path: "/api/v1/rwmetrics/write", headers: WRITE_HEADERS, body, status: isBad ? 400 : 204, rejected, accepted };
  }
}

function jsonRequest(path: string, content: unknown, status: number, rejected: readonly string[], accepted: number): LoadRequest {
  return { path, headers: JSON_HEADERS, body: Buffer.from(JSON.stringify(content)), status, rejected, accepted };
}

/** Name of a stream in `LoadScript.series`. */
export function seriesKey(serviceId: string, metricName: string, attributes: Attributes): string {
  return `${serviceId} ${metricName} ${canonicalAttributes(attributes)}`;
}

/** What a stored record says, without what the server adds. */
export function recordContent({ service_id, type, metric_name, value, body, trace_id, timestamp, attributes }: TelemetryRecord): string {
  return JSON.stringify([service_id, type, metric_name, value, body, trace_id, timestamp, attributes]);
}

/** A request of `rows` repetitions of one sample: a server stores the sample once, and yet its log grows by 16 bytes a row. */
export function repetitions(serviceId: string, timeMs: number, rows: number): LoadRequest {
  const one = encodeBody([
    {
      labels: [
        ["__name__", "repeated"],
        ["job", serviceId],
      ],
      samples: [{ time: timeMs, value: 1 }],
    },
  ]);
  const bytesOfLabels = encodeBody([
    {
      labels: [
        ["__name__", "repeated"],
        ["job", serviceId],
      ],
      samples: [],
    },
  ]).length;
  const seriesAt = 2; // tag and length of the one series, both one byte
  const labels = one.subarray(seriesAt, bytesOfLabels);
  const sample = one.subarray(bytesOfLabels);
  const series = Buffer.concat([labels, Buffer.alloc(rows * sample.length, sample)]);
  const length: number[] = [];
  for (let rest = series.length; ; rest = Math.floor(rest / 128)) {
    length.push(rest > 127 ? (rest % 128) | 128 : rest);
    if (rest <= 127) break;
  }
  const body = compressSync(Buffer.concat([Buffer.from([10, ...length]), series]));
  return { path: "/api/v1/rwmetrics/write", headers: WRITE_HEADERS, body, status: 204, rejected: [], accepted: rows };
}
