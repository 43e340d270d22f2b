/**
 * The streams that selectors mean, from the engines' memory and from the store: their labels, and where their samples lie.
 *
 * Engines are asked first, then what they have sent is committed, then the store is read: so whatever left an engine meanwhile is found there. Sketch: a stream
 * takes 600 bytes here and its chunks 200 or more, which the query's budget counts.
 */
import type { LmdbReader } from "../../adapters/storage/lmdb-reader.ts";
import { PROMQL_PAGE_CHUNKS_MAX, PROMQL_PAGE_STREAMS_MAX } from "../../core/config/promql-limits.ts";
import type { PagedStream, StreamCursor, StreamPageAnswer, WaitingChunks } from "../../core/protocol/paged-streams.ts";
import type { SourceQuestion, SourceValue } from "../../core/protocol/query-worker.ts";
import { STREAM_ID_BYTES } from "../../domain/codec/chunk-block.ts";
import { engineOf, partitionOf } from "../../domain/placement/partition.ts";
import { Labels } from "../../domain/promql/labels/labels.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import { labelsOfStream, type StreamSelection } from "../../domain/promql/stored-labels.ts";
import { coldStreams, openChunksOf, readingOf } from "../../modules/series/cold/cold-series.ts";

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

/** A question without its number. */
type Unnumbered<Question> = Question extends unknown ? Omit<Question, "id"> : never;

export interface StreamSelectorDependencies {
  readonly engines: number;
  readonly reader: LmdbReader;
  /** Asks the coordinator; rejects where it does not answer. */
  ask(question: Unnumbered<SourceQuestion>): Promise<SourceValue>;
}

/** Which streams of a tenant are wanted, and whether with values. */
export interface SelectionRequest {
  readonly tenant: string;
  readonly selections: readonly StreamSelection[];
  readonly withValues: boolean;
  readonly budget: QueryBudget;
}

const STREAM_BYTES = 600;

/** Streams by the text of their ids. */
type Found = Map<string, SelectedStream>;

/** Finds streams for one worker. */
export class StreamSelector {
  readonly #dependencies: StreamSelectorDependencies;

  constructor(dependencies: StreamSelectorDependencies) {
    this.#dependencies = dependencies;
  }

  /** The streams of each selection, in the order of their labels. */
  async select(request: SelectionRequest): Promise<SelectedStream[][]> {
    const found = await Promise.all(request.selections.map((selection) => this.#fromEngines(request, selection)));
    await this.#dependencies.ask({ type: "settle" });
    this.#dependencies.reader.renew();
    await this.#addCold(request, found);
    return found.map((streams) => [...streams.values()].sort((a, b) => Labels.compare(a.labels, b.labels)));
  }

  async #fromEngines(request: SelectionRequest, selection: StreamSelection): Promise<Found> {
    const found: Found = new Map();
    const { engines } = this.#dependencies;
    const { serviceId } = selection;
    const asked =
      serviceId === null
        ? Array.from({ length: engines }, (_, engine) => engine)
        : [engineOf(partitionOf(request.tenant, serviceId), engines)];
    await Promise.all(asked.map((engine) => this.#addPages(request, selection, engine, found)));
    return found;
  }

  async #addPages(
    { tenant, withValues, budget }: SelectionRequest,
    selection: StreamSelection,
    engine: number,
    found: Found,
  ): Promise<void> {
    const { conditions, serviceId } = selection;
    const limit = withValues ? PROMQL_PAGE_CHUNKS_MAX : PROMQL_PAGE_STREAMS_MAX;
    let after: StreamCursor | null = null;
    do {
      budget.check();
      const query = { tenant, serviceId, conditions, withValues, after, limit };
      const page = (await this.#dependencies.ask({ type: "stream-page", engine, query })) as StreamPageAnswer;
      addPage(page, found, budget);
      after = page.next;
    } while (after !== null);
  }

  /** Streams that left memory; those that an engine has are passed over. */
  async #addCold({ tenant, selections, withValues, budget }: SelectionRequest, found: readonly Found[]): Promise<void> {
    const context = { state: { series: this.#dependencies.reader }, yieldTurn: async () => budget.check() };
    const [only = null, ...others] = new Set(selections.map(({ serviceId }) => serviceId));
    const cold: Array<{ readonly into: Found; readonly id: string; readonly stream: SelectedStream }> = [];
    for await (const { entry, name } of coldStreams(context, tenant, others.length === 0 ? only : null)) {
      const id = idText(entry.hash);
      const paged = { ...name, ...readingOf(entry) };
      for (const [index, selection] of selections.entries()) {
        const into = found[index] as Found;
        if (into.has(id) || !selection.means(paged)) continue;
        const open = withValues ? openChunksOf(entry) : [];
        budget.reserve(streamBytes(open));
        cold.push({ into, id, stream: selected(paged, entry.hash.slice(), open) });
      }
    }
    const chunks = withValues
      ? await this.#chunksOf(
          tenant,
          cold.map(({ stream }) => stream),
          budget,
        )
      : new Map<string, Uint8Array[]>();
    for (const { into, id, stream } of cold) into.set(id, { ...stream, waiting: [...(chunks.get(id) ?? []), ...stream.waiting] });
  }

  /** Chunks of streams that left memory while a block waited for more. */
  async #chunksOf(tenant: string, streams: readonly SelectedStream[], budget: QueryBudget): Promise<ReadonlyMap<string, Uint8Array[]>> {
    const byPartition = new Map<number, Map<string, Uint8Array>>();
    for (const { partition, streamId } of streams) {
      const ids = byPartition.get(partition) ?? new Map<string, Uint8Array>();
      byPartition.set(partition, ids.set(idText(streamId), streamId));
    }
    const chunks = new Map<string, Uint8Array[]>();
    for (const [partition, ids] of byPartition) {
      budget.check();
      const query = { partition, streamIds: new Uint8Array(Buffer.concat([...ids.values()])) };
      const engine = engineOf(partition, this.#dependencies.engines);
      const waiting = (await this.#dependencies.ask({ type: "waiting-chunks", engine, tenant, query })) as WaitingChunks;
      const texts = [...ids.keys()];
      for (const [index, owner] of waiting.owners.entries()) {
        const id = texts[owner] as string;
        chunks.set(id, [...(chunks.get(id) ?? []), waiting.chunks[index] as Uint8Array]);
      }
    }
    return chunks;
  }
}

function addPage({ rows, streamIds, waiting }: StreamPageAnswer, found: Found, budget: QueryBudget): void {
  const chunks = new Map<number, Uint8Array[]>();
  for (const [index, owner] of waiting.owners.entries()) {
    const of = chunks.get(owner) ?? [];
    chunks.set(owner, of);
    of.push(waiting.chunks[index] as Uint8Array);
  }
  let index = 0;
  for (const row of rows) {
    for (const stream of JSON.parse(row) as PagedStream[]) {
      const id = streamIds.subarray(index * STREAM_ID_BYTES, (index + 1) * STREAM_ID_BYTES);
      const own = chunks.get(index++) ?? [];
      budget.reserve(streamBytes(own));
      found.set(idText(id), selected(stream, id, own));
    }
  }
}

function selected(stream: PagedStream, streamId: Uint8Array, waiting: readonly Uint8Array[]): SelectedStream {
  const { isCounter, firstTimeMs, lastTimeMs } = stream;
  const partition = partitionOf(stream.tenant, stream.serviceId);
  return { labels: labelsOfStream(stream), isCounter, firstTimeMs, lastTimeMs, partition, streamId, waiting };
}

function streamBytes(waiting: readonly Uint8Array[]): number {
  return STREAM_BYTES + waiting.reduce((sum, chunk) => sum + chunk.length, 0);
}

/** The text of a stream's id, as a key. */
export function idText(id: Uint8Array): string {
  return Buffer.from(id.buffer, id.byteOffset, id.byteLength).toString("latin1");
}
