// Tells the coordinator what this engine holds of an incident: how far each series of a tenant has left what it was (domain/rca/departure.ts), and what its
// services logged, were asked and took by themselves by minute. One scan goes over the tenant's services in slices of about 0.2 ms, between bodies; an answer has
// twenty of them, since a message costs as much as 20 series.
// Sketch: 0.2 us a stream of which too little is known before the onset, 1 to 5 us one whose name is known, by its values, 15 us else; names of 20,000 streams are kept, 4 MB.
import { WINDOW_MAX } from "../../../core/layout/stream-record.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { EvidenceAnswer, EvidenceQuery, LineCounts, RequestCounts, RingValues } from "../../../core/protocol/evidence.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { EvidenceMinutes } from "../../../domain/logs/minute-counts.ts";
import { departureOf, isTooYoung } from "../../../domain/rca/departure.ts";
import { SeriesPacker } from "../../../domain/rca/evidence-packing.ts";
import { type MetricKind, meaningOf, peerOf } from "../../../domain/rca/metric-kind.ts";
import { type NamedOperations, operationMinutes, packOperation } from "../../../domain/rca/operation-packing.ts";
import { ringWindows } from "../../../domain/rca/ring-windows.ts";
import { packName } from "../../../domain/rca/series-names.ts";
import { instanceOf, nodeOf } from "../../../domain/series/instance-name.ts";
import { serviceIdOf } from "../../../domain/series/stream-identity.ts";
import type { OperationSums, OperationTimes } from "../../../domain/trace/operation-times.ts";
import type { ServiceName } from "../../../domain/window/window-message.ts";
import { MINUTES_RETAINED } from "../../../domain/window/window-time.ts";
import type { ServiceIndex } from "../streams/service-index.ts";

const STREAMS_PER_SLICE = 48;
/** 4 ms, and so long wait questions and cycles, which are not looked for between slices. */
const SLICES_PER_ANSWER_MAX = 20;
/** Beyond, all are forgotten with the next answer. */
const NAMES_RETAINED_MAX = 20_000;
const NOT_REPORTED = -1;
const INTERVALS_MEANT = 10;
/** Minutes before the onset that must have been counted. */
const MINUTES_BEFORE_MIN = 3;
/** Series that are counted another way: lines by their templates. */
const COUNTED_OTHERWISE = new Set(["log.template"]);
/** Fewer values say nothing of how two services move. */
const RING_VALUES_MIN = 24;
const REQUESTS = "service.requests";
const ERRORS = "service.errors";
const REQUESTS_MARK = Buffer.from(JSON.stringify(REQUESTS));
const ERRORS_MARK = Buffer.from(JSON.stringify(ERRORS));

export interface EvidenceScanDependencies {
  readonly kernel: ShardKernel;
  readonly services: ServiceIndex;
  readonly nameOf: (slot: number) => StreamName;
  readonly lines: (tenant: string, name: ServiceName, minutes: EvidenceMinutes) => LineCounts[];
  /** Operations of a service that are known by name. */
  readonly operationNames: (tenant: string, name: ServiceName) => string[];
  readonly times: Pick<OperationTimes, "of">;
  /** Whether bodies or rows wait for the engine. */
  isWaitedFor(): boolean;
  monotonicMs(): number;
}

/** Facts of a stream that follow from its name. */
interface KnownName {
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly peer: string | null;
  readonly packed: string;
  /** The number that it was told under. */
  number: number;
}

/** The service that is being looked at. */
interface ServiceAtHand {
  readonly serviceId: string;
  readonly slots: readonly number[];
  next: number;
  readonly requests: Map<number, number>;
  readonly errors: Map<number, number>;
  /** By kind the series that stands for it. */
  readonly preferred: Map<MetricKind, RingValues>;
  readonly callees: Set<string>;
}

/** A question that is not answered yet. */
interface Asked {
  readonly query: EvidenceQuery;
  readonly found: Found;
  readonly namesFrom: number;
  slices: number;
  streams: number;
  tookMs: number;
  done: boolean;
}

/** Contents of an answer. */
interface Found {
  readonly names: string[];
  readonly services: string[];
  readonly lines: LineCounts[];
  readonly requests: RequestCounts[];
  readonly rings: RingValues[];
  readonly callees: Array<readonly [caller: string, callee: string]>;
  readonly operations: string[];
  readonly operationNumbers: number[];
  readonly named: NamedOperations[];
}

/** The scan of one engine. */
export class EvidenceScan {
  readonly #dependencies: EvidenceScanDependencies;
  readonly #times = new Float64Array(WINDOW_MAX);
  readonly #values = new Float64Array(WINDOW_MAX);
  readonly #names = new Map<number, KnownName>();
  readonly #packer = new SeriesPacker();
  #reported = 0;
  #asked: Asked | undefined;
  #removals = 0;
  #scan = -1;
  #rest: Iterator<readonly [string, readonly number[]]> = [][Symbol.iterator]();
  #service: ServiceAtHand | undefined;
  readonly #operations: OperationSlices;

  constructor(dependencies: EvidenceScanDependencies) {
    this.#dependencies = dependencies;
    this.#operations = new OperationSlices(dependencies.times);
  }

  /** Takes a question: for the next slices of a scan, or, with a number that is not that of the scan under way, the first ones of a new one. */
  take(query: EvidenceQuery): void {
    if (this.#asked !== undefined) this.#packer.take(); // whoever asked has given up: what was found goes, and the names with it
    this.#forgetNames(query);
    if (query.scan !== this.#scan) this.#begin(query);
    this.#asked = { query, found: nothingFound(), namesFrom: this.#reported, slices: 0, streams: 0, tookMs: 0, done: false };
  }

  get isAsked(): boolean {
    return this.#asked !== undefined;
  }

  /** Does slices up to the first behind which something waits for the engine; the answer once it is long enough or the scan at its end. */
  step(): EvidenceAnswer | undefined {
    const asked = this.#asked;
    if (asked === undefined) return undefined;
    const { isWaitedFor, monotonicMs, services } = this.#dependencies;
    const startMs = monotonicMs();
    // Streams have gone since: their slots may be others', so the answer ends before any is looked at under a name that is not its own.
    if (asked.slices > 0 && services.removals !== this.#removals) asked.slices = SLICES_PER_ANSWER_MAX;
    while (asked.slices < SLICES_PER_ANSWER_MAX && !asked.done) {
      asked.streams += this.#takeSlice(asked.query, asked.found);
      asked.slices++;
      asked.done = this.#service === undefined && this.#operations.isDone;
      if (isWaitedFor()) break;
    }
    asked.tookMs += monotonicMs() - startMs;
    if (!asked.done && asked.slices < SLICES_PER_ANSWER_MAX) return undefined;
    this.#asked = undefined;
    return this.#answerOf(asked);
  }

  #answerOf({ query, found, namesFrom, streams, tookMs, done }: Asked): EvidenceAnswer {
    return {
      type: "evidence",
      id: query.id,
      ...found,
      namesFrom,
      numbers: this.#packer.take(),
      operationNumbers: new Float64Array(found.operationNumbers),
      streams,
      tookMs,
      done,
    };
  }

  /** Looks at so many streams, ends of services and operations; how many were streams. */
  #takeSlice(query: EvidenceQuery, found: Found): number {
    let streams = 0;
    let left = STREAMS_PER_SLICE;
    for (; left > 0 && this.#service !== undefined; left--) {
      const service = this.#service;
      if (service.next < service.slots.length) {
        this.#takeStream(service.slots[service.next++]!, service, query, found);
        streams++;
      } else {
        this.#endService(service, query, found);
        this.#service = this.#next(query);
      }
    }
    if (this.#service === undefined) this.#operations.take(left, query, found);
    return streams;
  }

  #takeStream(slot: number, service: ServiceAtHand, query: EvidenceQuery, found: Found): void {
    if (query.wants === "rings") this.#prefer(slot, service, query);
    else if (query.wants === "callees") this.#addCallee(slot, service, query);
    else this.#inspect(slot, service, query, found);
  }

  #endService(service: ServiceAtHand, query: EvidenceQuery, found: Found): void {
    if (query.wants === "rings") found.rings.push(...service.preferred.values());
    else if (query.wants === "callees") {
      found.services.push(service.serviceId);
      for (const callee of service.callees) found.callees.push([service.serviceId, callee]);
    } else this.#finish(service, query, found);
  }

  /** Where streams have gone, whose slots others may have, where there are too many, and where whoever asks knows others than were told. */
  #forgetNames({ namesKnown }: EvidenceQuery): void {
    const { removals } = this.#dependencies.services;
    if (removals === this.#removals && namesKnown === this.#reported && this.#names.size < NAMES_RETAINED_MAX) return;
    this.#removals = removals;
    this.#reported = 0;
    this.#names.clear();
  }

  #begin(query: EvidenceQuery): void {
    this.#scan = query.scan;
    this.#rest = this.#dependencies.services.servicesOf(query.tenant).entries();
    this.#service = this.#next(query);
    this.#operations.begin(query);
  }

  #next({ services }: EvidenceQuery): ServiceAtHand | undefined {
    for (let step = this.#rest.next(); !step.done; step = this.#rest.next()) {
      const [key, slots] = step.value;
      if (slots.length === 0) continue;
      const serviceId = serviceIdOf(key);
      if (services !== null && !services.includes(serviceId)) continue;
      return { serviceId, slots, next: 0, requests: new Map(), errors: new Map(), preferred: new Map(), callees: new Set() };
    }
    return undefined;
  }

  #inspect(slot: number, service: ServiceAtHand, query: EvidenceQuery, found: Found): void {
    const { records } = this.#dependencies.kernel;
    if (records.lastTimeMs(slot) < query.onsetMs) return;
    // Of most series on a young system, and of one whose ring has forgotten the onset, nothing is to be found: neither name nor values are read.
    const isYoung = isTooYoung(records.countBefore(slot, query.onsetMs));
    if (isYoung && !this.#isCounted(slot)) return;
    const name = this.#name(slot);
    if (name.environment !== query.environment || COUNTED_OTHERWISE.has(name.metricName)) return;
    const count = records.readRing(slot, this.#times, this.#values);
    if (name.metricName === REQUESTS) this.#byMinute(count, service.requests);
    if (name.metricName === ERRORS) this.#byMinute(count, service.errors);
    if (isYoung) return;
    const cut = ringWindows(this.#times, this.#values, count, query);
    const departure = cut === undefined ? undefined : departureOf(cut, retainedFloats);
    if (cut === undefined || departure === undefined) return;
    if (name.number === NOT_REPORTED) {
      name.number = this.#reported++;
      found.names.push(name.packed);
    }
    const onsetMs = this.#times[cut.start + departure.onsetAt]!;
    this.#packer.add({ name: name.number, departure, onsetMs, intervalMs: lastInterval(this.#times, count) });
  }

  /** Whether a stream counts a service's requests or errors, told without making its name. */
  #isCounted(slot: number): boolean {
    const known = this.#names.get(slot);
    if (known !== undefined) return known.metricName === REQUESTS || known.metricName === ERRORS;
    const { services } = this.#dependencies;
    return services.isMetricMarked(slot, REQUESTS_MARK) || services.isMetricMarked(slot, ERRORS_MARK);
  }

  /** Notes whom a series of calls that still comes names. */
  #addCallee(slot: number, { callees }: ServiceAtHand, { environment, onsetMs }: EvidenceQuery): void {
    const { peer, environment: own } = this.#name(slot);
    if (peer !== null && own === environment && this.#dependencies.kernel.records.lastTimeMs(slot) >= onsetMs) callees.add(peer);
  }

  /** Lets the series of latency, and of requests, with the most values stand for its service; of several, the first by name. */
  #prefer(slot: number, { preferred }: ServiceAtHand, { environment }: EvidenceQuery): void {
    const { records } = this.#dependencies.kernel;
    const name = this.#name(slot);
    const { kind } = meaningOf(name.metricName);
    if (name.environment !== environment || (kind !== "latency" && kind !== "rate") || COUNTED_OTHERWISE.has(name.metricName)) return;
    const count = records.count(slot);
    const known = preferred.get(kind);
    if (
      count < RING_VALUES_MIN ||
      (known !== undefined && (known.times.length > count || (known.times.length === count && known.metricName <= name.metricName)))
    )
      return;
    records.readRing(slot, this.#times, this.#values);
    const { serviceId, metricName } = name;
    preferred.set(kind, { serviceId, metricName, times: this.#times.slice(0, count), values: this.#values.slice(0, count) });
  }

  #name(slot: number): KnownName {
    const known = this.#names.get(slot);
    if (known !== undefined) return known;
    const { environment, serviceId, metricName, attributes } = this.#dependencies.nameOf(slot);
    const of = { instance: instanceOf(attributes), node: nodeOf(attributes), peer: peerOf(metricName, attributes) };
    const packed = packName({ serviceId, metricName, ...of });
    const name = { environment, serviceId, metricName, peer: of.peer, packed, number: NOT_REPORTED };
    this.#names.set(slot, name);
    return name;
  }

  /** Values stand under the end of their window. */
  #byMinute(count: number, sums: Map<number, number>): void {
    for (let i = 0; i < count; i++) {
      const minute = Math.floor((this.#times[i]! - 1) / MINUTE_MS);
      sums.set(minute, (sums.get(minute) ?? 0) + this.#values[i]!);
    }
  }

  #finish(service: ServiceAtHand, query: EvidenceQuery, found: Found): void {
    const { tenant, environment, onsetMs, untilMs } = query;
    found.services.push(service.serviceId);
    const onset = Math.floor(onsetMs / MINUTE_MS);
    const minutes = { from: onset - MINUTES_RETAINED + 5, onset, until: Math.floor(untilMs / MINUTE_MS), least: MINUTES_BEFORE_MIN };
    const name = { tenant, environment, serviceId: service.serviceId };
    const lines = this.#dependencies.lines(tenant, name, minutes);
    found.lines.push(...lines);
    const names = this.#dependencies.operationNames(tenant, name);
    if (names.length > 0) found.named.push({ serviceId: service.serviceId, names });
    if (service.requests.size === 0) return;
    const windows = lines[0]?.past.length ?? minutes.onset - minutes.from;
    const past = (sums: Map<number, number>) => Array.from({ length: windows }, (_, i) => sums.get(onset - windows + i) ?? 0);
    const now = (sums: Map<number, number>) => [...sums].reduce((sum, [minute, count]) => (minute >= onset ? sum + count : sum), 0);
    const { requests, errors } = service;
    found.requests.push({
      serviceId: service.serviceId,
      pastRequests: past(requests),
      pastErrors: past(errors),
      requests: now(requests),
      errors: now(errors),
    });
  }
}

function nothingFound(): Found {
  return { names: [], services: [], lines: [], requests: [], rings: [], callees: [], operations: [], operationNumbers: [], named: [] };
}

/** Arrays by length for the past of a departure, which is packed before the next one is made. */
const RETAINED_FLOATS: Float32Array[] = [];

function retainedFloats(length: number): Float32Array {
  RETAINED_FLOATS[length] ??= new Float32Array(length);
  return RETAINED_FLOATS[length];
}

/** Mean interval of the last values. */
function lastInterval(times: Float64Array, count: number): number {
  const from = Math.max(0, count - 1 - INTERVALS_MEANT);
  return from === count - 1 ? 0 : (times[count - 1]! - times[from]!) / (count - 1 - from);
}

// The part of an evidence scan behind its services: what operations took by themselves, of the traces that this engine joins. About 2 us an operation.

/** Findings of a slice. */
interface FoundOperations {
  readonly operations: string[];
  readonly operationNumbers: number[];
}

class OperationSlices {
  readonly #times: Pick<OperationTimes, "of">;
  #rest: Iterator<OperationSums> | undefined;

  constructor(times: Pick<OperationTimes, "of">) {
    this.#times = times;
  }

  begin(query: EvidenceQuery): void {
    const { tenant, environment, wants } = query;
    this.#rest = wants === "departures" ? this.#times.of(tenant, environment, operationMinutes(query)) : undefined;
  }

  get isDone(): boolean {
    return this.#rest === undefined;
  }

  /** Takes so many operations; those of services that were not asked for are passed over. */
  take(count: number, { services }: EvidenceQuery, found: FoundOperations): void {
    for (let left = count; left > 0; left--) {
      const step = this.#rest?.next();
      if (step === undefined || step.done === true) {
        this.#rest = undefined;
        return;
      }
      const { name, hash, sums } = step.value;
      if (services !== null && !services.includes(name.serviceId)) continue;
      found.operations.push(name.serviceId);
      packOperation({ hash, sums }, found.operationNumbers);
    }
  }
}
