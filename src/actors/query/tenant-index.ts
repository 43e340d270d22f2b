/**
 * The index of a tenant's series in one worker. It is made of all streams in memory and in the store when the tenant asks first, and from then on of what engines say
 * has changed; calls that come while it is brought up to date wait for the next time.
 *
 * Labels of stored streams: what a series of PromQL is called here. Everything that knows how names are stored for PromQL stands in this file.
 */
import type { StoreReader } from "../../adapters/storage/key-value-store.ts";
import type { LmdbReader } from "../../adapters/storage/lmdb-reader.ts";
import { ownMember } from "../../core/collections/own-member.ts";
import { PROMQL_PAGE_STREAMS_MAX } from "../../core/config/promql-limits.ts";
import type { AttributeValue, StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { PagedStream, StreamChangesAnswer } from "../../core/protocol/paged-streams.ts";
import { partitionOf } from "../../domain/placement/partition.ts";
import { Labels, METRIC_NAME } from "../../domain/promql/labels/labels.ts";
import { QUERY_ONLY } from "../../domain/series/query-only-series.ts";
import { isNamedHere, serviceLabelOf } from "../../domain/series/stream-identity.ts";
import { SeriesIndex } from "../../domain/series-index/series-index.ts";
import { coldStreams, readingOf } from "../../modules/series/cold/cold-series.ts";
import { type EngineSource, idsOf, namedStreams } from "./engine-source.ts";

const ENVIRONMENT = "environment";

export interface TenantIndexDependencies {
  readonly source: EngineSource;
  readonly reader: StoreReader & Pick<LmdbReader, "renew">;
  /** Gives back what the making of a large index has left: names and pages of all its series. */
  readonly collect: () => void;
}

/** Series of an index the making of which leaves 10 MB and more. */
const COLLECTED_FROM = 10_000;

/** Series that may be there no more before all are read again: of each series that is there a third. */
const GONE_SHARE = 1 / 3;
const GONE_MIN = 10_000;

/** An index with how far the changes of each engine are in it. */
export class TenantIndex {
  readonly #tenant: string;
  readonly #dependencies: TenantIndexDependencies;
  #index = new SeriesIndex();
  /** Changes that are in the index, by engine; null where all has to be read. */
  #cursors: ReadonlyArray<number | null> | undefined;
  #current: Promise<void> | undefined;
  #next: Promise<void> | undefined;

  constructor(tenant: string, dependencies: TenantIndexDependencies) {
    this.#tenant = tenant;
    this.#dependencies = dependencies;
  }

  get size(): number {
    return this.#index.size + this.#index.gone;
  }

  /** The index with all that had come when it was asked for. Rejects where an engine does not answer. */
  async fresh(): Promise<SeriesIndex> {
    if (this.#next !== undefined) await this.#next;
    else if (this.#current === undefined) await this.#begin();
    else {
      this.#next = this.#current.then(ignore, ignore).then(() => this.#begin());
      await this.#next;
    }
    return this.#index;
  }

  #begin(): Promise<void> {
    this.#next = undefined;
    const current = this.#refresh().finally(() => {
      if (this.#current === current) this.#current = undefined;
    });
    this.#current = current;
    return current;
  }

  async #refresh(): Promise<void> {
    const changes = await this.#changes();
    const cursors = changes.map(({ next }) => next);
    const isKnown = this.#cursors !== undefined && !cursors.includes(null);
    const isFull = this.#index.gone > GONE_MIN && this.#index.gone > this.#index.size * GONE_SHARE;
    if (!isKnown || isFull) return this.#build();
    let isWhole = true;
    for (const change of changes) isWhole = this.#apply(this.#index, change) && isWhole;
    if (!isWhole) await this.#addCold(this.#index);
    this.#cursors = cursors;
  }

  #changes(): Promise<StreamChangesAnswer[]> {
    const { source } = this.#dependencies;
    const engines = Array.from({ length: source.engines }, (_, engine) => engine);
    return Promise.all(engines.map((engine) => source.changes(engine, this.#tenant, this.#cursors?.[engine] ?? null)));
  }

  /** Reads everything. What comes or goes meanwhile is among the changes since. */
  async #build(): Promise<void> {
    this.#cursors = undefined;
    const index = new SeriesIndex();
    const cursors = (await this.#changes()).map(({ next }) => next);
    await Promise.all(cursors.map((_, engine) => this.#addHot(index, engine)));
    await this.#addCold(index);
    this.#index = index;
    this.#cursors = cursors;
    if (index.size >= COLLECTED_FROM) this.#dependencies.collect();
  }

  async #addHot(index: SeriesIndex, engine: number): Promise<void> {
    const { source } = this.#dependencies;
    for await (const stream of source.streams(engine, this.#tenant, PROMQL_PAGE_STREAMS_MAX)) add(index, stream, stream.hash, true);
  }

  /** Streams that left memory; those that are known are passed over. */
  async #addCold(index: SeriesIndex): Promise<void> {
    const { source, reader } = this.#dependencies;
    await source.settle();
    reader.renew();
    const context = { state: { series: reader }, yieldToLoop: async () => undefined };
    for await (const { entry, name } of coldStreams(context, this.#tenant, null)) {
      if (!index.has(entry.hash)) add(index, { ...name, ...readingOf(entry) }, entry.hash, false);
    }
  }

  /** Takes changes; false where a stream has left that is not known. */
  #apply(index: SeriesIndex, changes: StreamChangesAnswer): boolean {
    for (const stream of namedStreams(changes)) add(index, stream, stream.hash, true);
    let isWhole = true;
    let at = 0;
    for (const id of idsOf(changes.leftIds)) {
      const [first, last] = [changes.leftTimes[at++] as number, changes.leftTimes[at++] as number];
      const times = { firstTimeMs: first > 0 ? first : null, lastTimeMs: last > 0 ? last : null };
      isWhole = index.setCold(id, times) && isWhole;
    }
    for (const id of idsOf(changes.forgottenIds)) index.forget(id);
    return isWhole;
  }
}

function add(index: SeriesIndex, stream: PagedStream, hash: Uint8Array, isInMemory: boolean): void {
  const partition = partitionOf(stream.tenant, stream.serviceId);
  const { firstTimeMs, lastTimeMs } = stream;
  index.add({ hash, partition, labels: labelsOfStream(stream), firstTimeMs, lastTimeMs, isInMemory });
}

function ignore(): void {
  // Whoever has begun it is told.
}

/** What of a stream becomes labels; `serviceLabel` is SR_SERVICE_LABEL of its record. */
type NamedStream = Pick<StreamName, "serviceId" | "environment" | "metricName" | "attributes"> & { readonly serviceLabel: number };

/**
 * The labels of a stream. Of a series of remote-write those that were sent, but for labels of replicas; of any other its metric's name, `service_id`, `environment` and
 * its attributes.
 */
export function labelsOfStream(name: NamedStream): Labels {
  const serviceLabel = serviceLabelOf(name.serviceLabel);
  const attributes = Object.keys(name.attributes).filter((attribute) => attribute !== QUERY_ONLY);
  const labels = [...attributes, METRIC_NAME, ENVIRONMENT, ...(serviceLabel === undefined ? [] : [serviceLabel])];
  return Labels.of([...new Set(labels)].map((label) => [label, labelOfStream(name, label)] as const));
}

/** One label of a stream; empty where it has none of that name. */
function labelOfStream(name: NamedStream, label: string): string {
  if (label === METRIC_NAME) return name.metricName;
  if (label === serviceLabelOf(name.serviceLabel)) return name.serviceId;
  if (label === ENVIRONMENT && isNamedHere(name.serviceLabel) && name.environment !== "") return name.environment;
  return valueText(ownMember(name.attributes, label) ?? null);
}

function valueText(value: AttributeValue): string {
  if (typeof value === "string") return value;
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
