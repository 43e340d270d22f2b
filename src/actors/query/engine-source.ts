// What query workers ask engines for, by way of the coordinator.
import type {
  NamedStreams,
  PagedStream,
  StreamChangesAnswer,
  StreamCursor,
  StreamPageAnswer,
  StreamValuesAnswer,
} from "../../core/protocol/paged-streams.ts";
import type { SourceQuestion, SourceValue } from "../../core/protocol/query-worker.ts";
import { idAt, STREAM_ID_BYTES } from "../../domain/codec/chunk-block.ts";

/** A question without its number. */
type Unnumbered<Question> = Question extends unknown ? Omit<Question, "id"> : never;

/** Asks the coordinator; rejects where it does not answer. */
export type AskSource = (question: Unnumbered<SourceQuestion>) => Promise<SourceValue>;

/** A stream with the hash of its identity. */
export interface NamedStream extends PagedStream {
  readonly hash: Uint8Array;
}

/** The engines as a query worker sees them. */
export class EngineSource {
  readonly engines: number;
  readonly #ask: AskSource;

  constructor(engines: number, ask: AskSource) {
    this.engines = engines;
    this.#ask = ask;
  }

  /** All of a tenant's streams in an engine's memory. */
  async *streams(engine: number, tenant: string, limit: number): AsyncGenerator<NamedStream> {
    let after: StreamCursor | null = null;
    do {
      const page = (await this.#ask({ type: "stream-page", engine, query: { tenant, after, limit } })) as StreamPageAnswer;
      yield* namedStreams(page);
      after = page.next;
    } while (after !== null);
  }

  /** Which streams came and went after so many changes. */
  async changes(engine: number, tenant: string, after: number | null): Promise<StreamChangesAnswer> {
    return (await this.#ask({ type: "stream-changes", engine, query: { tenant, after } })) as StreamChangesAnswer;
  }

  /** What is known of streams now. */
  async values(engine: number, query: Extract<SourceQuestion, { readonly type: "stream-values" }>["query"]): Promise<StreamValuesAnswer> {
    return (await this.#ask({ type: "stream-values", engine, query })) as StreamValuesAnswer;
  }

  /** Has what engines have sent so far be in the store. */
  async settle(): Promise<void> {
    await this.#ask({ type: "settle" });
  }
}

/** The streams of a page or of changes, each with its hash beside its name. */
export function* namedStreams({ rows, streamIds }: NamedStreams): Iterable<NamedStream> {
  let index = 0;
  for (const row of rows) {
    for (const stream of JSON.parse(row) as PagedStream[]) yield { ...stream, hash: idAt(streamIds, index++) };
  }
}

/** Identity hashes that lie one behind the other, 16 bytes each. */
export function* idsOf(streamIds: Uint8Array): Iterable<Uint8Array> {
  for (let index = 0; index * STREAM_ID_BYTES < streamIds.length; index++) yield idAt(streamIds, index);
}
