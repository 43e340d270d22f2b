// Asks engines about their streams. Each ask has its own number; an engine that does not answer is reported, never waited for without end:
// the link behind it rejects in time.
// Questions of queries to engines: of each tenant one at a time to each engine, whose queue therefore holds one of everybody at most. An engine takes questions in
// their order between bodies, so a tenant with a hundred queries delays the question of another by one of its own.
import { background, task } from "../../core/faults/guard.ts";
import type { CoverageAnswer, CoverageQuery } from "../../core/protocol/coverage.ts";
import type {
  BehaviourAnswer,
  BehaviourQuery,
  EngineAnswer,
  EngineNotice,
  EngineQuery,
  PendingChunksAnswer,
  PendingChunksQuery,
  SeriesAnswer,
  SeriesDataAnswer,
  SeriesDataQuery,
  SeriesQuery,
  SeriesSummary,
  ServiceHistoryAnswer,
  ServiceHistoryQuery,
  StreamCountAnswer,
  WatchdogAnswer,
  WatchdogQuery,
} from "../../core/protocol/engine-control.ts";
import type { EvidenceAnswer, EvidenceQuery } from "../../core/protocol/evidence.ts";
import type {
  StreamChangesAnswer,
  StreamChangesQuery,
  StreamPageAnswer,
  StreamPageQuery,
  StreamValuesAnswer,
  StreamValuesQuery,
} from "../../core/protocol/paged-streams.ts";
import type { ListedService, ServiceListAnswer } from "../../core/protocol/service-list.ts";
import type { ShareRow, SharesAnswer } from "../../core/protocol/shares.ts";
import { engineOf, partitionOf } from "../../domain/placement/partition.ts";
import type { EngineLink } from "./engine-link.ts";

/** An engine did not answer. */
export class EngineUnavailableError extends Error {
  readonly engine: number;

  constructor(engine: number, cause: unknown) {
    super(`engine ${engine} did not answer`, { cause });
    this.name = "EngineUnavailableError";
    this.engine = engine;
  }
}

/** A page of one engine's streams, in list order. */
export interface SeriesPage extends Pick<SeriesAnswer, "total" | "returned"> {
  readonly series: readonly SeriesSummary[];
}

/** Passage of a question to an engine: what is done before and after. */
type Passage = <T>(engine: number, ask: () => Promise<T>) => Promise<T>;

export class EngineClient {
  readonly #links: readonly EngineLink[];
  /** Ids of questions; one counter for all clients of the same links. */
  readonly #ids: { next: number };
  readonly #passage: Passage;

  constructor(links: readonly EngineLink[], ids = { next: 1 }, passage: Passage = (_, ask) => ask()) {
    this.#links = links;
    this.#ids = ids;
    this.#passage = passage;
  }

  /** The same engines for whoever asks in a way of their own. */
  through(passage: Passage): EngineClient {
    return new EngineClient(this.#links, this.#ids, passage);
  }

  get count(): number {
    return this.#links.length;
  }

  /** Does work with every engine at once, and waits for all of it; then rejects with the first failure. */
  async withEach(work: (engine: number) => Promise<void>): Promise<void> {
    const ends = await Promise.allSettled(Array.from({ length: this.count }, (_, engine) => work(engine)));
    for (const end of ends) if (end.status === "rejected") throw end.reason;
  }

  /** The engine that holds a service's streams. */
  ownerOf(tenant: string, serviceId: string): number {
    return engineOf(partitionOf(tenant, serviceId), this.count);
  }

  /** Tells all engines; what they are asked afterwards they answer knowing it. */
  reportAll(message: EngineNotice): void {
    for (const link of this.#links) link.notify(message);
  }

  /** A page of one engine's streams. */
  async series(engine: number, query: Omit<SeriesQuery, "type" | "id">): Promise<SeriesPage> {
    const { rows, total, returned } = (await this.#ask(engine, { type: "series", id: this.#ids.next++, ...query })) as SeriesAnswer;
    return { series: rows.flatMap((text) => JSON.parse(text) as SeriesSummary[]), total, returned };
  }

  /** Services of a tenant that have streams in an engine's memory. */
  async serviceList(engine: number, tenant: string): Promise<readonly ListedService[]> {
    return ((await this.#ask(engine, { type: "service-list", id: this.#ids.next++, tenant })) as ServiceListAnswer).rows;
  }

  /** Streams of a tenant that an engine has in memory. */
  async streamCount(engine: number, tenant: string): Promise<number> {
    return ((await this.#ask(engine, { type: "stream-count", id: this.#ids.next++, tenant })) as StreamCountAnswer).streams;
  }

  /** The newest values of the first stream that matches. */
  async seriesData(engine: number, query: Omit<SeriesDataQuery, "type" | "id">): Promise<SeriesDataAnswer> {
    return (await this.#ask(engine, { type: "series-data", id: this.#ids.next++, ...query })) as SeriesDataAnswer;
  }

  /** Chunks of a stream that are in no stored block. */
  async pendingChunks(engine: number, query: Omit<PendingChunksQuery, "type" | "id">): Promise<PendingChunksAnswer> {
    return (await this.#ask(engine, { type: "pending-chunks", id: this.#ids.next++, ...query })) as PendingChunksAnswer;
  }

  /** A page of the streams of one engine, for a query worker. */
  async streamPage(engine: number, query: Omit<StreamPageQuery, "type" | "id">): Promise<StreamPageAnswer> {
    return (await this.#ask(engine, { type: "stream-page", id: this.#ids.next++, ...query })) as StreamPageAnswer;
  }

  /** Which streams of one engine came and went. */
  async streamChanges(engine: number, query: Omit<StreamChangesQuery, "type" | "id">): Promise<StreamChangesAnswer> {
    return (await this.#ask(engine, { type: "stream-changes", id: this.#ids.next++, ...query })) as StreamChangesAnswer;
  }

  /** What an engine holds of streams that is in no stored block. */
  async streamValues(engine: number, query: Omit<StreamValuesQuery, "type" | "id">): Promise<StreamValuesAnswer> {
    return (await this.#ask(engine, { type: "stream-values", id: this.#ids.next++, ...query })) as StreamValuesAnswer;
  }

  /** Has an engine tell what it has counted; it is in the engine's ring when this resolves. */
  async markLog(engine: number): Promise<void> {
    await this.#ask(engine, { type: "log-mark", id: this.#ids.next++ });
  }

  /** The next slice of a walk over one engine's services. */
  async behaviour(engine: number, query: Omit<BehaviourQuery, "type" | "id">): Promise<BehaviourAnswer> {
    return (await this.#ask(engine, { type: "behaviour", id: this.#ids.next++, ...query })) as BehaviourAnswer;
  }

  /** The next slice of a walk over what an engine holds of an incident. */
  async evidence(engine: number, query: Omit<EvidenceQuery, "type" | "id">): Promise<EvidenceAnswer> {
    return (await this.#ask(engine, { type: "evidence", id: this.#ids.next++, ...query })) as EvidenceAnswer;
  }

  /** The next slice of a walk over what an engine's detectors look at. */
  async coverage(engine: number, query: Omit<CoverageQuery, "type" | "id">): Promise<CoverageAnswer> {
    return (await this.#ask(engine, { type: "coverage", id: this.#ids.next++, ...query })) as CoverageAnswer;
  }

  /** The next slice of a pass of the Watchdog over one engine's services. */
  async watchdog(engine: number, query: Omit<WatchdogQuery, "type" | "id">): Promise<WatchdogAnswer> {
    return (await this.#ask(engine, { type: "watchdog", id: this.#ids.next++, ...query })) as WatchdogAnswer;
  }

  /** Samples that an engine holds of a service's streams for a training. */
  async serviceHistory(engine: number, query: Omit<ServiceHistoryQuery, "type" | "id">): Promise<ServiceHistoryAnswer> {
    return (await this.#ask(engine, { type: "service-history", id: this.#ids.next++, ...query })) as ServiceHistoryAnswer;
  }

  /** A tenant's places of the limits that one engine's tenants share; with null those of whoever was refused most. */
  async shares(engine: number, tenant: string | null): Promise<readonly ShareRow[]> {
    return ((await this.#ask(engine, { type: "shares", id: this.#ids.next++, tenant })) as SharesAnswer).rows;
  }

  /** Sends an engine what it does not answer. */
  notify(engine: number, notice: EngineNotice): void {
    (this.#links[engine] as EngineLink).notify(notice);
  }

  async #ask(engine: number, query: EngineQuery): Promise<EngineAnswer> {
    const answer = await this.#passage(engine, () => this.#reach(engine, query));
    if (answer.type !== query.type || answer.id !== query.id)
      throw new Error(`engine ${engine} answered ${answer.type} ${answer.id} to ${query.type} ${query.id}`);
    return answer;
  }

  async #reach(engine: number, query: EngineQuery): Promise<EngineAnswer> {
    try {
      return await (this.#links[engine] as EngineLink).ask(query);
    } catch (error) {
      throw new EngineUnavailableError(engine, error);
    }
  }
}

export class EngineAsks {
  /** The last question by engine and tenant, while one is under way. */
  readonly #last = new Map<string, Promise<unknown>>();

  /** Asks once the tenant's questions before have been answered, or have failed. */
  one<T>(engine: number, tenant: string, ask: () => Promise<T>): Promise<T> {
    const key = `${engine} ${tenant}`;
    const before = this.#last.get(key);
    const mine = before === undefined ? ask() : before.then(ask, ask);
    this.#last.set(key, mine);
    const ended = () => {
      if (this.#last.get(key) === mine) this.#last.delete(key);
    };
    background(task("the turns of questions to engines"), mine.then(ended, ended));
    return mine;
  }
}
