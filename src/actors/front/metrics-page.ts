// `GET /metrics`: what the contract names (section 4.1 rule 3) and what an operator of the engine watches. Registered once; values are read from shared
// counters when the page is asked for, and no thread is asked.
// Durations of requests by endpoint, from headers read to answer given. Written and read by the front alone.
import type { HistogramReading, MetricsRegistry, Reading } from "../../adapters/telemetry/metrics-registry.ts";
import { endpointNamed } from "../../api/endpoints.ts";
import { COORDINATOR_LIMITS } from "../../core/config/shared-limits.ts";
import type { SharedLimit } from "../../core/fairness/share-ledger.ts";
import {
  BATCH_BOUNDS,
  COORDINATOR_COUNTERS,
  COORDINATOR_SHARED_LIMITS,
  type CoordinatorCounter,
  ENGINE_SHARED_LIMITS,
  ENGINE_STAGES,
  LATENCY_BOUNDS_SECONDS,
  LATENCY_SLOTS,
  observeLatency,
  RECORD_TYPES,
  SLOT_ACCEPTED,
  SLOT_BATCH,
  SLOT_COORDINATOR_PLACES,
  SLOT_COORDINATOR_SHARES,
  SLOT_ENGINE_SHARES,
  SLOT_LATENCY,
  SLOT_NOTIFY_LATENCY,
  SLOT_REASONS,
  SLOT_REJECTED,
  SLOT_STAGES,
  SLOT_TURN,
  VALIDATION_REASONS,
} from "../../core/layout/counters.ts";
import { COORDINATOR_METRICS } from "../../core/telemetry/coordinator-metrics.ts";
import { ENGINE_METRICS } from "../../core/telemetry/engine-metrics.ts";
import { CONTRACT_METRICS, FRONT_METRICS, type FrontMetric, HISTOGRAMS, LABELLED_METRICS } from "../../core/telemetry/front-metrics.ts";
import { type Labels, type Metric, partsOf, type SlotMetric } from "../../core/telemetry/metric.ts";
import type { RefusedBodies } from "./refused-bodies.ts";

/** In place of an endpoint's name: what no endpoint matches. */
export const UNMATCHED = "unmatched";

/** Sources of the page: all of it is read again for each page. */
export interface MetricsSources {
  readonly build: { readonly version: string; readonly node_version: string };
  readonly engines: ReadonlyArray<Float64Array>;
  readonly coordinator: Float64Array;
  /** Detections whose events have left, as EventStreams counts them. */
  readonly streamed: Float64Array;
  readonly requests: RequestHistogram;
  readonly refusedBodies: RefusedBodies;
  /** Values of the front and the process; null for what this server has none of. */
  readonly front: { readonly [N in FrontMetric]: () => number | null };
  /** Requests answered 429, by the plan of their tenant, or "key". */
  readonly limited: ReadonlyMap<string, number>;
  /** Places of limits that tenants share in the front which were refused. */
  readonly sharesRefused: ReadonlyArray<{ readonly limit: string; readonly read: () => number }>;
  /** Those in use there, and how many there are. */
  readonly sharesTaken: ReadonlyArray<{ readonly limit: string; readonly most: number; readonly read: () => number }>;
  /** Fill of each engine's body ring and bodies waiting. */
  readonly ports: ReadonlyArray<{ readonly ringFill: number; readonly waiting: number }>;
  /** Faults by where they are at home. */
  readonly faults: ReadonlyMap<string, number>;
  /** Lines of the own log by level, and those left out by reason. */
  readonly log: { readonly written: ReadonlyMap<string, number>; readonly dropped: ReadonlyMap<string, number> };
}

/** Registers all metrics, in the order of the page. */
export function registerMetrics(registry: MetricsRegistry, sources: MetricsSources): void {
  registerContract(registry, sources);
  registerSlots(registry, ENGINE_METRICS, (index, metric) => engineReadings(sources, index, metric));
  registerPorts(registry, sources);
  registerSlots(registry, COORDINATOR_METRICS, (index) => [{ labels: {}, read: () => sources.coordinator[index] as number }]);
  registerStoreFill(registry, sources);
  const notifyLatency = sources.coordinator.subarray(SLOT_NOTIFY_LATENCY, SLOT_NOTIFY_LATENCY + LATENCY_BOUNDS_SECONDS.length + 2);
  const turns = sources.coordinator.subarray(SLOT_TURN, SLOT_TURN + LATENCY_BOUNDS_SECONDS.length + 2);
  registry.addHistogram(HISTOGRAMS.detectionStage, () => stageReadings(sources));
  registry.addHistogram(HISTOGRAMS.coordinatorTurn, () => [{ labels: {}, bounds: LATENCY_BOUNDS_SECONDS, slots: turns }]);
  registry.addHistogram(HISTOGRAMS.notifyLatency, () => [{ labels: {}, bounds: LATENCY_BOUNDS_SECONDS, slots: notifyLatency }]);
  for (const [name, read] of Object.entries(sources.front)) registry.add(FRONT_METRICS[name as FrontMetric], [{ labels: {}, read }]);
  registry.add(LABELLED_METRICS.rateLimited, countReadings("by", sources.limited));
  registry.add(LABELLED_METRICS.sharesRefused, refusedPlaces(sources));
  registry.add(LABELLED_METRICS.sharedPlaces, takenPlaces(sources));
  registry.add(LABELLED_METRICS.sharedPlacesMax, mostPlaces(sources));
  registry.add(LABELLED_METRICS.faults, countReadings("where", sources.faults));
  registry.add(LABELLED_METRICS.logLines, countReadings("level", sources.log.written));
  registry.add(LABELLED_METRICS.logLinesDropped, countReadings("reason", sources.log.dropped));
  registry.add(LABELLED_METRICS.buildInfo, [{ labels: { ...sources.build }, read: () => 1 }]);
  registry.addDefaults();
}

/** One reading for each key of a count, which has all of its keys from the start. */
function countReadings(label: string, counts: ReadonlyMap<string, number>): Reading[] {
  return [...counts.keys()].map((key) => ({ labels: { [label]: key }, read: () => counts.get(key) as number }));
}

/** Registers the metrics of a table of slots: values of one metric may lie in several slots. */
function registerSlots(
  registry: MetricsRegistry,
  slots: Readonly<Record<string, SlotMetric>>,
  read: (index: number, metric: Metric) => readonly Reading[],
): void {
  const readings = new Map<Metric, Reading[]>();
  for (const [index, slot] of Object.values(slots).entries()) {
    for (const { metric, labels } of partsOf(slot)) {
      const known = readings.get(metric) ?? [];
      known.push(...read(index, metric).map((one) => ({ ...one, labels: { ...labels, ...one.labels } })));
      readings.set(metric, known);
    }
  }
  for (const [metric, values] of readings) registry.add(metric, values);
}

/** Readings of each engine, or of all together where the metric does not tell engines apart. */
function engineReadings({ engines }: MetricsSources, index: number, metric: Metric): Reading[] {
  if (!metric.labels.includes("engine")) return [{ labels: {}, read: () => sumOf(engines, index) }];
  return engines.map((slots, engine) => ({ labels: { engine: String(engine) }, read: () => slots[index] as number }));
}

function sumOf(engines: MetricsSources["engines"], slot: number): number {
  let sum = 0;
  for (const slots of engines) sum += slots[slot] as number;
  return sum;
}

function registerContract(registry: MetricsRegistry, sources: MetricsSources): void {
  const { engines, refusedBodies, requests, coordinator } = sources;
  const events = RECORD_TYPES.flatMap((type, index): Reading[] => [
    { labels: { type, status: "accepted" }, read: () => sumOf(engines, SLOT_ACCEPTED + index) },
    { labels: { type, status: "rejected" }, read: () => sumOf(engines, SLOT_REJECTED + index) },
  ]);
  const reasons = VALIDATION_REASONS.map((reason, index): Reading => {
    return { labels: { reason }, read: () => sumOf(engines, SLOT_REASONS + index) + refusedBodies.of(reason) };
  });
  const none: Labels = {};
  const batch = Array.from({ length: BATCH_BOUNDS.length + 2 }, (_, index) => SLOT_BATCH + index);
  const latency = coordinator.subarray(SLOT_LATENCY, SLOT_LATENCY + LATENCY_BOUNDS_SECONDS.length + 2);
  registry.add(CONTRACT_METRICS.events, events);
  registry.addHistogram(CONTRACT_METRICS.batchSize, () => [
    { labels: none, bounds: BATCH_BOUNDS, slots: batch.map((slot) => sumOf(engines, slot)) },
  ]);
  registry.add(CONTRACT_METRICS.validationFailures, reasons);
  registry.addHistogram(CONTRACT_METRICS.requestSeconds, requestReadings(requests));
  registry.addHistogram(CONTRACT_METRICS.detectionLatency, () => [{ labels: none, bounds: LATENCY_BOUNDS_SECONDS, slots: latency }]);
}

/** Stages of detections; the coordinator's is the contract's latency. */
function stageReadings({ engines, coordinator, streamed }: MetricsSources): HistogramReading[] {
  const ofEngines = ENGINE_STAGES.map((stage, at) => {
    const from = SLOT_STAGES + at * LATENCY_SLOTS;
    const slots = Array.from({ length: LATENCY_SLOTS - 1 }, (_, slot) => sumOf(engines, from + slot));
    return { labels: { stage }, bounds: LATENCY_BOUNDS_SECONDS, slots };
  });
  const committed = coordinator.subarray(SLOT_LATENCY, SLOT_LATENCY + LATENCY_SLOTS - 1);
  return [
    ...ofEngines,
    { labels: { stage: "committed" }, bounds: LATENCY_BOUNDS_SECONDS, slots: committed },
    { labels: { stage: "streamed" }, bounds: LATENCY_BOUNDS_SECONDS, slots: streamed.subarray(0, LATENCY_SLOTS - 1) },
  ];
}

/** Durations by the path that a client calls; methods of one path are one series. */
function requestReadings(requests: RequestHistogram): () => HistogramReading[] {
  const labelsOf = new Map<string, Labels>();
  return () => {
    const paths = new Map<string, Float64Array>();
    for (const [name, slots] of requests.entries()) {
      const path = name === UNMATCHED ? UNMATCHED : endpointNamed(name).path;
      const sum = paths.get(path);
      if (sum === undefined) paths.set(path, slots.slice());
      else for (let slot = 0; slot < sum.length; slot++) sum[slot] = (sum[slot] as number) + (slots[slot] as number);
    }
    return [...paths].map(([endpoint, slots]) => {
      const labels = labelsOf.get(endpoint) ?? { endpoint };
      labelsOf.set(endpoint, labels);
      return { labels, bounds: LATENCY_BOUNDS_SECONDS, slots };
    });
  };
}

function registerPorts(registry: MetricsRegistry, { ports }: MetricsSources): void {
  const readings = (read: (port: MetricsSources["ports"][number]) => number) =>
    ports.map((port, engine): Reading => ({ labels: { engine: String(engine) }, read: () => read(port) }));
  registry.add(
    LABELLED_METRICS.ringFill,
    readings((port) => port.ringFill),
  );
  registry.add(
    LABELLED_METRICS.bodiesWaiting,
    readings((port) => port.waiting),
  );
}

/** Registers the fill of the stores that are open. */
function registerStoreFill(registry: MetricsRegistry, { coordinator }: MetricsSources): void {
  const slot = (counter: CoordinatorCounter) => coordinator[COORDINATOR_COUNTERS.indexOf(counter)] as number;
  const readings = (["series", "control"] as const).map((store): Reading => {
    const fill = () => (slot(`${store}MapBytes`) > 0 ? slot(`${store}UsedBytes`) / slot(`${store}MapBytes`) : null);
    return { labels: { store }, read: fill };
  });
  registry.add(LABELLED_METRICS.storeFill, readings);
}

/** By limit: those of all engines, of the coordinator, and of the front. */
function refusedPlaces({ engines, coordinator, sharesRefused }: MetricsSources): Reading[] {
  return [
    ...ENGINE_SHARED_LIMITS.map((limit, index) => ({ labels: { limit }, read: () => sumOf(engines, SLOT_ENGINE_SHARES + index) })),
    ...COORDINATOR_SHARED_LIMITS.map((limit, index) => ({
      labels: { limit },
      read: () => coordinator[SLOT_COORDINATOR_SHARES + index] as number,
    })),
    ...sharesRefused.map(({ limit, read }) => ({ labels: { limit }, read })),
  ];
}

function takenPlaces({ coordinator, sharesTaken }: MetricsSources): Reading[] {
  return [
    ...COORDINATOR_SHARED_LIMITS.map((limit, index) => ({
      labels: { limit },
      read: () => coordinator[SLOT_COORDINATOR_PLACES + index] as number,
    })),
    ...sharesTaken.map(({ limit, read }) => ({ labels: { limit }, read })),
  ];
}

function mostPlaces({ sharesTaken }: MetricsSources): Reading[] {
  return [
    ...COORDINATOR_SHARED_LIMITS.map((limit) => ({ labels: { limit }, read: () => mostOf(COORDINATOR_LIMITS[limit]) })),
    ...sharesTaken.map(({ limit, most }) => ({ labels: { limit }, read: () => most })),
  ];
}

function mostOf(places: number | SharedLimit): number {
  return typeof places === "number" ? places : places.most;
}

/** Buckets of one endpoint: one per bound, +Inf, then sum and count. */
export class RequestHistogram {
  readonly #series = new Map<string, Float64Array>();

  /** Observes one request; endpoints are names of the endpoint table, or UNMATCHED, so their number is bounded. */
  observe(endpoint: string, seconds: number): void {
    const slots = this.#series.get(endpoint) ?? this.#begin(endpoint);
    observeLatency(slots, 0, seconds);
  }

  #begin(endpoint: string): Float64Array {
    const slots = new Float64Array(LATENCY_SLOTS);
    this.#series.set(endpoint, slots);
    return slots;
  }

  entries(): IterableIterator<[string, Float64Array]> {
    return this.#series.entries();
  }
}
