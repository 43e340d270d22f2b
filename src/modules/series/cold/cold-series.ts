// Streams that left memory, as queries see them: read from the store, service by service, in the order of lists.
import type { StoreReader } from "../../../adapters/storage/key-value-store.ts";
import {
  FLAG_COUNTER,
  FLAG_ENDED,
  FLAG_HISTORY,
  FLAG_RETAINED_AS_RECORDS,
  SR_FIRST_TIME,
  SR_FLAGS,
  SR_LAST_TIME,
  SR_LAST_VALUE,
  SR_SAMPLES,
  SR_SERVICE_LABEL,
  SR_UNJUDGED_MINUTES,
  SR_WIDTH,
} from "../../../core/layout/stream-record.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import type { SeriesDataAnswer, SeriesDataQuery, SeriesKey, SeriesQuery, SeriesSummary } from "../../../core/protocol/engine-control.ts";
import type { PagedStream } from "../../../core/protocol/paged-streams.ts";
import { KeyBuilder, KeyReader, prefixEnd } from "../../../domain/codec/key.ts";
import type { ColdEntry } from "../../../domain/kernel/cold-entry.ts";
import { newestTimeMs } from "../../../domain/kernel/newest-time.ts";
import { openChunks } from "../../../domain/kernel/open-chunks.ts";
import { serviceSinceMs } from "../../../domain/kernel/stream-records.ts";
import { SnapshotReader } from "../../../domain/kernel/stream-snapshot.ts";
import { partitionOf } from "../../../domain/placement/partition.ts";
import { isQueryOnly } from "../../../domain/series/query-only-series.ts";
import { compareSeriesKeys, matchesNames, seriesKey } from "../../../domain/series/series-order.ts";
import { identityName } from "../../../domain/series/stream-identity.ts";
import { scan } from "../../state/scan.ts";
import { coldKey, TABLE_END } from "../../state/tables.ts";
import type { SeriesContext } from "../series-context.ts";
import { decodeColdBatch } from "./cold-batch.ts";
import { canBeListed, listedOf } from "./cold-draft.ts";

/** Batches read before others of the thread get a turn: 16 x 64 KiB are about 5 ms with their names. */
const BATCHES_PER_SLICE = 16;

/** What reads streams that left memory: the store, and a way to let others go on. */
type ColdContext = Pick<SeriesContext, "yieldToLoop"> & { readonly state: { readonly series: StoreReader } };

type Filter = Pick<SeriesQuery, "tenant" | "metricName" | "environment" | "part">;

/** Where one service's streams lie, and how many they are. */
interface ColdService {
  readonly serviceId: string;
  /** First serials. */
  readonly batches: number[];
  total: number;
}

interface Candidate {
  readonly entry: ColdEntry;
  readonly key: SeriesKey;
}

/** The first `limit` streams after `after`, and how many match whatever the page. */
export async function coldSeries(
  context: SeriesContext,
  query: Omit<SeriesQuery, "type" | "id">,
): Promise<{ series: SeriesSummary[]; total: number }> {
  const { after, limit } = query;
  const series: SeriesSummary[] = [];
  const isWhole = query.metricName === null && query.environment === null && query.part === undefined;
  const services = coldServices(context, query.tenant, query.serviceId).sort((a, b) => (a.serviceId < b.serviceId ? -1 : 1));
  let total = 0;
  for (const service of services) {
    if (isWhole && (series.length >= limit || (after !== null && service.serviceId < after[0]))) {
      total += service.total;
      continue;
    }
    const matching = await streamsOf(context, query, service);
    total += matching.length;
    for (const { entry, key } of matching) {
      if (series.length >= limit) break;
      if (after === null || compareSeriesKeys(key, after) > 0) series.push(summaryOf(entry));
    }
  }
  return { series, total };
}

/** Values of matching streams from the store alone: the newest values of the first, as an engine would answer them. */
export async function coldSeriesData(
  context: SeriesContext,
  query: Omit<SeriesDataQuery, "type" | "id">,
): Promise<SeriesDataAnswer | undefined> {
  const { tenant, serviceId, attributes } = query;
  const [service] = coldServices(context, tenant, serviceId);
  if (service === undefined) return undefined;
  const matching = (await streamsOf(context, query, service)).filter(({ key }) => attributes === null || key[3] === attributes);
  const [first] = matching;
  if (first === undefined) return undefined;
  const partition = partitionOf(tenant, serviceId);
  const streamId = first.entry.hash.slice();
  const { chunks } = await context.engines.pendingChunks(context.engines.ownerOf(tenant, serviceId), { tenant, partition, streamId });
  const summary = summaryOf(first.entry);
  const ring = ringOf(first.entry);
  return {
    type: "series-data",
    id: 0,
    matches: matching.length,
    returned: 0,
    summary,
    streamId,
    partition,
    ...ring,
    pendingChunks: chunks,
    openChunks: openChunksOf(first.entry),
  };
}

/** The tenant's services, or one of them. */
function coldServices({ state }: ColdContext, tenant: string, serviceId: string | null): ColdService[] {
  if (serviceId !== null && !canBeListed(tenant, serviceId)) return [];
  const prefix = new KeyBuilder().text(tenant);
  const from = (serviceId === null ? prefix : prefix.text(serviceId)).finish();
  const services = new Map<string, ColdService>();
  for (const { key, value } of scan(state.series, "cold_services", from, prefixEnd(from) ?? TABLE_END)) {
    const found = new KeyReader(key);
    found.text();
    const name = found.text();
    const known = services.get(name) ?? { serviceId: name, batches: [], total: 0 };
    services.set(name, known);
    known.batches.push(found.u32());
    known.total += listedOf(value);
  }
  return [...services.values()];
}

/** Streams of one service that match, in list order. */
async function streamsOf(context: SeriesContext, filter: Filter, service: ColdService): Promise<Candidate[]> {
  const streams: Candidate[] = [];
  for await (const { entry, name } of entriesOf(context, filter.tenant, service)) {
    if (!isQueryOnly(name) && matchesNames(name, filter)) streams.push({ entry, key: seriesKey(name) });
  }
  return streams.sort((a, b) => compareSeriesKeys(a.key, b.key));
}

/** A stream that left memory. */
interface ColdStream {
  readonly entry: ColdEntry;
  readonly name: StreamName;
}

async function* entriesOf(context: ColdContext, tenant: string, service: ColdService): AsyncGenerator<ColdStream> {
  for await (const entry of batchedEntries(context, tenant, service)) {
    const name = identityName(Buffer.from(entry.identity).toString("utf8"));
    if (name.tenant === tenant && name.serviceId === service.serviceId) yield { entry, name };
  }
}

/** Entries of the batches in which a service has streams; others may be among them. */
async function* batchedEntries(context: ColdContext, tenant: string, { serviceId, batches }: ColdService): AsyncGenerator<ColdEntry> {
  const partition = partitionOf(tenant, serviceId);
  for (const [index, firstSerial] of batches.entries()) {
    if (index % BATCHES_PER_SLICE === BATCHES_PER_SLICE - 1) await context.yieldToLoop();
    const batchKey = coldKey(partition, firstSerial);
    const value = context.state.series.get("cold_streams", batchKey);
    if (value !== undefined) yield* decodeColdBatch(batchKey, value).entries;
  }
}

/** Entries of a tenant's streams that left memory, in some partitions; others may be among them, and one may come more than once. */
export async function* coldEntries(context: ColdContext, tenant: string, partitions: ReadonlySet<number>): AsyncGenerator<ColdEntry> {
  for (const service of coldServices(context, tenant, null)) {
    if (partitions.has(partitionOf(tenant, service.serviceId))) yield* batchedEntries(context, tenant, service);
  }
}

/** All of a tenant's streams that left memory, or those of one service. */
export async function* coldStreams(context: ColdContext, tenant: string, serviceId: string | null): AsyncGenerator<ColdStream> {
  for (const service of coldServices(context, tenant, serviceId)) yield* entriesOf(context, tenant, service);
}

const reader = new SnapshotReader();

function read({ snapshot }: ColdEntry): SnapshotReader {
  if (!reader.decode({ ...snapshot })) throw new Error("a stored stream does not decode");
  return reader;
}

/** What a query reads of a stream that left memory beside its name. */
interface ColdReading extends Pick<PagedStream, "serviceLabel" | "firstTimeMs" | "lastTimeMs"> {
  readonly isCounter: boolean;
}

/** What a query reads of an entry. */
export function readingOf({ snapshot }: ColdEntry): ColdReading {
  if (!reader.decodeHeader({ ...snapshot })) throw new Error("a stored stream does not decode");
  const { header } = reader;
  const flags = header.getUint32(SR_FLAGS, true);
  const firstTimeMs = header.getFloat64(SR_FIRST_TIME, true);
  const lastTimeMs = newestTimeMs(header.getFloat64(SR_LAST_TIME, true), flags, header.getUint16(SR_UNJUDGED_MINUTES, true));
  return {
    serviceLabel: header.getUint8(SR_SERVICE_LABEL),
    isCounter: (flags & FLAG_COUNTER) !== 0,
    firstTimeMs: firstTimeMs > 0 ? firstTimeMs : null,
    lastTimeMs: lastTimeMs > 0 ? lastTimeMs : null,
  };
}

/** What a list says of a stream. */
function summaryOf(entry: ColdEntry): SeriesSummary {
  const { header, count } = read(entry);
  const flags = header.getUint32(SR_FLAGS, true);
  const lastTimeMs = header.getFloat64(SR_LAST_TIME, true);
  const firstTimeMs = header.getFloat64(SR_FIRST_TIME, true);
  const sinceMs = serviceSinceMs(firstTimeMs, flags);
  return {
    ...identityName(Buffer.from(entry.identity).toString("utf8")),
    kind: (flags & FLAG_COUNTER) !== 0 ? "counter" : "gauge",
    samples: header.getFloat64(SR_SAMPLES, true),
    lastValue: count > 0 ? header.getFloat64(SR_LAST_VALUE, true) : null,
    lastTimeMs: lastTimeMs > 0 ? lastTimeMs : null,
    firstTimeMs: firstTimeMs > 0 ? firstTimeMs : null,
    serviceSinceMs: Number.isFinite(sinceMs) ? sinceMs : null,
    ended: (flags & FLAG_ENDED) !== 0,
    endsWithHistory: (flags & FLAG_HISTORY) !== 0,
    retainedAsRecords: (flags & FLAG_RETAINED_AS_RECORDS) !== 0,
    bucketWidth: (flags & FLAG_COUNTER) !== 0 ? 0 : header.getFloat64(SR_WIDTH, true),
  };
}

/** Chunks of what a stream has that is in none yet. */
export function openChunksOf(entry: ColdEntry): Uint8Array[] {
  return openChunks(read(entry));
}

/** The values of the ring with their times, oldest first. */
function ringOf(entry: ColdEntry): { times: Float64Array; values: Float64Array } {
  const { header, values, intervals, count } = read(entry);
  const times = new Float64Array(count);
  let time = header.getFloat64(SR_LAST_TIME, true);
  for (let i = count - 1; i >= 0; i--) {
    times[i] = time;
    time -= intervals[i] as number;
  }
  return { times, values: values.slice(0, count) };
}
