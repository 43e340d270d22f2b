import { StoreError } from "../../adapters/storage/key-value-store.ts";
import { answerFault, background, type Home, task } from "../../core/faults/guard.ts";

/** Access of steps to the store. */
export interface StoreAccess {
  /** Does work that writes, between the transactions of others; rejects where the store takes no writes. */
  edit<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves after so many milliseconds. */
  sleep(ms: number): Promise<void>;
}

/** After a commit that failed. */
const RETRY_MS = 1_000;

/** Steps that write between the transactions of others, one after the other until none is wanted. What the store refuses is tried again: nothing is lost. A step that throws is counted, and tried again too. */
export class StoreWork {
  readonly #step: () => Promise<boolean>;
  readonly #access: StoreAccess;
  readonly #home: Home;
  #isWanted = false;
  #isRunning = false;
  #isStopped = false;

  /** `step` resolves with whether there is more to do; `name` is what a throw of it is counted by. */
  constructor(name: string, step: () => Promise<boolean>, access: StoreAccess) {
    this.#step = step;
    this.#access = access;
    this.#home = task(name);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** There is something to do. */
  want(): void {
    this.#isWanted = true;
    if (this.#isRunning || this.#isStopped) return;
    this.#isRunning = true;
    background(this.#home, this.#run());
  }

  /** No step begins any more. */
  stop(): void {
    this.#isStopped = true;
  }

  /** It is over in the turn in which nothing is wanted any more: what is wanted a turn later begins another. */
  async #run(): Promise<void> {
    try {
      while (this.#isWanted && !this.#isStopped) await this.#once();
    } finally {
      this.#isRunning = false;
    }
  }

  async #once(): Promise<void> {
    this.#isWanted = false;
    try {
      const more = await this.#access.edit(this.#step);
      this.#isWanted ||= more;
    } catch (error) {
      if (!(error instanceof StoreError)) answerFault(this.#home, error);
      this.#isWanted = true;
      await this.#access.sleep(RETRY_MS);
    }
  }
}
