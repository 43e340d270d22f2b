// Work that takes a thread of its own for a while, through Piscina: one job at a time, in a thread that is started for the first and ends when it was idle.
import type { Piscina } from "piscina";

export interface WorkerPoolOptions {
  /** A built file, and the name of what it exports to do a job. */
  readonly file: URL;
  readonly task: string;
  /** Megabytes of its heap; a job that takes more fails. */
  readonly heapMbMax: number;
  /** The thread ends when it had nothing to do for so long. */
  readonly idleMs: number;
  /** A job that takes longer fails, and its thread is ended. */
  readonly jobMsMax: number;
  /** Jobs that wait besides the one that runs; one where it is not given. */
  readonly waitingMax?: number;
}

const WAITING_MAX_INITIAL = 1;
/** Added to the thread's nice value where the system knows such: other threads go first. */
const NICE = 10;

export class WorkerPool<Job, Result> {
  readonly #options: WorkerPoolOptions;
  #pool: Promise<Piscina> | undefined;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  /** Resolves with what the job comes to; rejects when it throws, takes too long or too much memory, when its thread ends, or when too many wait. */
  async run(job: Job): Promise<Result> {
    const { task, jobMsMax } = this.#options;
    this.#pool ??= this.#open();
    return (await (await this.#pool).run(job, { name: task, signal: AbortSignal.timeout(jobMsMax) })) as Result;
  }

  /** Piscina is loaded for the first job: a start has none. */
  async #open(): Promise<Piscina> {
    const { Piscina } = await import("piscina");
    const { file, heapMbMax, idleMs, waitingMax = WAITING_MAX_INITIAL } = this.#options;
    return new Piscina({
      filename: file.href,
      minThreads: 0,
      maxThreads: 1,
      maxQueue: waitingMax,
      idleTimeout: idleMs,
      niceIncrement: NICE,
      resourceLimits: { maxOldGenerationSizeMb: heapMbMax },
      recordTiming: false,
    });
  }

  /** Ends the thread; jobs that run or wait are rejected. */
  async close(): Promise<void> {
    const pool = this.#pool;
    this.#pool = undefined;
    await (await pool)?.destroy();
  }
}
