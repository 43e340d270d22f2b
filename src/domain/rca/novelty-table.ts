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
    const numbers = new Map<string, number>();
    const places = new Int32Array(series.length);
    // Of those that say something of their service; they are made anew each time that they are asked for.
    const pasts = new Array<Float32Array | undefined>(series.length);
    let windows = 0;
    for (let i = 0; i < series.length; i++) {
      const { serviceId, metricName, peer, departure } = series[i]!;
      // What a series says of one peer is said of that peer alone.
      if (peer !== null && peer !== serviceId) continue;
      const { ofHost, kind } = meaningOf(metricName);
      if (ofHost) continue;
      const service = numbers.get(serviceId) ?? numbers.size;
      if (service === numbers.size) numbers.set(serviceId, service);
      // What callers wait for a peer is all that is known of its own times.
      places[i] = service * KINDS.length + KIND_NUMBERS[peer === serviceId ? "latency" : kind];
      const { past } = departure;
      pasts[i] = past;
      if (past.length > windows) windows = past.length;
    }
    this.#numbers = numbers;
    this.services = [...numbers.keys()];
    this.windows = 1 + windows;
    this.#cells = new Float32Array(this.services.length * KINDS.length * this.windows).fill(Number.NaN);
    this.#leading = new Array(this.services.length * KINDS.length).fill(undefined);
    for (let i = 0; i < series.length; i++) if (pasts[i] !== undefined) this.#take(series[i]!, places[i]!, pasts[i]!);
    this.#removeAllCommon();
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

  #take(series: SeriesEvidence, cell: number, past: Float32Array): void {
    const { novelty, shift } = series.departure;
    const at = cell * this.windows;
    const cells = this.#cells;
    // The way that is bad is asked only of what might count.
    if (!(novelty <= cells[at]!)) {
      const { harm } = meaningOf(series.metricName);
      const now = harm !== 0 && Math.sign(shift) !== harm ? 0 : novelty;
      if (!(now <= cells[at]!)) {
        cells[at] = now;
        this.#leading[cell] = series;
      }
    }
    for (let i = 0; i < past.length; i++) if (!(past[i]! <= cells[at + 1 + i]!)) cells[at + 1 + i] = past[i]!;
  }

  #removeAllCommon(): void {
    const known = new Float64Array(this.services.length);
    for (let kind = 0; kind < KINDS.length; kind++) {
      for (let window = 0; window < this.windows; window++) this.#removeCommon(kind * this.windows + window, known);
    }
  }

  /** Subtracts the median of the services: what half of them have is of what they share: load, a deployment of all, the clock. `known` has room for all of them. */
  #removeCommon(first: number, known: Float64Array): void {
    const cells = this.#cells;
    const step = KINDS.length * this.windows;
    let count = 0;
    for (let at = first; at < cells.length; at += step) if (!Number.isNaN(cells[at]!)) known[count++] = cells[at]!;
    if (count < COMMON_SERVICES_MIN) return;
    const common = median(known.subarray(0, count));
    for (let at = first; at < cells.length; at += step) cells[at] = cells[at]! - common;
  }
}
