// Whether somebody still waits for work that another thread does without its event loop: a word that the one writes and the other reads.

/** Shared by the threads that are given its word. */
export class CancelFlag {
  /** To be handed to the other thread, which makes its own flag of it. */
  readonly word: Int32Array<SharedArrayBuffer>;

  constructor(word: Int32Array<SharedArrayBuffer> = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))) {
    this.word = word;
  }

  get isSet(): boolean {
    return Atomics.load(this.word, 0) !== 0;
  }

  set(): void {
    Atomics.store(this.word, 0, 1);
  }
}
