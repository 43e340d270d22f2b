// The thread of an actor as others see it: started, ended, failed, and started again where its policy says so.
// Waits between the starts of an actor that keeps ending.
import { after, background, fatal } from "../../core/faults/guard.ts";
import { errorOf } from "../../core/text/error-text.ts";
import { systemClock } from "../platform/clock.ts";
import { Signal } from "./actor-handle.ts";
import type { MessagePort } from "./mailbox.ts";
import { spawn, type Thread } from "./threads.ts";

const START = fatal("the start of a thread");

/** Failure: which actor ended, and with what. */
export interface ActorFailure {
  readonly actor: string;
  readonly error: Error;
}

/** One start: a port is moved to the thread, so that each start needs ports of its own. */
export interface ActorStart {
  readonly data: unknown;
  readonly ports: readonly MessagePort[];
}

export interface ActorThreadOptions {
  readonly name: string;
  /** Built. */
  readonly file: URL;
  /** Called at once, before anything else of the actor's is. */
  readonly failed: (failure: ActorFailure) => void;
  /** An actor without a policy is never started again. */
  readonly restart?: RestartPolicy;
  /** Megabytes of its heap: a thread that takes more ends, and not the process. */
  readonly heapMbMax?: number;
}

/** Thread of an actor. It runs from the beginning. */
export class ActorThread {
  readonly #options: ActorThreadOptions;
  readonly #start: () => ActorStart;
  readonly #backOff: BackOff | undefined;
  readonly #ended = new Signal();
  #thread: Thread | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isEndAsked = false;
  #restarts = 0;

  /** `start` is asked for data and ports before each start. */
  constructor(options: ActorThreadOptions, start: () => ActorStart) {
    this.#options = options;
    this.#start = start;
    this.#backOff = options.restart && new BackOff(options.restart);
    this.#run();
  }

  /** Starts after the first. */
  get restarts(): number {
    return this.#restarts;
  }

  /** Resolves when it has ended and will not be started again. */
  get ended(): Promise<void> {
    return this.#ended.resolved;
  }

  /** From now on an end is no failure, and nothing is started again. To be called before an actor with a restart policy is told to stop. */
  expectEnd(): void {
    this.#isEndAsked = true;
    if (this.#timer === undefined) return;
    clearTimeout(this.#timer);
    this.#ended.give();
  }

  /** Ends it wherever it is, as a failure: where it has a policy it is started again. */
  replace(): void {
    const thread = this.#thread;
    if (thread !== undefined) background(START, thread.terminate());
  }

  /** Ends it wherever it is; resolves when it has ended. */
  async terminate(): Promise<void> {
    this.expectEnd();
    await this.#thread?.terminate();
    await this.ended;
  }

  #run(): void {
    const { file, name, heapMbMax } = this.#options;
    const { data, ports } = this.#start();
    const startMs = systemClock.monotonicMs();
    let hasFailed = false;
    const fail = (error: unknown) => {
      if (hasFailed || this.#isEndAsked) return;
      hasFailed = true;
      this.#options.failed({ actor: name, error: errorOf(error) });
    };
    const thread = spawn(file, name, { data, ports, ...(heapMbMax !== undefined && { heapMbMax }) }, fail);
    this.#thread = thread;
    const ended = (code: number) => {
      this.#thread = undefined;
      // An actor without a policy may come to its end; one that is to be there always has failed.
      if (code !== 0 || this.#backOff !== undefined) fail(new Error(`its thread ended with code ${code}`));
      if (this.#backOff === undefined || this.#isEndAsked) this.#ended.give();
      else this.#runAfter(this.#backOff.waitMs(systemClock.monotonicMs() - startMs));
    };
    background(START, thread.ended.then(ended));
  }

  #runAfter(ms: number): void {
    this.#timer = after(ms, START, () => {
      this.#timer = undefined;
      this.#restarts++;
      this.#run();
    });
  }
}

/** Restart policy of an actor that may be started again. */
interface RestartPolicy {
  /** Wait before the first restart, which doubles from one to the next up to `mostMs`. */
  readonly firstMs: number;
  readonly mostMs: number;
  /** A run of so long was sound: the next wait is the first again. */
  readonly soundMs: number;
}

/** Back-off: says how long the next start has to wait. */
export class BackOff {
  readonly #policy: RestartPolicy;
  #nextMs: number;

  constructor(policy: RestartPolicy) {
    this.#policy = policy;
    this.#nextMs = policy.firstMs;
  }

  /** After a run of so many milliseconds. */
  waitMs(ranMs: number): number {
    const { firstMs, mostMs, soundMs } = this.#policy;
    const waitMs = ranMs >= soundMs ? firstMs : this.#nextMs;
    this.#nextMs = Math.min(mostMs, 2 * waitMs);
    return waitMs;
  }
}
