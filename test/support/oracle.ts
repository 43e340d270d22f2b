// What a server should hold after a workload: slow, plain, without rings, logs or chunks. Samples as they should be read back, records, dead
// letters, and the anomalies of the pairs whose samples came in order.
import { EVENT_CLOSE, EVENT_FLAG_CONSTANT, EVENT_FLAG_HIGH, EVENT_OPEN, EVENT_UPDATE } from "../../src/core/layout/kernel-event.ts";
import { thresholdFor } from "../../src/domain/detection/gates/baseline-maturity.ts";
import { countZOf } from "../../src/domain/detection/gates/count-test.ts";
import { StreamOracle } from "../../src/domain/detection/stream-oracle.ts";
import { fillThresholdTables, THRESHOLD_TABLE_VALUES, zOfRatio } from "../../src/domain/detection/thresholds.ts";
import { countedAfterFall } from "../../src/domain/distribution/counting-start.ts";
import { environmentOf } from "../../src/domain/series/stream-identity.ts";
import { changesKind, FAMILY_DERIVED, isCumulative, type PlannedBody, type PlannedSample, type StreamPlan } from "./simulation-workload.ts";

type OracleEvent = ReturnType<StreamOracle["apply"]>[number];

/** An anomaly as far as it is compared. */
export interface ExpectedAnomaly {
  readonly pair: string;
  readonly direction: "high" | "low";
  readonly startedAtMs: number;
  z: number;
  streams: number;
  openStreams: number;
}

/** Simulations last less than a day, so every service is young (rule 1.1.13). */
const tables = new Float64Array(THRESHOLD_TABLE_VALUES);
fillThresholdTables(tables, thresholdFor("young", 3));

/** Values in the ring, which an implausible reset of a counter is compared with. */
const RING_VALUES = 120;

/** A pair (environment, service, metric) as text. */
export function pairOf(environment: string, serviceId: string, metricName: string): string {
  return JSON.stringify([environment, serviceId, metricName]);
}

/** Expectations of one stream. */
class StreamExpectation {
  readonly plan: StreamPlan;
  /** Values as stored, by time. */
  readonly samples = new Map<number, number>();
  readonly detector: StreamOracle;
  #previousRaw: number | null = null;
  #lastRaw: number | null = null;
  #lastTimeMs = 0;
  #deltas: number[] = [];

  constructor(plan: StreamPlan) {
    this.plan = plan;
    this.detector = new StreamOracle({ window: 120, tables, counter: plan.counterFromMs === 0, operation: false });
  }

  take(sample: PlannedSample): void {
    if (isCumulative(sample)) this.#count(sample.timeMs, sample.value);
    else this.samples.set(sample.timeMs, sample.value);
  }

  /** Whether a value, which has been taken, may be judged as a count of few. */
  isOfFew(value: number): boolean {
    return countZOf(value, [...this.samples.values()].slice(-RING_VALUES - 1, -1), true) !== undefined;
  }

  #count(timeMs: number, value: number): void {
    if (timeMs < this.#lastTimeMs) return;
    if (timeMs === this.#lastTimeMs) {
      if (value === this.#lastRaw) return;
      this.#lastRaw = value;
      if (this.#previousRaw === null || this.#deltas.length === 0) return;
      const corrected = value < this.#previousRaw - 1e-9 * Math.abs(this.#previousRaw) ? value : Math.max(0, value - this.#previousRaw);
      this.#deltas[this.#deltas.length - 1] = corrected;
      this.samples.set(timeMs, corrected);
      return;
    }
    this.#lastTimeMs = timeMs;
    this.#previousRaw = this.#lastRaw;
    this.#lastRaw = value;
    if (this.#previousRaw === null) return;
    const delta = this.#delta(this.#previousRaw, value);
    this.#deltas = [...this.#deltas, delta].slice(-RING_VALUES);
    this.samples.set(timeMs, delta);
  }

  #delta(previous: number, value: number): number {
    if (value >= previous - 1e-9 * Math.abs(previous)) return Math.max(0, value - previous);
    return countedAfterFall(value, Math.max(0, ...this.#deltas), this.#deltas.length >= 12);
  }
}

/** A stream as text: service, metric, environment, attributes. */
export function streamKey({ serviceId, metricName, attributes }: StreamPlan): string {
  return JSON.stringify([serviceId, metricName, Object.entries(attributes).sort()]);
}

/** Expectations of a whole server; bodies are told in their senders' order. */
export class ServerOracle {
  readonly streams = new Map<string, StreamExpectation>();
  /** Texts by natural key. */
  readonly records = new Map<string, string>();
  readonly letters = new Map<string, number>();
  readonly anomalies: ExpectedAnomaly[] = [];
  /** Pairs with samples out of order, with a change of kind, operation-class ones, and those of few counts: their anomalies are not known here. */
  readonly unknownPairs = new Set<string>();
  readonly #open = new Map<string, ExpectedAnomaly>();
  readonly #members = new Map<string, ExpectedAnomaly>();

  take(body: PlannedBody): void {
    for (const sample of body.samples) this.#sample(sample);
    for (const { key, text } of body.records) this.records.set(key, text);
    for (const letter of body.letters) this.letters.set(letter, (this.letters.get(letter) ?? 0) + 1);
  }

  #sample(sample: PlannedSample): void {
    const { stream } = sample;
    const key = streamKey(stream);
    const known = this.streams.get(key) ?? new StreamExpectation(stream);
    this.streams.set(key, known);
    known.take(sample);
    const pair = pairOf(environmentOf(stream.attributes), stream.serviceId, stream.metricName);
    const [service, environment] = [stream.serviceId, environmentOf(stream.attributes)];
    for (const metric of "le" in stream.attributes ? FAMILY_DERIVED : []) this.unknownPairs.add(pairOf(environment, service, metric));
    if (stream.disorderly || changesKind(stream) || stream.type !== "metric") this.unknownPairs.add(pair);
    else
      for (const event of known.detector.apply(sample.timeMs, sample.value)) {
        if (known.isOfFew(event.value)) this.unknownPairs.add(pair);
        this.#event(pair, key, event);
      }
  }

  #event(pair: string, stream: string, event: OracleEvent): void {
    if (event.kind !== EVENT_OPEN && event.kind !== EVENT_UPDATE && event.kind !== EVENT_CLOSE) return;
    const direction = (event.flags & EVENT_FLAG_HIGH) !== 0 ? "high" : "low";
    const peak = direction === "high" ? event.peak : -event.peak;
    const z = (event.flags & EVENT_FLAG_CONSTANT) !== 0 ? peak : zOfRatio(peak, event.count);
    const member = `${stream} ${direction}`;
    if (event.kind === EVENT_OPEN) this.#opened(pair, member, direction, event.start, z);
    else this.#moved(pair, member, direction, z, event.kind === EVENT_CLOSE);
  }

  #opened(pair: string, member: string, direction: "high" | "low", startedAtMs: number, z: number): void {
    const again = this.anomalies.find((each) => each.pair === pair && each.direction === direction && each.startedAtMs === startedAtMs);
    const joined = this.#open.get(`${pair} ${direction}`) ?? again;
    const anomaly = joined ?? { pair, direction, startedAtMs, z, streams: 0, openStreams: 0 };
    if (joined === undefined) this.anomalies.push(anomaly);
    anomaly.streams++;
    anomaly.openStreams++;
    if (Math.abs(z) > Math.abs(anomaly.z)) anomaly.z = z;
    this.#open.set(`${pair} ${direction}`, anomaly);
    this.#members.set(member, anomaly);
  }

  #moved(pair: string, member: string, direction: "high" | "low", z: number, closes: boolean): void {
    const anomaly = this.#members.get(member);
    if (anomaly === undefined) throw new Error("the oracle's episode has no anomaly");
    if (!closes) {
      if (Math.abs(z) > Math.abs(anomaly.z)) anomaly.z = z;
      return;
    }
    this.#members.delete(member);
    anomaly.openStreams--;
    if (anomaly.openStreams === 0) this.#open.delete(`${pair} ${direction}`);
  }
}
