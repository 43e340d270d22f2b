// What the coordinator sends an engine: parts of stored states, notices, and questions. Each type has its handler and the phase from which on it is taken.
import { dispatch, type Handlers } from "../../adapters/threads/mailbox.ts";
import type { EngineReply, EngineRequest, StatePart, StreamQuery } from "../../core/protocol/engine-control.ts";
import type { MetadataBook } from "../../domain/series/metadata-book.ts";
import type { BehaviourScan } from "./queries/behaviour-scan.ts";
import type { DelayedQueries } from "./queries/delayed-queries.ts";
import type { EvidenceScan } from "./queries/evidence-scan.ts";
import { type EngineShares, sharesAnswer } from "./report/engine-shares.ts";
import type { Shard } from "./shard/shard.ts";
import type { EngineWatchdog } from "./watchdog/cycle/engine-watchdog.ts";
import type { LongBaselines } from "./watchdog/pairs/long-baselines.ts";

/** Phases of an engine in their order: stored states come, the logs are read, bodies and questions are taken. */
const PHASES = ["restoring", "replaying", "serving"] as const;
type InboxPhase = (typeof PHASES)[number];

/** First phase in which a message of each type is taken. */
const TAKEN_FROM: { readonly [T in EngineRequest["type"]]: InboxPhase } = {
  "state-part": "restoring",
  "metric-metadata": "restoring",
  "watchdog-settings": "restoring",
  deployments: "restoring",
  "detector-states": "restoring",
  "saturation-update": "restoring",
  "saturation-histories": "restoring",
  "service-model": "restoring",
  "shadow-model": "restoring",
  "returned-streams": "replaying",
  series: "serving",
  "series-data": "serving",
  "pending-chunks": "serving",
  "stream-count": "serving",
  "service-list": "serving",
  "stream-page": "serving",
  "stream-changes": "serving",
  "stream-values": "serving",
  "log-mark": "serving",
  behaviour: "serving",
  evidence: "serving",
  coverage: "serving",
  watchdog: "serving",
  "service-history": "serving",
  shares: "serving",
};

/** Questions whose answers wait for their turn. */
const NOTED: ReadonlySet<EngineRequest["type"]> = new Set<StreamQuery["type"]>([
  "series",
  "series-data",
  "pending-chunks",
  "stream-count",
  "service-list",
  "stream-page",
  "stream-changes",
  "stream-values",
]);

export interface EngineInboxDependencies {
  readonly shard: Pick<Shard, "returns" | "profiles" | "owed">;
  readonly metadata: MetadataBook;
  readonly baselines: LongBaselines;
  readonly watchdog: EngineWatchdog;
  readonly behaviour: BehaviourScan;
  readonly evidence: EvidenceScan;
  readonly delayed: DelayedQueries;
  readonly shares: EngineShares;
  readonly takeRequest: () => EngineRequest | undefined;
  readonly reply: (reply: EngineReply) => void;
  /** Takes a part of a stored state. */
  readonly restore: (part: StatePart) => void;
  /** Has the log's mark put into the ring. */
  readonly markLog: () => void;
}

export class EngineInbox {
  readonly #dependencies: EngineInboxDependencies;
  readonly #handlers: Handlers<EngineRequest>;
  /** Questions that came before they could be answered. */
  readonly #early: EngineRequest[] = [];

  constructor(dependencies: EngineInboxDependencies) {
    this.#dependencies = dependencies;
    const { shard, metadata, baselines, watchdog, behaviour, evidence, delayed, shares, reply, restore, markLog } = dependencies;
    /** What is owed is told by what was known then. */
    const behindOwed =
      <Message>(take: (message: Message) => void) =>
      (message: Message) => {
        shard.owed.reportAll();
        take(message);
      };
    const delay = (query: Parameters<DelayedQueries["add"]>[0]) => delayed.add(query);
    this.#handlers = {
      "state-part": restore,
      "metric-metadata": (stored) => metadata.take(stored.metadata),
      "watchdog-settings": behindOwed((settings) => shard.profiles.take(settings)),
      deployments: behindOwed((stored) => baselines.take(stored)),
      "detector-states": behindOwed((states) => baselines.take(states)),
      "saturation-update": (notice) => watchdog.take(notice),
      "saturation-histories": (notice) => watchdog.take(notice),
      "service-model": (notice) => watchdog.take(notice),
      "shadow-model": (notice) => watchdog.take(notice),
      "returned-streams": (streams) => shard.returns.take(streams),
      series: delay,
      "series-data": delay,
      "pending-chunks": delay,
      "stream-count": delay,
      "service-list": delay,
      "stream-page": delay,
      "stream-changes": delay,
      "stream-values": delay,
      "log-mark": (query) => {
        markLog();
        delayed.add(query);
      },
      behaviour: (query) => reply(behaviour.answer(query)),
      evidence: (query) => evidence.take(query),
      coverage: (query) => reply(watchdog.coverage(query)),
      watchdog: (query) => watchdog.ask(query),
      "service-history": (query) => reply(watchdog.history(query)),
      shares: (query) => reply(sharesAnswer(shares, query)),
    };
  }

  /** Takes one message; false when there is none. */
  takeOne(phase: InboxPhase): boolean {
    return this.#takeNext(phase) !== undefined;
  }

  /** Takes one message, or several as long as they are questions that are only noted and `goesOn`; false when there is none. */
  takeSome(phase: InboxPhase, goesOn: () => boolean): boolean {
    const first = this.#takeNext(phase);
    for (let type = first; type !== undefined && NOTED.has(type) && goesOn(); ) type = this.#takeNext(phase);
    return first !== undefined;
  }

  #takeNext(phase: InboxPhase): EngineRequest["type"] | undefined {
    const request = (phase === "serving" ? this.#early.shift() : undefined) ?? this.#dependencies.takeRequest();
    if (request === undefined) return undefined;
    const from = TAKEN_FROM[request.type];
    if (PHASES.indexOf(phase) >= PHASES.indexOf(from)) this.#take(request, phase);
    // Streams that come back before any row waits for them were wanted by nobody.
    else if (from === "serving") this.#early.push(request);
    return request.type;
  }

  #take(request: EngineRequest, phase: InboxPhase): void {
    if (request.type === "state-part" && phase === "serving") throw new Error("a part of a state came after the start");
    if (request.type !== "state-part" || phase === "restoring") dispatch(this.#handlers, request);
  }
}
