/**
 * The query workers as main sees them: threads that are started with the first query, started again where they end, and given one call after another.
 *
 * Calls wait by tenant; a worker that is free takes the oldest of the tenant that has had least time, so that one who asks much delays another by one query. How many may be
 * there is counted by a ledger, with a share for each tenant; whoever finds no place is told to try again. A call whose worker ends is answered 500, and the next
 * worker goes on with the others.
 */
import { systemClock } from "../../adapters/platform/clock.ts";
import { CancelFlag } from "../../adapters/shared-memory/cancel-flag.ts";
import { ActorThread } from "../../adapters/threads/actor-thread.ts";
import { createChannel, type Mailbox, type MessagePort } from "../../adapters/threads/mailbox.ts";
import { PROMETHEUS_STATUS, prometheusErrorBody } from "../../api/prometheus/prometheus-envelope.ts";
import {
  PROMQL_OVERDUE_MS,
  PROMQL_RESTART_MS,
  PROMQL_RESTART_MS_MAX,
  PROMQL_SOUND_MS,
  PROMQL_STOP_MS_MAX,
} from "../../core/config/promql-limits.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { after, noteFault, task } from "../../core/faults/guard.ts";
import type {
  PromqlCall,
  PromqlCallName,
  QueryWorkerCommand,
  QueryWorkerReport,
  SourceAnswer,
  SourceQuestion,
} from "../../core/protocol/query-worker.ts";
import type { RuleWork } from "../../core/protocol/rule-work.ts";
import type { FaultReport } from "../../core/telemetry/fault-report.ts";
import { errorFields, type Log } from "../../core/telemetry/log-event.ts";
import type { QueryOptions } from "./query-call.ts";
import type { QueryWorkerData } from "./worker.ts";

/** How many workers there are, and what bounds their queries. */
export interface QueryWorkersOptions extends QueryOptions {
  readonly dataDir: string;
  readonly engines: number;
  readonly workers: number;
}

export interface QueryWorkersDependencies {
  /** Gives the coordinator its end of the channel to a worker. */
  connect(port: MessagePort): void;
  /** Places of calls that are there. */
  readonly places: ShareLedger;
  readonly log: Log;
  fault(fault: FaultReport): void;
}

/** A call as the front makes it, with the parameters as they were sent. */
export interface WorkerCall {
  readonly name: PromqlCallName;
  readonly tenant: string;
  readonly parameters: string;
  readonly label: string | null;
  readonly work?: RuleWork;
}

/** Takes the answer to a call, once. */
export type OnAnswer = (status: number, body: string | Uint8Array) => void;

/** A call that waits or is under way. */
interface Waiting {
  readonly call: WorkerCall;
  readonly onAnswer: OnAnswer;
  readonly sinceMs: number;
  readonly cancel: CancelFlag;
}

const OVERDUE = task("a query that does not end");

/** All workers, their queue and their tenants' turns. */
export class QueryWorkers {
  readonly #options: QueryWorkersOptions;
  readonly #dependencies: QueryWorkersDependencies;
  readonly #workers: QueryWorker[] = [];
  readonly #queue: Waiting[] = [];
  /** Time that tenants have had, of those that have calls here. */
  readonly #hadMs = new Map<string, number>();
  #isStopping = false;

  constructor(options: QueryWorkersOptions, dependencies: QueryWorkersDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** Calls that wait for a worker. */
  get waiting(): number {
    return this.#queue.length;
  }

  /** Takes a call; gives back what ends it where nobody waits any more, or undefined where too many are there. */
  call(call: WorkerCall, onAnswer: OnAnswer): (() => void) | undefined {
    const { places } = this.#dependencies;
    if (this.#isStopping || !places.take(call.tenant)) return undefined;
    const waiting = { call, onAnswer, sinceMs: systemClock.monotonicMs(), cancel: new CancelFlag() };
    // Whoever comes begins with the least that others had: time before does not count.
    if (!this.#hadMs.has(call.tenant)) this.#hadMs.set(call.tenant, this.#hadMs.size === 0 ? 0 : Math.min(...this.#hadMs.values()));
    this.#queue.push(waiting);
    this.#hand();
    return () => this.#cancel(waiting);
  }

  /** Answers what waits, and ends the workers. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const waiting of this.#queue.splice(0)) this.#end(waiting, 0, "unavailable", "the server is stopping");
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }

  #cancel(waiting: Waiting): void {
    waiting.cancel.set();
    const at = this.#queue.indexOf(waiting);
    if (at < 0) return;
    this.#queue.splice(at, 1);
    this.#end(waiting, 0, "canceled", "query was canceled in query queue");
  }

  /** Gives free workers what waits. */
  #hand(): void {
    while (this.#queue.length > 0 && !this.#isStopping) {
      const worker = this.#workers.find(({ isFree }) => isFree) ?? this.#startOne();
      if (worker === undefined) return;
      const waiting = this.#next();
      const waitedMs = systemClock.monotonicMs() - waiting.sinceMs;
      if (waitedMs > this.#options.timeoutMs) this.#end(waiting, 0, "timeout", "query timed out in query queue");
      else worker.answer(waiting, waitedMs);
    }
  }

  /** The oldest call of the tenant that has had least time. */
  #next(): Waiting {
    const had = ({ call }: Waiting) => this.#hadMs.get(call.tenant) ?? 0;
    const next = this.#queue.reduce((least, waiting) => (had(waiting) < had(least) ? waiting : least));
    this.#queue.splice(this.#queue.indexOf(next), 1);
    return next;
  }

  #startOne(): QueryWorker | undefined {
    if (this.#workers.length >= this.#options.workers) return undefined;
    const ended = (waiting: Waiting, tookMs: number, answer: WorkerAnswer) => {
      this.#answer(waiting, tookMs, answer);
      this.#hand();
    };
    const worker = new QueryWorker(this.#options, this.#dependencies, ended, () => this.#hand());
    this.#workers.push(worker);
    return worker;
  }

  #end(waiting: Waiting, tookMs: number, errorType: keyof typeof PROMETHEUS_STATUS, message: string): void {
    this.#answer(waiting, tookMs, { status: PROMETHEUS_STATUS[errorType], body: prometheusErrorBody(errorType, message) });
  }

  #answer({ call, onAnswer }: Waiting, tookMs: number, { status, body }: WorkerAnswer): void {
    const { places } = this.#dependencies;
    places.give(call.tenant);
    if (places.held(call.tenant) === 0) this.#hadMs.delete(call.tenant);
    else this.#hadMs.set(call.tenant, (this.#hadMs.get(call.tenant) ?? 0) + tookMs);
    onAnswer(status, body);
  }
}

interface WorkerAnswer {
  readonly status: number;
  readonly body: string | Uint8Array;
}

const FAILED: WorkerAnswer = {
  status: PROMETHEUS_STATUS.internal,
  body: prometheusErrorBody("internal", "the thread of this query ended, perhaps for want of memory; others go on in a new one"),
};

/** One worker: its thread, and the call that it has. */
class QueryWorker {
  readonly #dependencies: QueryWorkersDependencies;
  readonly #options: QueryWorkersOptions;
  readonly #ended: (waiting: Waiting, tookMs: number, answer: WorkerAnswer) => void;
  readonly #thread: ActorThread;
  #mailbox: Mailbox<QueryWorkerReport, QueryWorkerCommand> | undefined;
  #current: { readonly waiting: Waiting; readonly id: number; readonly sinceMs: number; readonly overdue: NodeJS.Timeout } | undefined;
  #next = 1;

  constructor(
    options: QueryWorkersOptions,
    dependencies: QueryWorkersDependencies,
    ended: (waiting: Waiting, tookMs: number, answer: WorkerAnswer) => void,
    started: () => void,
  ) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#ended = ended;
    const thread = {
      name: "query",
      file: new URL("./worker.js", import.meta.url),
      heapMbMax: heapMbOf(options),
      restart: { firstMs: PROMQL_RESTART_MS, mostMs: PROMQL_RESTART_MS_MAX, soundMs: PROMQL_SOUND_MS },
      failed: ({ error }: { readonly error: Error }) => this.#failed(error),
    };
    this.#thread = new ActorThread(thread, () => {
      const start = this.#connect();
      afterStart(started);
      return start;
    });
  }

  get isFree(): boolean {
    return this.#mailbox !== undefined && this.#current === undefined;
  }

  /** Has it answer a call. It is free. */
  answer(waiting: Waiting, waitedMs: number): void {
    const id = this.#next++;
    const leftMs = Math.max(0, this.#options.timeoutMs - waitedMs) + PROMQL_OVERDUE_MS;
    const overdue = after(leftMs, OVERDUE, () => this.#thread.replace());
    this.#current = { waiting, id, sinceMs: systemClock.monotonicMs(), overdue };
    const call: PromqlCall = { type: "call", id, ...waiting.call, waitedMs, cancel: waiting.cancel.word };
    this.#mailbox?.send(call);
  }

  /** Ends it; what it has under way is not answered. */
  async stop(): Promise<void> {
    this.#current?.waiting.cancel.set();
    this.#thread.expectEnd();
    this.#mailbox?.send({ type: "stop" });
    const late = after(PROMQL_STOP_MS_MAX, OVERDUE, () => this.#thread.terminate());
    await this.#thread.ended;
    clearTimeout(late);
    this.#settle({ status: PROMETHEUS_STATUS.unavailable, body: prometheusErrorBody("unavailable", "the server is stopping") });
  }

  #connect() {
    const main = createChannel<QueryWorkerReport, QueryWorkerCommand>();
    const coordinator = createChannel<SourceAnswer, SourceQuestion>();
    const { dataDir, engines, samplesMax, memoryBytesMax, timeoutMs } = this.#options;
    const options = { samplesMax, memoryBytesMax, timeoutMs };
    const data: QueryWorkerData = { dataDir, engines, options, mainPort: main.second.raw, coordinatorPort: coordinator.first.raw };
    this.#mailbox = main.first;
    main.first.serve(
      {
        answer: ({ id, status, body }) => {
          if (id === this.#current?.id) this.#settle({ status, body });
        },
        fault: (fault) => this.#dependencies.fault(fault),
      },
      task("an answer of a query worker"),
    );
    this.#dependencies.connect(coordinator.second.raw);
    return { data, ports: [data.mainPort, data.coordinatorPort] };
  }

  #failed(error: Error): void {
    const { log } = this.#dependencies;
    log("error", "a query worker ended; it is started again, and its query is answered 500", errorFields(error));
    noteFault({ where: "thread", name: "a query worker", error });
    this.#mailbox?.close();
    this.#mailbox = undefined;
    this.#settle(FAILED);
  }

  #settle(answer: WorkerAnswer): void {
    const current = this.#current;
    if (current === undefined) return;
    this.#current = undefined;
    clearTimeout(current.overdue);
    this.#ended(current.waiting, systemClock.monotonicMs() - current.sinceMs, answer);
  }
}

/** The heap holds labels, texts and objects; values lie beside it, and are counted by the query itself. */
function heapMbOf({ memoryBytesMax }: QueryOptions): number {
  return HEAP_MB_LEAST + Math.ceil(memoryBytesMax / 2 ** 20);
}

const HEAP_MB_LEAST = 256;

/** Once the thread is there. */
function afterStart(started: () => void): void {
  after(0, task("the calls that wait for a query worker"), started);
}
