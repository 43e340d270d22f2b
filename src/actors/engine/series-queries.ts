// Answers to the coordinator's questions about streams: a page of the list, and the newest values of one.

import { PARTITIONS } from "../../core/layout/memory-map.ts";
import { FLAG_COUNTER, FLAG_ENDED, FLAG_KEPT_AS_RECORDS, WINDOW_MAX } from "../../core/layout/stream-record.ts";
import type { StreamName } from "../../core/protocol/coordinator-frame.ts";
import type {
  EngineAnswer,
  PendingChunksQuery,
  SeriesDataQuery,
  SeriesKey,
  SeriesQuery,
  SeriesSummary,
  StreamQuery,
} from "../../core/protocol/engine-control.ts";
import type { ShardKernel } from "../../domain/kernel/shard-kernel.ts";
import { partitionOf } from "../../domain/placement/partition.ts";
import { compareSeriesKeys, seriesKey } from "../../domain/series/series-order.ts";
import { serviceKey } from "../../domain/series/stream-identity.ts";
import { RETURNED } from "./cold/cold-streams.ts";
import type { Partition } from "./partition.ts";
import type { ServiceIndex } from "./service-index.ts";
import type { Shard } from "./shard.ts";

interface Candidate {
  readonly slot: number;
  readonly name: StreamName;
  readonly key: SeriesKey;
}

/** Reads streams of one shard for queries. */
export class SeriesQueries {
  readonly #shard: Shard;
  readonly #kernel: ShardKernel;
  readonly #services: ServiceIndex;

  constructor(shard: Shard, kernel: ShardKernel, services: ServiceIndex) {
    this.#shard = shard;
    this.#kernel = kernel;
    this.#services = services;
  }

  answer(query: StreamQuery): EngineAnswer {
    if (query.type === "pending-chunks") return this.#pending(query);
    if (query.type === "stream-count") return { type: "stream-count", id: query.id, streams: this.#services.streamsOf(query.tenant) };
    return query.type === "series" ? this.#list(query) : this.#data(query);
  }

  #list(query: SeriesQuery): EngineAnswer {
    const page: Candidate[] = [];
    const services = this.#services.all;
    let total = 0;
    for (const serviceId of this.#servicesOf(query)) {
      const slots = services.get(serviceKey(query.tenant, serviceId)) ?? [];
      const whole = query.metricName === null && query.environment === null;
      const skips = whole && (page.length >= query.limit || (query.after !== null && serviceId < query.after[0]));
      if (skips) {
        total += slots.length;
        continue;
      }
      const matching = this.#candidates(slots, query.metricName, query.environment);
      total += matching.length;
      for (const candidate of matching) {
        if (page.length >= query.limit) break;
        if (query.after === null || compareSeriesKeys(candidate.key, query.after) > 0) page.push(candidate);
      }
    }
    const returned = this.#returned(query).length;
    return { type: "series", id: query.id, series: page.map((candidate) => this.#summary(candidate)), total, returned };
  }

  /** Streams of a filter that the store may still hold among those that left memory. */
  #returned({
    tenant,
    serviceId,
    metricName,
    environment,
  }: Pick<SeriesQuery, "tenant" | "serviceId" | "metricName" | "environment">): StreamName[] {
    const { cold, streams } = this.#shard;
    const partitions =
      serviceId === null ? Array.from({ length: PARTITIONS }, (_, partition) => partition) : [partitionOf(tenant, serviceId)];
    return partitions
      .flatMap((number) => Array.from(streams.partition(number).returned.words))
      .filter((id) => cold.state(id) === RETURNED)
      .map((id) => this.#shard.nameOf(cold.slot(id)))
      .filter((name) => name.tenant === tenant && (serviceId === null || name.serviceId === serviceId))
      .filter(
        (name) => (metricName === null || name.metricName === metricName) && (environment === null || name.environment === environment),
      );
  }

  #pending({ id, partition, streamId }: PendingChunksQuery): EngineAnswer {
    return { type: "pending-chunks", id, chunks: this.#chunksOf(this.#shard.streams.partition(partition), streamId) };
  }

  #chunksOf(partition: Partition, streamId: Uint8Array): Uint8Array[] {
    return [...partition.chunks.pending()]
      .filter((chunk) => Buffer.compare(chunk.streamId, streamId) === 0)
      .map((chunk) => chunk.chunk.slice());
  }

  #servicesOf(query: SeriesQuery): string[] {
    if (query.serviceId !== null) return [query.serviceId];
    const services: string[] = [];
    for (const key of this.#services.all.keys()) {
      const [tenant, serviceId] = JSON.parse(key) as [string, string];
      if (tenant === query.tenant) services.push(serviceId);
    }
    return services.sort();
  }

  #candidates(slots: readonly number[], metricName: string | null, environment: string | null): Candidate[] {
    return slots
      .map((slot) => {
        const name = this.#shard.nameOf(slot);
        return { slot, name, key: seriesKey(name) };
      })
      .filter(
        ({ name }) => (metricName === null || name.metricName === metricName) && (environment === null || name.environment === environment),
      )
      .sort((a, b) => compareSeriesKeys(a.key, b.key));
  }

  #summary({ slot, name }: Candidate): SeriesSummary {
    const { records } = this.#kernel;
    const flags = records.flags(slot);
    const lastTimeMs = records.lastTimeMs(slot);
    return {
      ...name,
      kind: (flags & FLAG_COUNTER) !== 0 ? "counter" : "gauge",
      samples: records.samples(slot),
      lastValue: records.count(slot) > 0 ? records.lastValue(slot) : null,
      lastTimeMs: lastTimeMs > 0 ? lastTimeMs : null,
      firstTimeMs: records.firstTimeMs(slot) > 0 ? records.firstTimeMs(slot) : null,
      ended: (flags & FLAG_ENDED) !== 0,
      keptAsRecords: (flags & FLAG_KEPT_AS_RECORDS) !== 0,
      bucketWidth: records.width(slot),
    };
  }

  #data(query: SeriesDataQuery): EngineAnswer {
    const slots = this.#services.all.get(serviceKey(query.tenant, query.serviceId)) ?? [];
    const matching = this.#candidates(slots, query.metricName, query.environment).filter(
      ({ key }) => query.attributes === null || key[3] === query.attributes,
    );
    const found = matching[0];
    const none = {
      summary: null,
      streamId: null,
      partition: 0,
      times: new Float64Array(0),
      values: new Float64Array(0),
      pendingChunks: [],
    };
    if (found === undefined) return { type: "series-data", id: query.id, matches: 0, returned: 0, ...none };
    const returned = this.#returned(query).filter((name) => query.attributes === null || seriesKey(name)[3] === query.attributes).length;
    const partition = this.#shard.partitionOf(found.slot);
    const streamId = this.#shard.hashOf(found.slot);
    const pendingChunks = this.#chunksOf(partition, streamId);
    const times = new Float64Array(WINDOW_MAX);
    const values = new Float64Array(WINDOW_MAX);
    const count = this.#kernel.records.readRing(found.slot, times, values);
    return {
      type: "series-data",
      id: query.id,
      matches: matching.length,
      returned,
      summary: this.#summary(found),
      streamId,
      partition: partition.number,
      times: times.slice(0, count),
      values: values.slice(0, count),
      pendingChunks,
    };
  }
}
