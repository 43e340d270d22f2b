// One query worker as main sees it: its thread, which is started again where it ends, and the calls that it has.
import type { CancelFlag } from "../../adapters/shared-memory/cancel-flag.ts";
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

export interface QueryWorkerDependencies {
  /** Gives the coordinator its end of the channel to a worker. */
  connect(port: MessagePort): void;
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
export interface Waiting {
  readonly call: WorkerCall;
  readonly onAnswer: OnAnswer;
  readonly sinceMs: number;
  readonly cancel: CancelFlag;
}

/** The answer to a call, and what it has taken. */
export interface WorkerAnswer {
  readonly status: number;
  readonly body: string | Uint8Array;
  readonly usedMs: number;
  readonly samples: number;
}

export interface QueryWorkerOptions extends QueryOptions {
  readonly dataDir: string;
  readonly engines: number;
}

interface Running {
  readonly waiting: Waiting;
  readonly overdue: NodeJS.Timeout;
}

const OVERDUE = task("a query that does not end");

/** One worker: its thread, and the calls that it has. */
export class QueryWorker {
  readonly #dependencies: QueryWorkerDependencies;
  readonly #options: QueryWorkerOptions;
  readonly #ended: (waiting: Waiting, answer: WorkerAnswer) => void;
  readonly #thread: ActorThread;
  #mailbox: Mailbox<QueryWorkerReport, QueryWorkerCommand> | undefined;
  readonly #running = new Map<number, Running>();
  #next = 1;

  constructor(
    options: QueryWorkerOptions,
    dependencies: QueryWorkerDependencies,
    ended: (waiting: Waiting, answer: WorkerAnswer) => void,
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

  /** Whether it may be given another call. */
  get isReady(): boolean {
    return this.#mailbox !== undefined && this.#running.size < this.#options.runningMax;
  }

  get running(): number {
    return this.#running.size;
  }

  /** Has it answer a call. It is ready. */
  answer(waiting: Waiting, waitedMs: number): void {
    const id = this.#next++;
    const leftMs = Math.max(0, this.#options.timeoutMs - waitedMs) + PROMQL_OVERDUE_MS;
    const overdue = after(leftMs, OVERDUE, () => this.#thread.replace());
    this.#running.set(id, { waiting, overdue });
    const call: PromqlCall = { type: "call", id, ...waiting.call, waitedMs, cancel: waiting.cancel.word };
    this.#mailbox?.send(call);
  }

  /** Ends it; what it has under way is answered 503. */
  async stop(): Promise<void> {
    for (const { waiting } of this.#running.values()) waiting.cancel.set();
    this.#thread.expectEnd();
    this.#mailbox?.send({ type: "stop" });
    const late = after(PROMQL_STOP_MS_MAX, OVERDUE, () => this.#thread.terminate());
    await this.#thread.ended;
    clearTimeout(late);
    this.#settleAll("unavailable", "the server is stopping");
  }

  #connect() {
    const main = createChannel<QueryWorkerReport, QueryWorkerCommand>();
    const coordinator = createChannel<SourceAnswer, SourceQuestion>();
    const { dataDir, engines, samplesMax, memoryBytesMax, timeoutMs, runningMax } = this.#options;
    const options = { samplesMax, memoryBytesMax, timeoutMs, runningMax };
    const data: QueryWorkerData = { dataDir, engines, options, mainPort: main.second.raw, coordinatorPort: coordinator.first.raw };
    this.#mailbox = main.first;
    main.first.serve(
      {
        answer: ({ id, status, body, usedMs, samples }) => this.#settle(id, { status, body, usedMs, samples }),
        fault: (fault) => this.#dependencies.fault(fault),
      },
      task("an answer of a query worker"),
    );
    this.#dependencies.connect(coordinator.second.raw);
    return { data, ports: [data.mainPort, data.coordinatorPort] };
  }

  #failed(error: Error): void {
    const { log } = this.#dependencies;
    log("error", "a query worker ended; it is started again, and its queries are answered 500", errorFields(error));
    noteFault({ where: "thread", name: "a query worker", error });
    this.#mailbox?.close();
    this.#mailbox = undefined;
    this.#settleAll("internal", "the thread of this query ended, perhaps for want of memory; others go on in a new one");
  }

  #settle(id: number, answer: WorkerAnswer): void {
    const running = this.#running.get(id);
    if (running === undefined) return;
    this.#running.delete(id);
    clearTimeout(running.overdue);
    this.#ended(running.waiting, answer);
  }

  #settleAll(errorType: keyof typeof PROMETHEUS_STATUS, message: string): void {
    const answer = { status: PROMETHEUS_STATUS[errorType], body: prometheusErrorBody(errorType, message), usedMs: 0, samples: 0 };
    for (const id of [...this.#running.keys()]) this.#settle(id, answer);
  }
}

/** The heap holds labels, texts and objects; values lie beside it, and are counted by the query itself. */
function heapMbOf({ memoryBytesMax }: QueryWorkerOptions): number {
  return HEAP_MB_LEAST + Math.ceil(memoryBytesMax / 2 ** 20);
}

const HEAP_MB_LEAST = 256;

/** Once the thread is there. */
function afterStart(started: () => void): void {
  after(0, task("the calls that wait for a query worker"), started);
}
