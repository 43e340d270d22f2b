/**
 * Buffers for bodies on their way in: powers of two from 16 KiB up, last used first, so that steady traffic stays in a few hot buffers.
 * Ordinary memory and not the engines' shared memory, because chunks arrive at odd addresses, and V8 copies those into shared memory byte
 * by byte: ten times slower than one aligned copy of the whole body afterwards.
 */
import { BODY_BUFFER_BYTES_MIN } from "./http-limits.ts";

/** Lends buffers; how many at once is bounded by whoever borrows. */
export class BodyPool {
  readonly #free = new Map<number, Buffer[]>();
  readonly #retainedMax: number;
  #retained = 0;

  /** Keeps so many bytes of buffers for the next bodies. */
  constructor(options: { retainedBytesMax: number }) {
    this.#retainedMax = options.retainedBytesMax;
  }

  /** A buffer of at least `bytes`, starting at an 8-byte boundary. */
  acquire(bytes: number): Buffer {
    const size = bufferSize(bytes);
    const retained = this.#free.get(size)?.pop();
    if (retained === undefined) return Buffer.allocUnsafeSlow(size);
    this.#retained -= size;
    return retained;
  }

  /** Takes a lent buffer back, whole as it was lent. */
  release(buffer: Buffer): void {
    const size = buffer.length;
    if (this.#retained + size > this.#retainedMax) return;
    this.#retained += size;
    const list = this.#free.get(size);
    if (list === undefined) this.#free.set(size, [buffer]);
    else list.push(buffer);
  }
}

function bufferSize(bytes: number): number {
  let size = BODY_BUFFER_BYTES_MIN;
  while (size < bytes) size *= 2;
  return size;
}
