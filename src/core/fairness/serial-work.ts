// Work that must not overlap: each begins when the one before has ended, however that ended.
// Work in steps, as a generator: whoever does it may let others have their turn between two of them.

/** Runs works one after another, in the order in which they were given. */
export class SerialWork {
  #last: Promise<unknown> = Promise.resolve();

  /** Resolves or rejects as the work does. */
  run<T>(work: () => Promise<T>): Promise<T> {
    const own = this.#last.then(work);
    this.#last = own.catch(() => undefined);
    return own;
  }
}

/** Takes all steps at once; gives their result. */
export function finished<T>(steps: Generator<unknown, T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
