/**
 * The query workers as main sees them: threads that are started with the first query, started again where they end, and given several calls at once.
 *
 * Twenty calls run at once in all of them, the others wait; tenants have shares of both, counted by ledgers. Of those that wait the oldest of the tenant that has had least
 * time is next; whoever finds no place is told to try again. Calls whose worker ends are answered 500, and the next worker goes on with the others.
 */
import { systemClock } from "../../adapters/platform/clock.ts";
import { CancelFlag } from "../../adapters/shared-memory/cancel-flag.ts";
import { PROMETHEUS_STATUS, prometheusErrorBody } from "../../api/prometheus/prometheus-envelope.ts";
import { PROMQL_RUNNING_MAX, PROMQL_RUNNING_SHARE } from "../../core/config/promql-limits.ts";
import { HadTime } from "../../core/fairness/had-time.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { QueryOptions } from "./query-call.ts";
import {
  type OnAnswer,
  QueryWorker,
  type QueryWorkerDependencies,
  type Waiting,
  type WorkerAnswer,
  type WorkerCall,
} from "./query-thread.ts";

/** How many workers there are, and what bounds their queries. */
export interface QueryWorkersOptions extends Omit<QueryOptions, "runningMax"> {
  readonly dataDir: string;
  readonly engines: number;
  readonly workers: number;
}

export interface QueryWorkersDependencies extends QueryWorkerDependencies {
  /** Places of calls that are there. */
  readonly places: ShareLedger;
}

interface QueryCounts {
  answered: number;
  /** Calls for which there was no place. */
  refused: number;
  samples: number;
  /** Time of workers that calls have had. */
  usedMs: number;
}

/** All workers, their queue and their tenants' turns. */
export class QueryWorkers {
  readonly #options: QueryWorkersOptions;
  readonly #dependencies: QueryWorkersDependencies;
  readonly #workers: QueryWorker[] = [];
  readonly #queue: Waiting[] = [];
  readonly #running: ShareLedger;
  readonly #had = new HadTime();
  readonly counts: QueryCounts = { answered: 0, refused: 0, samples: 0, usedMs: 0 };
  #isStopping = false;

  constructor(options: QueryWorkersOptions, dependencies: QueryWorkersDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    const { places } = dependencies;
    this.#running = new ShareLedger({ most: PROMQL_RUNNING_MAX, share: PROMQL_RUNNING_SHARE, tenants: () => places.places.tenants });
  }

  /** Calls that wait until fewer run. */
  get queued(): number {
    return this.#queue.length;
  }

  get running(): number {
    return this.#running.taken;
  }

  /** Takes a call; gives back what ends it where nobody waits any more, or undefined where too many are there. */
  call(call: WorkerCall, onAnswer: OnAnswer): (() => void) | undefined {
    const { places } = this.#dependencies;
    if (this.#isStopping || !places.take(call.tenant)) {
      this.counts.refused++;
      return undefined;
    }
    const waiting = { call, onAnswer, sinceMs: systemClock.monotonicMs(), cancel: new CancelFlag() };
    this.#had.begin(call.tenant);
    this.#queue.push(waiting);
    this.#hand();
    return () => this.#cancel(waiting);
  }

  /** Answers what waits, and ends the workers. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    for (const waiting of this.#queue.splice(0)) this.#end(waiting, "unavailable", "the server is stopping");
    await Promise.all(this.#workers.map((worker) => worker.stop()));
  }

  #cancel(waiting: Waiting): void {
    waiting.cancel.set();
    const at = this.#queue.indexOf(waiting);
    if (at < 0) return;
    this.#queue.splice(at, 1);
    this.#end(waiting, "canceled", "query was canceled in query queue");
  }

  /** Gives workers what waits and may run. */
  #hand(): void {
    while (!this.#isStopping) {
      const waiting = this.#next();
      const worker = waiting && this.#freeWorker();
      if (waiting === undefined || worker === undefined) return;
      this.#queue.splice(this.#queue.indexOf(waiting), 1);
      const waitedMs = systemClock.monotonicMs() - waiting.sinceMs;
      if (waitedMs > this.#options.timeoutMs) this.#end(waiting, "timeout", "query timed out in query queue");
      else {
        this.#running.add(waiting.call.tenant);
        worker.answer(waiting, waitedMs);
      }
    }
  }

  /** The oldest call of the tenant that has had least time, of those whose calls may run now. */
  #next(): Waiting | undefined {
    const had = ({ call }: Waiting) => this.#had.of(call.tenant);
    const ready = this.#queue.filter(({ call }) => this.#running.available(call.tenant) > 0);
    return ready.length === 0 ? undefined : ready.reduce((least, waiting) => (had(waiting) < had(least) ? waiting : least));
  }

  /** The worker with the fewest calls; a new one rather than a second call of one. */
  #freeWorker(): QueryWorker | undefined {
    const there = this.#workers.filter(({ isReady }) => isReady).sort((a, b) => a.running - b.running)[0];
    if (there?.running === 0) return there;
    return this.#startOne() ?? there;
  }

  #startOne(): QueryWorker | undefined {
    if (this.#workers.length >= this.#options.workers) return undefined;
    const ended = (waiting: Waiting, answer: WorkerAnswer) => {
      this.#running.give(waiting.call.tenant);
      this.#answer(waiting, answer);
      this.#hand();
    };
    const runningMax = Math.ceil(PROMQL_RUNNING_MAX / this.#options.workers);
    const worker = new QueryWorker({ ...this.#options, runningMax }, this.#dependencies, ended, () => this.#hand());
    this.#workers.push(worker);
    return worker;
  }

  #end(waiting: Waiting, errorType: keyof typeof PROMETHEUS_STATUS, message: string): void {
    this.#answer(waiting, { status: PROMETHEUS_STATUS[errorType], body: prometheusErrorBody(errorType, message), usedMs: 0, samples: 0 });
  }

  #answer({ call, onAnswer }: Waiting, { status, body, usedMs, samples }: WorkerAnswer): void {
    this.counts.answered++;
    this.counts.samples += samples;
    this.counts.usedMs += usedMs;
    const { places } = this.#dependencies;
    places.give(call.tenant);
    if (places.used(call.tenant) === 0) this.#had.end(call.tenant);
    else this.#had.add(call.tenant, usedMs);
    onAnswer(status, body);
  }
}
