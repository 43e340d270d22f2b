// Metadata of metrics as one engine knows them: what its own lane is told, and what the coordinator reports all lanes once it is stored. They decide
// whether series count where the suffix of their name says otherwise.
import { ShareLedger } from "../../core/base/share-ledger.ts";
import { METADATA_TYPE_HOLD_MS, METRIC_METADATA_MAX } from "../../core/config/metric-limits.ts";
import { FLAG_COUNTER } from "../../core/layout/stream-record.ts";
import { flagsOfSeries } from "./classification.ts";
import { countsByType, type MetricMetadata, type MetricType, metadataNames, seriesOfMetadata } from "./metric-metadata.ts";

/** A series name whose kind metadata put right. */
export interface CorrectedKind {
  readonly tenant: string;
  readonly seriesName: string;
  readonly counts: boolean;
}

interface Known {
  readonly metadata: MetricMetadata;
  /** When its type was told for the first time. */
  readonly typeSinceMs: number;
}

/** Outcome for metadata: `new` ones are to be stored. */
export type Learned = "known" | "new" | "no-room";

const keyOf = (tenant: string, name: string) => `${tenant}\0${name}`;

/** One engine's book; bounded by METRIC_METADATA_MAX over all tenants. */
export class MetadataBook {
  readonly #shares: ShareLedger;
  readonly #metrics = new Map<string, Known>();
  readonly #kinds = new Map<string, CorrectedKind>();
  /** Keys of metrics learned since the last ones were known to be logged. */
  #unsaved: string[] = [];
  /** Counts up with each change of corrected kinds. */
  #version = 0;

  /** `shares` say who holds how many; without them there is one tenant. */
  constructor(shares = ShareLedger.alone(METRIC_METADATA_MAX)) {
    this.#shares = shares;
  }

  /** Changes when `correctedKinds` do. */
  get version(): number {
    return this.#version;
  }

  get correctedKinds(): Iterable<CorrectedKind> {
    return this.#kinds.values();
  }

  /** Takes what a sender tells. Senders that contradict each other would restart series for ever: a type stays for METADATA_TYPE_HOLD_MS. */
  learn(reported: MetricMetadata, nowMs: number): Learned {
    const key = keyOf(reported.tenant, reported.metricName);
    const known = this.#metrics.get(key);
    if (known === undefined && this.#shares.room(reported.tenant) < 1) {
      this.#shares.refuse(reported.tenant);
      return "no-room";
    }
    const holds = known !== undefined && known.metadata.type !== reported.type && nowMs - known.typeSinceMs < METADATA_TYPE_HOLD_MS;
    const metadata = holds ? { ...reported, type: known.metadata.type } : reported;
    if (known !== undefined && isSame(known.metadata, metadata)) return "known";
    this.#put(metadata, known?.metadata.type === metadata.type ? known.typeSinceMs : nowMs);
    this.#unsaved.push(key);
    return "new";
  }

  /** Takes what is stored. */
  take(stored: Iterable<MetricMetadata>): void {
    for (const metadata of stored) {
      const known = this.#metrics.get(keyOf(metadata.tenant, metadata.metricName));
      if (known === undefined || !isSame(known.metadata, metadata)) this.#put(metadata, 0);
    }
  }

  /** The metadata as they are known. */
  find(tenant: string, metricName: string): MetricMetadata | undefined {
    return this.#metrics.get(keyOf(tenant, metricName))?.metadata;
  }

  /** Notes that what was learned is in the log. */
  saved(): void {
    this.#unsaved = [];
  }

  /** Forgets what was learned since, which is not in the log: it will be reported again. */
  forgetUnsaved(): void {
    for (const key of this.#unsaved) {
      const forgotten = this.#metrics.get(key);
      if (this.#metrics.delete(key) && forgotten !== undefined) this.#shares.give(forgotten.metadata.tenant);
    }
    this.#unsaved = [];
  }

  /** Flags of a remote-write series: by the type that came with it, else by the metadata of its name. */
  flagsOf(tenant: string, seriesName: string, ownType: MetricType = "unknown"): number {
    const flags = flagsOfSeries(seriesName);
    if (ownType !== "unknown") {
      const counts = countsByType(seriesName, ownType) ?? (flags & FLAG_COUNTER) !== 0;
      return counts ? flags | FLAG_COUNTER : flags & ~FLAG_COUNTER;
    }
    const corrected = this.#kinds.get(keyOf(tenant, seriesName));
    if (corrected === undefined) return flags;
    return corrected.counts ? flags | FLAG_COUNTER : flags & ~FLAG_COUNTER;
  }

  #put(metadata: MetricMetadata, typeSinceMs: number): void {
    const key = keyOf(metadata.tenant, metadata.metricName);
    const before = this.#metrics.get(key)?.metadata;
    if (before === undefined) this.#shares.add(metadata.tenant);
    this.#metrics.set(key, { metadata, typeSinceMs });
    const touched = [...(before === undefined ? [] : seriesOfMetadata(before)), ...seriesOfMetadata(metadata)];
    for (const [seriesName] of touched) this.#judge(metadata.tenant, seriesName);
  }

  #judge(tenant: string, seriesName: string): void {
    const key = keyOf(tenant, seriesName);
    const counts = this.#countsByMetadata(tenant, seriesName);
    const guess = (flagsOfSeries(seriesName) & FLAG_COUNTER) !== 0;
    const before = this.#kinds.get(key)?.counts;
    const after = counts === guess ? undefined : counts;
    if (before === after) return;
    if (after === undefined) this.#kinds.delete(key);
    else this.#kinds.set(key, { tenant, seriesName, counts: after });
    this.#version++;
  }

  #countsByMetadata(tenant: string, seriesName: string): boolean | undefined {
    for (const name of metadataNames(seriesName)) {
      const metadata = this.find(tenant, name);
      if (metadata === undefined) continue;
      if (name === seriesName) {
        const counts = countsByType(name, metadata.type);
        if (counts !== undefined) return counts;
      } else if (metadata.type === "gaugehistogram") return false;
    }
    return undefined;
  }
}

function isSame(a: MetricMetadata, b: MetricMetadata): boolean {
  return a.type === b.type && a.unit === b.unit && a.help === b.help;
}
