// Memory that all queries of one thread share: what one may take alone, they may take together.

/** Bytes of values of the queries that run. */
export class QueryMemory {
  readonly bytesMax: number;
  readonly #shareBytes: number;
  #bytes = 0;

  /** `queriesMax` is how many may run at once. */
  constructor(bytesMax: number, queriesMax: number) {
    this.bytesMax = bytesMax;
    this.#shareBytes = bytesMax / 2 / queriesMax;
  }

  /** Bytes that all queries have taken. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether so much is taken that only the query with the most, and those within their shares, should go on. */
  get isScarce(): boolean {
    return this.#bytes > this.bytesMax / 2;
  }

  /** Whether a query has no more than is sure for each: half of the memory, divided by all that may run. */
  isShare(bytes: number): boolean {
    return bytes <= this.#shareBytes;
  }

  /** Changes what one query has; false where all together have too much, and this one more than its share. */
  change(bytes: number, own: number): boolean {
    this.#bytes += bytes;
    return bytes <= 0 || this.#bytes <= this.bytesMax || this.isShare(own);
  }
}
