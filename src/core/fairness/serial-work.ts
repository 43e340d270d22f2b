// Work that must not overlap: each begins when the one before has ended, however that ended.

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
