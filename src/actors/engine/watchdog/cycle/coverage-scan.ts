/**
 * Tells the coordinator what detection looks at among a tenant's streams: a scan over its services in slices, between bodies, made for one question. Nothing
 * is kept for it: each layer says of a stream what it did in its last pass.
 */
import { COVERAGE_STREAMS_PER_SLICE } from "../../../../core/config/limits.ts";
import { FLAG_BUCKET, FLAG_ENDED, PROFILE_EXCLUDED } from "../../../../core/layout/stream-record.ts";
import type { StreamName } from "../../../../core/protocol/coordinator-frame.ts";
import {
  COVERAGE_LAYERS,
  type CoverageAnswer,
  type CoverageLayer,
  type CoverageQuery,
  STREAM_LAYERS,
  type StreamLayer,
} from "../../../../core/protocol/coverage.ts";
import { CoverageTally, EVALUATED, LEARNING } from "../../../../domain/detection/coverage.ts";
import type { StreamRecords } from "../../../../domain/kernel/stream-records.ts";
import { hashOfValue } from "../../../../domain/series/distinct-count.ts";
import { serviceKey } from "../../../../domain/series/stream-identity.ts";
import type { ServiceIndex } from "../../streams/service-index.ts";

export interface CoverageScanDependencies {
  readonly records: StreamRecords;
  readonly services: ServiceIndex;
  /** WATCHDOG_MIN_SAMPLES. */
  readonly samplesMin: number;
  nameOf(slot: number): StreamName;
  /** Outcome of a detector of the Watchdog for a stream in its last pass. */
  streamState(detector: "pairs" | "saturation", slot: number): string;
  /** The same of a service, one for each environment that was judged or why none was. */
  serviceStates(key: string, environment: string | null): readonly string[];
}

/** Services passed over in a slice as one stream costs. */
const SERVICES_PER_STREAM = 16;

type Tallies<L extends string> = Record<L, CoverageTally>;

interface MetricTally {
  readonly metricName: string;
  readonly environment: string;
  streams: number;
  readonly layers: Tallies<StreamLayer> | null;
}

/** A slice as it is made. */
interface Slice {
  readonly query: CoverageQuery;
  readonly layers: Tallies<CoverageLayer>;
  lookedAt: number;
  streams: number;
  readonly services: Map<string, number>;
  readonly metrics: Map<string, MetricTally>;
  readonly attributes: Map<string, { streams: number; readonly values: Set<number> }>;
}

/** The scan of one engine: one question at a time. */
export class CoverageScan {
  readonly #dependencies: CoverageScanDependencies;
  #scan = -1;
  #rest: Iterator<readonly [string, readonly number[]]> = [][Symbol.iterator]();
  #service: { readonly key: string; readonly serviceId: string; readonly slots: readonly number[] } | undefined;
  #next = 0;
  /** Streams of the service at hand that match. */
  #matched = 0;

  constructor(dependencies: CoverageScanDependencies) {
    this.#dependencies = dependencies;
  }

  answer(query: CoverageQuery): CoverageAnswer {
    if (query.scan !== this.#scan) this.#begin(query);
    const slice: Slice = {
      query,
      layers: tallies(COVERAGE_LAYERS),
      lookedAt: 0,
      streams: 0,
      services: new Map(),
      metrics: new Map(),
      attributes: new Map(),
    };
    const most = Math.min(query.most, COVERAGE_STREAMS_PER_SLICE);
    let budget = COVERAGE_STREAMS_PER_SLICE * SERVICES_PER_STREAM;
    let isAtEnd = false;
    while (slice.lookedAt < most && budget-- > 0 && !isAtEnd) {
      if (this.#service === undefined) isAtEnd = !this.#advance();
      else this.#inspect(slice, most);
    }
    return answerOf(slice, isAtEnd);
  }

  #begin({ scan, tenant, serviceId }: CoverageQuery): void {
    const { services } = this.#dependencies;
    services.catchUp(Number.POSITIVE_INFINITY);
    const own = services.servicesOf(tenant);
    const key = serviceId === null ? "" : serviceKey(tenant, serviceId);
    this.#scan = scan;
    this.#rest = serviceId === null ? own.entries() : ([[key, own.get(key) ?? []]] as const)[Symbol.iterator]();
    this.#service = undefined;
  }

  /** Takes the next service, if it has streams; false at the end. */
  #advance(): boolean {
    const step = this.#rest.next();
    if (step.done === true) return false;
    const [key, slots] = step.value;
    if (slots.length === 0) return true;
    const [, serviceId] = JSON.parse(key) as [string, string];
    this.#service = { key, serviceId, slots };
    this.#next = 0;
    this.#matched = 0;
    return true;
  }

  #inspect(slice: Slice, most: number): void {
    const service = this.#service;
    if (service === undefined) return;
    const { environment } = slice.query;
    let matched = 0;
    for (; this.#next < service.slots.length && slice.lookedAt < most; slice.lookedAt++) {
      const slot = service.slots[this.#next++] as number;
      const name = this.#dependencies.nameOf(slot);
      if (environment !== null && name.environment !== environment) continue;
      matched++;
      this.#count(slice, slot, name);
    }
    this.#matched += matched;
    slice.streams += matched;
    if (matched > 0) slice.services.set(service.serviceId, matched);
    if (this.#next < service.slots.length) return;
    this.#service = undefined;
    if (this.#matched === 0) return;
    for (const state of this.#dependencies.serviceStates(service.key, environment)) slice.layers.isolation_forest.count(state);
  }

  #count(slice: Slice, slot: number, { metricName, environment, attributes }: StreamName): void {
    const ofService = slice.query.serviceId !== null;
    const key = ofService ? JSON.stringify([metricName, environment]) : metricName;
    let metric = slice.metrics.get(key);
    if (metric === undefined) {
      metric = { metricName, environment: ofService ? environment : "", streams: 0, layers: ofService ? tallies(STREAM_LAYERS) : null };
      slice.metrics.set(key, metric);
    }
    metric.streams++;
    for (const layer of STREAM_LAYERS) {
      const state = this.#stateOf(layer, slot);
      slice.layers[layer].count(state);
      metric.layers?.[layer].count(state);
    }
    for (const [attribute, value] of Object.entries(attributes)) {
      let known = slice.attributes.get(attribute);
      if (known === undefined) {
        known = { streams: 0, values: new Set() };
        slice.attributes.set(attribute, known);
      }
      known.streams++;
      known.values.add(hashOfValue(typeof value === "string" ? value : JSON.stringify(value)));
    }
  }

  #stateOf(layer: StreamLayer, slot: number): string {
    const { records, samplesMin, streamState } = this.#dependencies;
    if (records.profile(slot) === PROFILE_EXCLUDED && layer !== "saturation") return "excluded";
    const flags = records.flags(slot);
    if ((flags & FLAG_ENDED) !== 0) return "ended";
    if ((flags & FLAG_BUCKET) !== 0) return "histogram_bucket";
    if (layer === "statistical") return records.count(slot) < samplesMin ? LEARNING : EVALUATED;
    return streamState(layer === "adaptive" ? "pairs" : "saturation", slot);
  }
}

function tallies<const L extends string>(layers: readonly L[]): Tallies<L> {
  return Object.fromEntries(layers.map((layer) => [layer, new CoverageTally()])) as Tallies<L>;
}

function answerOf({ query, layers, lookedAt, streams, services, metrics, attributes }: Slice, done: boolean): CoverageAnswer {
  const plain = <L extends string>(of: Tallies<L>) =>
    Object.fromEntries(Object.entries<CoverageTally>(of).map(([layer, tally]) => [layer, tally.counts()])) as Record<
      L,
      ReturnType<CoverageTally["counts"]>
    >;
  return {
    type: "coverage",
    id: query.id,
    layers: plain(layers),
    lookedAt,
    streams,
    services: [...services],
    metrics: [...metrics.values()].map((metric) => ({ ...metric, layers: metric.layers === null ? null : plain(metric.layers) })),
    attributes: [...attributes].map(([key, known]) => [key, known.streams, Uint32Array.from(known.values)] as const),
    done,
  };
}
