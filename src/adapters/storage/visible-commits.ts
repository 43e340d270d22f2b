/**
 * When readers see a commit of lmdb-js, which is before it has been flushed. The library writes in a thread of the pool: it begins with `startWriting` of the
 * environment, whose callback gets 1 as soon as the transaction is visible (where the environment flushes beside the next transaction, which is the default
 * but on Windows), and 0 or an error when it has been flushed; promises are settled by the latter. A library that tells otherwise is only slower: nothing is
 * ever visible early.
 */

/** Events that are listened to; not declared by the library. */
export interface WritingEnvironment {
  startWriting(address: number, callback: (status: number) => unknown): unknown;
}

const VISIBLE = 1;

/** The commits of one environment, of which one is written at a time. */
export class VisibleCommits {
  #report: () => void = () => undefined;

  constructor(environment: WritingEnvironment) {
    const { startWriting } = environment;
    const listening = (address: number, callback: (status: number) => unknown) => {
      const tell = this.#report;
      return startWriting.call(environment, address, (status) => {
        if (status === VISIBLE) tell();
        return callback(status);
      });
    };
    Object.defineProperty(environment, "startWriting", { value: listening });
  }

  /** Resolves when the commit that is begun next is visible, or never; to be called just before it begins. */
  next(): Promise<void> {
    return new Promise((resolve) => {
      this.#report = resolve;
    });
  }
}
