/**
 * The streams that selectors mean: which they are says the tenant's index, what of their samples is in no stored block say engines, and of streams that left memory the
 * store.
 *
 * Engines are asked first, then what they have sent is committed, then the store is read: so whatever left an engine meanwhile is found there. Sketch: a stream
 * takes 600 bytes here and its chunks 200 or more, which the query's budget counts.
 */
import type { LmdbReader } from "../../adapters/storage/lmdb-reader.ts";
import { PROMQL_PAGE_CHUNKS_MAX, PROMQL_PAGE_STREAMS_MAX } from "../../core/config/promql-limits.ts";
import { type StreamValuesAnswer, VALUES_COUNTER, VALUES_IN_MEMORY } from "../../core/protocol/paged-streams.ts";
import { STREAM_ID_BYTES } from "../../domain/codec/chunk-block.ts";
import { engineOf } from "../../domain/placement/partition.ts";
import type { Evaluating } from "../../domain/promql/evaluation/sliced-evaluation.ts";
import type { LabelMatcher } from "../../domain/promql/labels/label-matcher.ts";
import type { Labels } from "../../domain/promql/labels/labels.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import type { SeriesIndex } from "../../domain/series-index/series-index.ts";
import { coldEntries, openChunksOf, readingOf } from "../../modules/series/cold/cold-series.ts";
import type { EngineSource } from "./engine-source.ts";
import type { TenantIndexes } from "./tenant-indexes.ts";

/** A stream with what of its samples is in no stored block. */
export interface SelectedStream {
  readonly labels: Labels;
  readonly isCounter: boolean;
  readonly firstTimeMs: number | null;
  readonly lastTimeMs: number | null;
  readonly partition: number;
  readonly streamId: Uint8Array;
  /** Chunks that wait for a block, oldest first, and what is in none yet as one more. */
  readonly waiting: readonly Uint8Array[];
}

export interface StreamSelectorDependencies {
  readonly indexes: TenantIndexes;
  readonly source: EngineSource;
  readonly reader: LmdbReader;
  /** Does work in slices beside that of others. */
  run<Result>(call: { readonly tenant: string }, budget: QueryBudget, evaluating: Evaluating<Result>): Promise<Result>;
}

/** Which streams of a tenant are wanted. */
export interface SelectionRequest {
  readonly tenant: string;
  readonly selections: ReadonlyArray<readonly LabelMatcher[]>;
  readonly budget: QueryBudget;
}

/** Series of an index, by their numbers. */
export interface SelectedSeries {
  readonly index: SeriesIndex;
  readonly series: readonly number[];
}

interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** What is known of a stream now. */
type Reading = Omit<SelectedStream, "labels" | "partition" | "streamId">;
type Readings = Map<number, Reading>;

const STREAM_BYTES = 600;
/** Streams put in order, or made, between two looks at the budget. */
const STREAMS_UNCHECKED = 1_024;

/** Finds streams for one worker. */
export class StreamSelector {
  readonly #dependencies: StreamSelectorDependencies;

  constructor(dependencies: StreamSelectorDependencies) {
    this.#dependencies = dependencies;
  }

  /** The streams of each selection with their values, in the order of their labels. */
  async select(request: SelectionRequest): Promise<SelectedStream[][]> {
    const { run } = this.#dependencies;
    const { index, found } = await this.#find(request);
    const readings = await this.#read(request, index, [...new Set(found.flat())]);
    return run(request, request.budget, streamsOf(index, found, readings, request.budget));
  }

  /** The series that any selection means and that have samples of a range, in no order. */
  async list(request: SelectionRequest, range: TimeRange): Promise<SelectedSeries> {
    const { index, found } = await this.#find(request);
    const series = [...new Set(found.flat())];
    await this.#readTimes(request, index, series, range);
    return { index, series: series.filter((one) => index.table.isWithin(one, range.fromMs, range.toMs)) };
  }

  async #find({ tenant, selections, budget }: SelectionRequest): Promise<{ readonly index: SeriesIndex; readonly found: number[][] }> {
    const { indexes, run } = this.#dependencies;
    const index = await indexes.fresh(tenant);
    const found: number[][] = [];
    for (const matchers of selections) found.push(await run({ tenant }, budget, index.select(matchers, budget)));
    return { index, found };
  }

  /** Times that are known only grow: those that say yes need not be asked for again. */
  async #readTimes(request: SelectionRequest, index: SeriesIndex, series: readonly number[], { fromMs, toMs }: TimeRange): Promise<void> {
    const unsure = series.filter((one) => index.isInMemory(one) && !index.table.isWithin(one, fromMs, toMs));
    await this.#ask(request, index, unsure, false, ({ flags, times }, asked) => {
      for (const [at, one] of asked.entries()) {
        if (flags[at] !== 0) index.table.setTimes(one, timesAt(times, at));
      }
    });
  }

  async #read(request: SelectionRequest, index: SeriesIndex, series: readonly number[]): Promise<Readings> {
    const readings: Readings = new Map();
    /** Chunks of streams that left memory while a block waited for more. */
    const apart = new Map<number, readonly Uint8Array[]>();
    await this.#ask(request, index, series, true, (answer, asked) => {
      const chunks = chunksOf(answer);
      for (const [at, one] of asked.entries()) {
        const waiting = chunks.get(at) ?? [];
        request.budget.reserve(STREAM_BYTES + waiting.reduce((sum, { length }) => sum + length, 0));
        const flags = answer.flags[at] as number;
        if ((flags & VALUES_IN_MEMORY) === 0) apart.set(one, waiting);
        else readings.set(one, { isCounter: (flags & VALUES_COUNTER) !== 0, ...timesAt(answer.times, at), waiting });
      }
    });
    await this.#dependencies.source.settle();
    this.#dependencies.reader.renew();
    if (apart.size > 0) await this.#addCold(request, index, apart, readings);
    return readings;
  }

  /** Asks the engines of some series, page by page. */
  async #ask(
    { tenant, budget }: SelectionRequest,
    index: SeriesIndex,
    series: readonly number[],
    withChunks: boolean,
    take: (answer: StreamValuesAnswer, asked: readonly number[]) => void,
  ): Promise<void> {
    const { source } = this.#dependencies;
    const { table } = index;
    const limit = withChunks ? PROMQL_PAGE_CHUNKS_MAX : PROMQL_PAGE_STREAMS_MAX;
    const byEngine = Array.from({ length: source.engines }, (): number[] => []);
    for (const one of series) byEngine[engineOf(table.partition(one), source.engines)]?.push(one);
    const askOne = async (own: number[], engine: number) => {
      own.sort((a, b) => table.partition(a) - table.partition(b));
      for (let from = 0; from < own.length; from += limit) {
        budget.check();
        const asked = own.slice(from, from + limit);
        const streamIds = new Uint8Array(asked.length * STREAM_ID_BYTES);
        for (const [at, one] of asked.entries()) streamIds.set(table.hash(one), at * STREAM_ID_BYTES);
        const partitions = Uint8Array.from(asked, (one) => table.partition(one));
        take(await source.values(engine, { tenant, streamIds, partitions, withChunks }), asked);
      }
    };
    await Promise.all(byEngine.map(askOne));
  }

  /** What the store has of streams that are in no engine's memory. */
  async #addCold(
    { tenant, budget }: SelectionRequest,
    index: SeriesIndex,
    apart: ReadonlyMap<number, readonly Uint8Array[]>,
    readings: Readings,
  ): Promise<void> {
    const context = { state: { series: this.#dependencies.reader }, yieldToLoop: async () => budget.check() };
    const partitions = new Set([...apart.keys()].map((one) => index.table.partition(one)));
    for await (const entry of coldEntries(context, tenant, partitions)) {
      const one = index.table.find(entry.hash);
      const waiting = apart.get(one);
      if (waiting === undefined) continue;
      const open = openChunksOf(entry);
      budget.reserve(open.reduce((sum, { length }) => sum + length, 0));
      readings.set(one, { ...readingOf(entry), waiting: [...waiting, ...open] });
    }
  }
}

/** The streams of each selection, sorted. */
function* streamsOf(
  index: SeriesIndex,
  found: readonly number[][],
  readings: Readings,
  budget: QueryBudget,
): Evaluating<SelectedStream[][]> {
  const all: SelectedStream[][] = [];
  for (const series of found) {
    const streams: SelectedStream[] = [];
    for (const [at, one] of index.sorted(series).entries()) {
      const reading = readings.get(one);
      if (reading === undefined) continue; // the store has dropped it meanwhile
      const { table } = index;
      streams.push({ ...reading, labels: index.labels(one), partition: table.partition(one), streamId: table.hash(one).slice() });
      if (at % STREAMS_UNCHECKED > 0) continue;
      budget.check();
      if (budget.isSliceOver) yield;
    }
    all.push(streams);
  }
  return all;
}

function timesAt(times: Float64Array, at: number): Pick<Reading, "firstTimeMs" | "lastTimeMs"> {
  const [first, last] = [times[2 * at] as number, times[2 * at + 1] as number];
  return { firstTimeMs: first > 0 ? first : null, lastTimeMs: last > 0 ? last : null };
}

function chunksOf({ chunks: { owners, ends, bytes } }: StreamValuesAnswer): Map<number, Uint8Array[]> {
  const chunks = new Map<number, Uint8Array[]>();
  let from = 0;
  for (const [at, owner] of owners.entries()) {
    const of = chunks.get(owner) ?? [];
    chunks.set(owner, of);
    of.push(bytes.subarray(from, ends[at]));
    from = ends[at] as number;
  }
  return chunks;
}
