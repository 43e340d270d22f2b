// What the senders of a simulation post, decided by a seed alone: bodies in order for each sender, with what each of them means. A service
// belongs to one sender, which posts one body at a time, so the order of a service's samples does not depend on the server.
import snappy from "snappy";
import type { RecordType } from "../../src/core/layout/counters.ts";
import { BODY_JSON_BATCH, BODY_JSON_SINGLE, BODY_REMOTE_WRITE_1, BODY_REMOTE_WRITE_2 } from "../../src/core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { type Generator, generator } from "./generator.ts";
import { encodeBody2 } from "./remote-write-2-body.ts";
import { encodeBody, type Series } from "./remote-write-body.ts";

/** Sample time of the first tick: 2026-01-05T12:00:00Z. */
export const START_MS = Date.UTC(2026, 0, 5, 12);
const TICK_MS = 10_000;

/** A stream as a sender knows it. */
export interface StreamPlan {
  readonly serviceId: string;
  readonly metricName: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly type: RecordType;
  /** Its samples are cumulative from this time on: 0 for counters, infinity for gauges, between where the sender changes its mind. */
  readonly counterFromMs: number;
  /** Samples come late or are corrected. */
  readonly disorderly: boolean;
}

/** A sample as it is sent: cumulative for counters. */
export interface PlannedSample {
  readonly stream: StreamPlan;
  readonly timeMs: number;
  readonly value: number;
}

export interface PlannedBody {
  readonly kind: number;
  readonly bytes: Uint8Array;
  readonly idempotencyKey: string;
  /** Statuses that mean that the server has taken it. */
  readonly status: number;
  /** Earliest wall time of sending. */
  readonly dueMs: number;
  readonly samples: readonly PlannedSample[];
  /** Records to be kept: their natural keys, under which each is stored once, and their texts. */
  readonly records: ReadonlyArray<{ readonly key: string; readonly text: string }>;
  /** Payloads of dead letters, as JSON. */
  readonly letters: readonly string[];
}

export interface Workload {
  readonly senders: ReadonlyArray<readonly PlannedBody[]>;
  readonly streams: readonly StreamPlan[];
}

/** Streams and ticks of a bulk body: more samples than WORK_ROWS_MAX. */
const BULK_STREAMS = 220;
const BULK_TICKS = 110;

const FAMILY_METRIC = "latency_bucket";
const FAMILY_BOUNDS = ["1", "2", "5", "+Inf"];
/** Metrics that a server derives from the buckets. */
export const FAMILY_DERIVED = ["latency.p50", "latency.p95", "latency.p99"];

type Fields = Readonly<Record<string, unknown>>;

/** Whether a sample is cumulative. */
export function isCumulative({ stream, timeMs }: Pick<PlannedSample, "stream" | "timeMs">): boolean {
  return timeMs >= stream.counterFromMs;
}

/** Whether the sender changes its mind about a stream being a counter. */
export function changesKind({ counterFromMs }: StreamPlan): boolean {
  return counterFromMs > 0 && counterFromMs < Number.POSITIVE_INFINITY;
}

/** A sender's body in the making. */
interface Draft {
  readonly samples: PlannedSample[];
  readonly records: Fields[];
  readonly invalid: Fields[];
}

/** Whether senders have a classic histogram. Not where streams leave memory: a family that has been idle begins anew, its streams do not. */
function hasFamilies(seed: number): boolean {
  return seed % 9 === 3;
}

/** All senders of a seed. */
export function makeWorkload(seed: number): Workload {
  const random = generator(seed);
  const ticks = 130 + whole(random, 150);
  const senders = Array.from(
    { length: 2 + whole(random, 3) },
    (_, index) => new SenderPlan(index, ticks, generator(seed * 31 + index), false, hasFamilies(seed)),
  );
  if (random.uniform() < 0.08) senders.push(new SenderPlan(senders.length, ticks, generator(seed * 31 + senders.length), true, false));
  return { senders: senders.map((sender) => sender.bodies()), streams: senders.flatMap(({ streams }) => streams) };
}

/** 0 .. below - 1 */
function whole({ uniform }: Generator, below: number): number {
  return Math.floor(uniform() * below);
}

class SenderPlan {
  readonly streams: StreamPlan[] = [];
  readonly #index: number;
  readonly #ticks: number;
  readonly #random: Generator;
  readonly #remote: boolean;
  /** Sends bodies that take more than one unit of work. */
  readonly #bulk: boolean;
  readonly #sources: StreamSource[] = [];
  readonly #families: FamilySource[] = [];
  /** A change of kind begins a body: definitions count for the whole unit that they come with. */
  readonly #changeTicks = new Set<number>();
  #serial = 0;

  constructor(index: number, ticks: number, random: Generator, bulk: boolean, hasFamilies: boolean) {
    this.#index = index;
    this.#ticks = ticks;
    this.#random = random;
    this.#bulk = bulk;
    this.#remote = bulk || random.uniform() < 0.4;
    const services = bulk ? 2 : 1 + whole(random, 4);
    if (hasFamilies && !bulk) this.#addFamily(`service-${index}-0`, ticks);
    for (let service = 0; service < services; service++) {
      const metrics = bulk ? 1 : 1 + whole(random, 4);
      for (let metric = 0; metric < metrics; metric++) this.#addMetric(`service-${index}-${service}`, metric);
    }
  }

  /** The buckets of one histogram; its numbers come from a generator of their own. */
  #addFamily(serviceId: string, ticks: number): void {
    const streams = FAMILY_BOUNDS.map((le) => {
      const attributes = { le, zone: "a" };
      return { serviceId, metricName: FAMILY_METRIC, attributes, type: "metric" as const, counterFromMs: 0, disorderly: false };
    });
    this.streams.push(...streams);
    this.#families.push(new FamilySource(streams, ticks, generator(7 * this.#index + ticks)));
  }

  /** One metric with one to three streams: the streams of a pair share its anomalies. */
  #addMetric(serviceId: string, metric: number): void {
    const random = this.#random;
    const counter = random.uniform() < 0.3;
    const disorderly = random.uniform() < 0.35;
    const type: RecordType = !this.#remote && !counter && random.uniform() < 0.1 ? "trace" : "metric";
    const metricName = `metric_${metric}${counter ? "_total" : ""}`;
    const copies = this.#bulk ? Math.ceil(BULK_STREAMS / 2) : 1 + whole(random, 3);
    const changes = !this.#remote && type === "metric" && !counter && !disorderly && random.uniform() < 0.1;
    const changeTick = changes ? 20 + whole(random, this.#ticks) : this.#ticks;
    const counterFromMs = counter ? 0 : changes ? START_MS + changeTick * TICK_MS : Number.POSITIVE_INFINITY;
    if (changes) this.#changeTicks.add(changeTick);
    for (let copy = 0; copy < copies; copy++) {
      const attributes: Record<string, string> = random.uniform() < 0.2 ? { env: "prod", zone: `z${copy}` } : { zone: `z${copy}` };
      const stream = { serviceId, metricName, attributes, type, counterFromMs, disorderly };
      this.streams.push(stream);
      this.#sources.push(new StreamSource(stream, this.#ticks, generator(whole(random, 2 ** 31))));
    }
  }

  bodies(): PlannedBody[] {
    const bodies: PlannedBody[] = [];
    let draft: Draft = { samples: [], records: [], invalid: [] };
    const backfill = this.#random.uniform() < 0.2;
    for (let tick = 0; tick < this.#ticks; tick++) {
      if (this.#changeTicks.has(tick) && draft.samples.length > 0) {
        bodies.push(...this.#post(draft, tick));
        draft = { samples: [], records: [], invalid: [] };
      }
      for (const source of this.#sources) draft.samples.push(...source.at(tick));
      for (const family of this.#families) draft.samples.push(...family.at(tick));
      if (!this.#remote) this.#addRecords(draft, tick);
      this.#addInvalid(draft, tick);
      const waits = this.#bulk ? tick % BULK_TICKS !== BULK_TICKS - 1 : backfill ? tick % 40 !== 39 : this.#random.uniform() < 0.15;
      if (waits && tick < this.#ticks - 1) continue;
      bodies.push(...this.#post(draft, tick));
      draft = { samples: [], records: [], invalid: [] };
    }
    return bodies;
  }

  #addRecords({ records }: Draft, tick: number): void {
    if (this.#random.uniform() > 0.2) return;
    const serial = this.#serial++;
    const timestamp = formatRfc3339(START_MS + tick * TICK_MS);
    const type = this.#random.uniform() < 0.7 ? "log" : "event";
    records.push({
      service_id: `service-${this.#index}-0`,
      type,
      body: `line ${this.#index} ${serial}`,
      timestamp,
      attributes: { n: serial },
    });
  }

  #addInvalid({ invalid }: Draft, tick: number): void {
    if (this.#random.uniform() > 0.06) return;
    const serial = this.#serial++;
    const timestamp = formatRfc3339(START_MS + tick * TICK_MS);
    const bad: Fields = { service_id: `service-${this.#index}-0`, metric_name: `bad_${serial}`, timestamp };
    invalid.push(this.#random.uniform() < 0.5 ? bad : { ...bad, value: "high" });
  }

  #post(draft: Draft, tick: number): PlannedBody[] {
    const dueMs = START_MS + tick * TICK_MS;
    if (this.#remote) return [this.#remoteBody(draft, dueMs)];
    const u = this.#random.uniform();
    if (u < 0.02) return [...this.#jsonBodies(draft, dueMs), malformed(dueMs)];
    if (u < 0.08 && draft.samples.length < 12) return this.#singles(draft, dueMs);
    return this.#jsonBodies(draft, dueMs);
  }

  #jsonBodies({ samples, records, invalid }: Draft, dueMs: number): PlannedBody[] {
    const given = [...samples.map(recordOf), ...records, ...invalid];
    const idempotencyKey = this.#random.uniform() < 0.1 ? `key-${this.#index}-${this.#serial++}` : "";
    const body = planned(BODY_JSON_BATCH, encode(given), 200, dueMs, { samples, records, invalid });
    if (idempotencyKey === "") return [body];
    const kept = given.flatMap((record, index) =>
      isKept(record) ? [{ key: `${idempotencyKey} ${index}`, text: recordText(record) }] : [],
    );
    return [{ ...body, idempotencyKey, records: kept }];
  }

  #singles({ samples, records, invalid }: Draft, dueMs: number): PlannedBody[] {
    const empty = { samples: [], records: [], invalid: [] };
    return [
      ...samples.map((sample) => planned(BODY_JSON_SINGLE, encode(recordOf(sample)), 200, dueMs, { ...empty, samples: [sample] })),
      ...records.map((record) => planned(BODY_JSON_SINGLE, encode(record), 200, dueMs, { ...empty, records: [record] })),
      ...invalid.map((bad) => planned(BODY_JSON_SINGLE, encode(bad), 400, dueMs, { ...empty, invalid: [bad] })),
    ];
  }

  #remoteBody({ samples: given, invalid }: Draft, dueMs: number): PlannedBody {
    const byStream = this.#sources
      .map(({ stream }) => given.filter((sample) => sample.stream === stream))
      .filter(({ length }) => length > 0);
    const samples = this.#bulk ? byStream.flat() : given;
    const series: Series[] = (this.#bulk ? byStream : given.map((sample) => [sample])).map((own) => {
      const { metricName, serviceId, attributes } = (own[0] as PlannedSample).stream;
      const labels: Array<readonly [string, string]> = [["__name__", metricName], ["job", serviceId], ...Object.entries(attributes)];
      return { labels, samples: own.map(({ value, timeMs }) => ({ value, time: timeMs })) };
    });
    // Too old whatever the time of sending.
    const refused = invalid.map((bad) => ({ name: String(bad["metric_name"]), time: START_MS - 30 * 3600 * 1000 }));
    for (const { name, time } of refused)
      series.push({
        labels: [
          ["__name__", name],
          ["job", "refused"],
        ],
        samples: [{ value: 1, time }],
      });
    const letters = refused.map(({ name, time }) => ({ labels: { __name__: name, job: "refused" }, value: 1, timestamp: time }));
    // Both protocols say the same; which it is takes no number of the seed.
    const isSecond = series.length % 2 === 1;
    const bytes = snappy.compressSync(Buffer.from(isSecond ? encodeBody2(series) : encodeBody(series)));
    const status = letters.length === 0 ? 204 : 400;
    return planned(isSecond ? BODY_REMOTE_WRITE_2 : BODY_REMOTE_WRITE_1, bytes, status, dueMs, { samples, records: [], invalid: letters });
  }
}

function planned(kind: number, bytes: Uint8Array, status: number, dueMs: number, { samples, records, invalid }: Draft): PlannedBody {
  const kept = [...samples.map(recordOf), ...records]
    .filter(isKept)
    .map((record) => ({ key: recordText(record), text: recordText(record) }));
  return { kind, bytes, idempotencyKey: "", status, dueMs, samples, records: kept, letters: invalid.map((bad) => JSON.stringify(bad)) };
}

/** Invalid records have no type. */
function isKept(record: Fields): boolean {
  return record["type"] !== "metric" && record["type"] !== undefined;
}

function malformed(dueMs: number): PlannedBody {
  return planned(BODY_JSON_BATCH, new TextEncoder().encode("[{"), 400, dueMs, { samples: [], records: [], invalid: [] });
}

function recordOf({ stream, timeMs, value }: PlannedSample): Fields {
  const { serviceId, metricName, attributes, type } = stream;
  const all = isCumulative({ stream, timeMs }) ? { ...attributes, metric_type: "counter" } : attributes;
  return { service_id: serviceId, type, metric_name: metricName, value, timestamp: formatRfc3339(timeMs), attributes: all };
}

/** A record in the form in which expectation and answer are compared. */
export function recordText(record: Fields): string {
  const { service_id, type, metric_name, value, body, timestamp, attributes } = record;
  return JSON.stringify([service_id, type, metric_name ?? null, value ?? null, body ?? null, timestamp, attributes]);
}

function encode(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value));
}

/** Values of one stream, tick by tick. */
class StreamSource {
  readonly stream: StreamPlan;
  readonly #random: Generator;
  readonly #base: number;
  readonly #digits: number;
  readonly #constant: boolean;
  readonly #phaseMs: number;
  /** Ticks at which something unusual goes on, and how strong it is. */
  readonly #bursts: ReadonlyArray<{ readonly from: number; readonly to: number; readonly height: number }>;
  readonly #gap: { readonly from: number; readonly to: number };
  readonly #held: Array<{ readonly tick: number; readonly sample: PlannedSample }> = [];
  #sum = 1000;
  #last: PlannedSample | undefined;

  constructor(stream: StreamPlan, ticks: number, random: Generator) {
    this.stream = stream;
    this.#random = random;
    this.#base = 10 + 500 * random.uniform();
    this.#digits = random.uniform() < 0.5 ? 3 : 15;
    this.#constant = random.uniform() < 0.1;
    this.#phaseMs = whole(random, 1000);
    this.#bursts = Array.from({ length: whole(random, 4) }, () => {
      const from = 15 + whole(random, ticks);
      return { from, to: from + 1 + whole(random, 8), height: (random.uniform() < 0.5 ? 1 : -1) * (5 + 20 * random.uniform()) };
    });
    const from = random.uniform() < 0.3 ? whole(random, ticks) : ticks;
    this.#gap = { from, to: from + 5 + whole(random, 60) };
  }

  at(tick: number): PlannedSample[] {
    const due = this.#held.filter((held) => held.tick === tick).map(({ sample }) => sample);
    if (tick >= this.#gap.from && tick < this.#gap.to) return due;
    const timeMs = START_MS + tick * TICK_MS + this.#phaseMs;
    const sample = { stream: this.stream, timeMs, value: this.#value(tick, isCumulative({ stream: this.stream, timeMs })) };
    return [...this.#order(sample, tick, due)];
  }

  /** Repeats some samples; holds back, corrects and delays those of disorderly streams. */
  #order(sample: PlannedSample, tick: number, due: PlannedSample[]): PlannedSample[] {
    const { uniform } = this.#random;
    const last = this.#last;
    const repeated = last !== undefined && isCumulative(last) === isCumulative(sample) && uniform() < 0.03 ? [last] : [];
    if (this.stream.disorderly) {
      if (uniform() < 0.05) {
        this.#held.push({ tick: tick + 1 + whole(this.#random, uniform() < 0.7 ? 28 : 90), sample });
        return [...repeated, ...due];
      }
      if (uniform() < 0.04) {
        const corrected = { ...sample, value: isCumulative(sample) ? sample.value + 1 : sample.value + 0.25 };
        if (isCumulative(sample)) this.#sum += 1;
        this.#last = corrected;
        return [...repeated, sample, ...due, corrected];
      }
    }
    this.#last = sample;
    return uniform() < 0.5 ? [...repeated, ...due, sample] : [...repeated, sample, ...due];
  }

  #value(tick: number, cumulative: boolean): number {
    const burst = this.#bursts.find(({ from, to }) => tick >= from && tick < to);
    const noise = this.#constant ? 0 : this.#random.normal();
    const value = this.#base * (1 + 0.05 * (noise + (burst?.height ?? 0)));
    if (!cumulative) return Number(value.toFixed(this.#digits));
    if (this.#random.uniform() < 0.01) this.#sum = this.#random.uniform() < 0.7 ? 0 : this.#sum / 2;
    this.#sum += Math.round(Math.max(0, value));
    return this.#sum;
  }
}

/** Buckets of one histogram, tick by tick: sometimes slow, sometimes begun anew. */
class FamilySource {
  readonly #streams: readonly StreamPlan[];
  readonly #random: Generator;
  readonly #slow: { readonly from: number; readonly to: number };
  #counts: number[];

  constructor(streams: readonly StreamPlan[], ticks: number, random: Generator) {
    this.#streams = streams;
    this.#random = random;
    this.#counts = streams.map(() => 0);
    const from = 15 + whole(random, ticks);
    this.#slow = { from, to: from + 6 };
  }

  at(tick: number): PlannedSample[] {
    const { uniform } = this.#random;
    if (uniform() < 0.02) this.#counts = this.#counts.map(() => 0);
    const isSlow = tick >= this.#slow.from && tick < this.#slow.to;
    const shares = isSlow ? [0.1, 0.2, 0.9, 1] : [0.5, 0.9, 0.99, 1];
    const added = 900 + whole(this.#random, 200);
    this.#counts = this.#counts.map((count, i) => count + Math.round(added * (shares[i] as number)) + (i < 3 ? whole(this.#random, 5) : 5));
    return this.#streams.map((stream, i) => ({ stream, timeMs: START_MS + tick * TICK_MS, value: this.#counts[i] as number }));
  }
}
