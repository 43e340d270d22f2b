// Novelty by service, kind of metric and window: the largest of the service's series of that kind. Window 0 is now, the others are those before.
// 200 services of 40 series with 24 windows: 8,000 x 25 numbers, about a millisecond.
import { median } from "../detection/robust.ts";
import type { SeriesEvidence } from "./evidence.ts";
import { type MetricKind, meaningOf } from "./metric-kind.ts";

export const KINDS: readonly MetricKind[] = [
  "cpu",
  "memory",
  "disk",
  "network",
  "pool",
  "latency",
  "errors",
  "dependency",
  "rate",
  "other",
];
const KIND_NUMBERS = Object.fromEntries(KINDS.map((kind, number) => [kind, number])) as Readonly<Record<MetricKind, number>>;
/** Below so many services with a kind, what most have is no common cause. */
const COMMON_SERVICES_MIN = 5;

/** Novelties of all services. */
export class NoveltyTable {
  readonly services: readonly string[];
  /** With now. */
  readonly windows: number;
  readonly #numbers: ReadonlyMap<string, number>;
  readonly #cells: Float32Array;
  /** The series that stands in each cell of now. */
  readonly #leading: Array<SeriesEvidence | undefined>;

  constructor(series: readonly SeriesEvidence[]) {
    // What a series says of one peer is said of that peer alone.
    const own = series.filter(({ metricName, serviceId, peer }) => !meaningOf(metricName).ofHost && (peer === null || peer === serviceId));
    this.services = [...new Set(own.map(({ serviceId }) => serviceId))];
    this.#numbers = new Map(this.services.map((serviceId, number) => [serviceId, number]));
    this.windows = 1 + own.reduce((most, { departure }) => Math.max(most, departure.past.length), 0);
    this.#cells = new Float32Array(this.services.length * KINDS.length * this.windows).fill(Number.NaN);
    this.#leading = new Array(this.services.length * KINDS.length).fill(undefined);
    for (const one of own) this.#take(one);
    for (let kind = 0; kind < KINDS.length; kind++) for (let window = 0; window < this.windows; window++) this.#removeCommon(kind, window);
  }

  numberOf(serviceId: string): number | undefined {
    return this.#numbers.get(serviceId);
  }

  /** 0 where nothing is known. */
  novelty(service: number, kind: MetricKind, window: number): number {
    const cell = this.#cells[(service * KINDS.length + KIND_NUMBERS[kind]) * this.windows + window]!;
    return cell > 0 ? cell : 0;
  }

  /** The series that departs most of its kind now. */
  leading(service: number, kind: MetricKind): SeriesEvidence | undefined {
    return this.#leading[service * KINDS.length + KIND_NUMBERS[kind]];
  }

  #take(series: SeriesEvidence): void {
    const { kind: named, harm } = meaningOf(series.metricName);
    // What callers wait for a peer is all that is known of its own times.
    const kind = series.peer === series.serviceId ? "latency" : named;
    const { novelty, shift, past } = series.departure;
    const cell = this.#numbers.get(series.serviceId)! * KINDS.length + KIND_NUMBERS[kind];
    const at = cell * this.windows;
    const cells = this.#cells;
    const now = harm !== 0 && Math.sign(shift) !== harm ? 0 : novelty;
    if (!(now <= cells[at]!)) {
      cells[at] = now;
      this.#leading[cell] = series;
    }
    for (let i = 0; i < past.length; i++) if (!(past[i]! <= cells[at + 1 + i]!)) cells[at + 1 + i] = past[i]!;
  }

  /** Subtracts the median of the services: what half of them have is of what they share: load, a deployment of all, the clock. */
  #removeCommon(kind: number, window: number): void {
    const places = this.services.map((_, service) => (service * KINDS.length + kind) * this.windows + window);
    const known = places.filter((at) => !Number.isNaN(this.#cells[at]!));
    if (known.length < COMMON_SERVICES_MIN) return;
    const common = median(known.map((at) => this.#cells[at]!));
    for (const at of known) this.#cells[at] = this.#cells[at]! - common;
  }
}
