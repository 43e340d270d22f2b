/** Memory that short copies share. */
const SHARED_BYTES = 32 * 1024;
/** Longer copies have memory of their own: one that is kept would keep as much of others. */
const SHORT_BYTES_MAX = 4 * 1024;

/**
 * Copies of bytes, the short ones beside one another in arrays of 32 KiB. An array of its own for each is an account outside V8's heap, and LMDB asks for the
 * address of each. For copies that go soon: one keeps its neighbours.
 */
export class ShortCopies {
  #shared = new Uint8Array(SHARED_BYTES);
  #at = 0;

  /** The first `length` bytes, copied; nobody else writes there. */
  copy(bytes: Uint8Array, length = bytes.length): Uint8Array<ArrayBuffer> {
    if (length > SHORT_BYTES_MAX) return new Uint8Array(bytes.subarray(0, length));
    if (this.#at + length > SHARED_BYTES) {
      this.#shared = new Uint8Array(SHARED_BYTES);
      this.#at = 0;
    }
    const { buffer } = this.#shared;
    const copy = new Uint8Array(buffer, this.#at, length);
    this.#at += length;
    copy.set(length === bytes.length ? bytes : bytes.subarray(0, length));
    return copy;
  }
}
