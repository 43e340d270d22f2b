// How many read the event stream: a word that the front writes and the coordinator reads, which makes no events where nobody does.

/** Shared by the threads that are given its word. */
export class ReaderCount {
  /** To be handed to another thread, which makes its own count of it. */
  readonly word: Int32Array<ArrayBufferLike>;

  constructor(word: Int32Array<ArrayBufferLike> = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.word = word;
  }

  get value(): number {
    return Atomics.load(this.word, 0);
  }

  set value(count: number) {
    Atomics.store(this.word, 0, count);
  }
}
