// Metadata of metrics as one engine knows them: what its own ingest is told, and what the coordinator reports all engines once it is stored. They decide
// whether series count where the suffix of their name says otherwise. A metric has the type that was told of it first; of a sender that contradicts it the type is
// kept apart (sender-types.ts), and counts for that sender's series.
import { METADATA_TYPE_HOLD_MS, METRIC_METADATA_MAX } from "../../core/config/metric-limits.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { FLAG_COUNTER, FLAG_GUESSED } from "../../core/layout/stream-record.ts";
import { flagsOfSeries } from "./classification.ts";
import {
  countsByType,
  type MetricMetadata,
  type MetricType,
  metadataNames,
  metricKey,
  saysOtherwise,
  seriesOfMetadata,
  typeByFamily,
} from "./metric-metadata.ts";
import { SenderTypes } from "./sender-types.ts";

/** A series name whose kind metadata put right. */
export interface CorrectedKind {
  readonly tenant: string;
  readonly seriesName: string;
  readonly counts: boolean;
  /** Senders contradict each other: who sends the series is to be asked about. */
  readonly isContested: boolean;
}

interface Known {
  readonly metadata: MetricMetadata;
  /** When its type was told for the first time. */
  readonly typeSinceMs: number;
  /** The one sender that has told the type; NOT_ONE where there are several, or it is not known who. */
  readonly teller: number;
}

/** Outcome for metadata: `new` ones are to be stored. */
export type Learned = "known" | "new" | "no-room";

const NOT_ONE = 0;
const BUCKET = "_bucket";

/** One engine's book; bounded by METRIC_METADATA_MAX over all tenants. */
export class MetadataBook {
  readonly #shares: ShareLedger;
  readonly #metrics = new Map<string, Known>();
  readonly #senders = new SenderTypes();
  readonly #kinds = new Map<string, CorrectedKind>();
  /** What was learned since the last of it was known to be logged. */
  #unsaved: MetricMetadata[] = [];
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

  /** Takes what a sender tells. Senders that contradict each other would restart series for ever: a type stays for METADATA_TYPE_HOLD_MS, and of senders that are known each has its own. */
  learn(reported: MetricMetadata, nowMs: number): Learned {
    const { tenant, metricName, type, unit, help, sender } = reported;
    const known = this.#metrics.get(metricKey(tenant, metricName));
    if (sender !== undefined && known !== undefined && this.#contradicts(reported, sender, known))
      return this.#learnOfSender(reported, sender, known, nowMs);
    return this.#learnOfAll({ tenant, metricName, type, unit, help }, sender ?? NOT_ONE, known, nowMs);
  }

  /** Takes what is stored. */
  take(stored: Iterable<MetricMetadata>): void {
    for (const metadata of stored) {
      if (metadata.sender !== undefined) {
        if (this.#senders.find(metadata.tenant, metadata.metricName, metadata.sender) === undefined) this.#shares.add(metadata.tenant);
        if (this.#senders.take(metadata)) this.#judgeContested(metadata);
        continue;
      }
      const known = this.#metrics.get(metricKey(metadata.tenant, metadata.metricName));
      if (known === undefined || !isSame(known.metadata, metadata)) this.#put({ metadata, typeSinceMs: 0, teller: NOT_ONE });
    }
  }

  /** The metadata as they are known; those of a sender that contradicts others are its own. */
  find(tenant: string, metricName: string, sender?: number): MetricMetadata | undefined {
    const own = sender === undefined ? undefined : this.#senders.find(tenant, metricName, sender);
    return own ?? this.#metrics.get(metricKey(tenant, metricName))?.metadata;
  }

  /** Notes that what was learned is in the log. */
  saved(): void {
    this.#unsaved = [];
  }

  /** Forgets what was learned since, which is not in the log: it will be reported again. */
  forgetUnsaved(): void {
    for (const { tenant, metricName, sender } of this.#unsaved) {
      const wasKnown =
        sender === undefined ? this.#metrics.delete(metricKey(tenant, metricName)) : this.#senders.forget({ tenant, metricName, sender });
      if (wasKnown) this.#shares.give(tenant);
    }
    this.#unsaved = [];
  }

  /** Flags of a remote-write series: by the type that came with it, else by the metadata of its name, of those who send it first. */
  flagsOf(tenant: string, seriesName: string, ownType: MetricType = "unknown", sender = NOT_ONE): number {
    const flags = flagsOfSeries(seriesName);
    if (ownType !== "unknown") return withKind(flags, countsByType(seriesName, ownType) ?? (flags & FLAG_COUNTER) !== 0);
    const corrected = this.#kinds.get(metricKey(tenant, seriesName));
    if (corrected === undefined) return flags;
    if (!corrected.isContested) return withKind(flags, corrected.counts);
    if (namesOfType(seriesName).some((name) => this.#senders.find(tenant, name, sender)?.type === "unknown"))
      return flags | FLAG_COUNTER | FLAG_GUESSED;
    const type = typeByFamily(seriesName, (name) => this.find(tenant, name, sender)?.type);
    return type === undefined ? flags : withKind(flags, countsByType(seriesName, type) ?? false);
  }

  /** Whether a sender is to have a type of its own. */
  #contradicts({ tenant, metricName, type }: MetricMetadata, sender: number, { metadata }: Known): boolean {
    return this.#senders.find(tenant, metricName, sender) !== undefined || saysOtherwise(metricName, metadata.type, type);
  }

  #learnOfSender(reported: MetricMetadata, sender: number, { teller }: Known, nowMs: number): Learned {
    const { tenant, metricName } = reported;
    if (this.#senders.find(tenant, metricName, sender) !== undefined) {
      if (this.#senders.observe(reported, nowMs) === "known") return "known";
    } else {
      if (this.#shares.available(tenant) < 1 || !this.#senders.hasCapacity(tenant, metricName)) {
        this.#shares.refuse(tenant);
        return "no-room";
      }
      this.#shares.add(tenant);
      this.#senders.begin(reported, teller === sender, nowMs);
    }
    this.#judgeContested(reported);
    this.#unsaved.push(reported);
    return "new";
  }

  #learnOfAll(reported: MetricMetadata, sender: number, known: Known | undefined, nowMs: number): Learned {
    if (known === undefined && this.#shares.available(reported.tenant) < 1) {
      this.#shares.refuse(reported.tenant);
      return "no-room";
    }
    const holds = known !== undefined && known.metadata.type !== reported.type && nowMs - known.typeSinceMs < METADATA_TYPE_HOLD_MS;
    const metadata = holds ? { ...reported, type: known.metadata.type } : reported;
    const keepsType = known !== undefined && known.metadata.type === metadata.type;
    const next = {
      metadata,
      typeSinceMs: keepsType ? known.typeSinceMs : nowMs,
      teller: !keepsType || known.teller === sender ? sender : NOT_ONE,
    };
    if (known !== undefined && isSame(known.metadata, metadata)) {
      if (known.teller !== next.teller) this.#metrics.set(metricKey(reported.tenant, reported.metricName), next);
      return "known";
    }
    this.#put(next);
    this.#unsaved.push(reported);
    return "new";
  }

  #put(next: Known): void {
    const { metadata } = next;
    const key = metricKey(metadata.tenant, metadata.metricName);
    const before = this.#metrics.get(key)?.metadata;
    if (before === undefined) this.#shares.add(metadata.tenant);
    this.#metrics.set(key, next);
    const touched = [...(before === undefined ? [] : seriesOfMetadata(before)), ...seriesOfMetadata(metadata)];
    for (const [seriesName] of touched) this.#judge(metadata.tenant, seriesName);
  }

  /** A sender's own word is none of all others': what its series are is asked each time, and those that were defined are defined anew. */
  #judgeContested({ tenant, metricName }: MetricMetadata): void {
    for (const seriesName of [metricName, `${metricName}${BUCKET}`]) this.#judge(tenant, seriesName);
    this.#version++;
  }

  #judge(tenant: string, seriesName: string): void {
    const key = metricKey(tenant, seriesName);
    const guess = (flagsOfSeries(seriesName) & FLAG_COUNTER) !== 0;
    const type = typeByFamily(seriesName, (name) => this.find(tenant, name)?.type);
    const counts = (type === undefined ? undefined : countsByType(seriesName, type)) ?? guess;
    const isContested = namesOfType(seriesName).some((name) => this.#senders.isContested(tenant, name));
    const before = this.#kinds.get(key);
    if ((before?.counts ?? guess) === counts && (before?.isContested ?? false) === isContested) return;
    if (counts === guess && !isContested) this.#kinds.delete(key);
    else this.#kinds.set(key, { tenant, seriesName, counts, isContested });
    this.#version++;
  }
}

function withKind(flags: number, counts: boolean): number {
  return counts ? flags | FLAG_COUNTER : flags & ~FLAG_COUNTER;
}

/** The names whose type may say how a series counts. */
function namesOfType(seriesName: string): readonly string[] {
  return seriesName.endsWith(BUCKET) ? metadataNames(seriesName) : [seriesName];
}

function isSame(a: MetricMetadata, b: MetricMetadata): boolean {
  return a.type === b.type && a.unit === b.unit && a.help === b.help;
}
