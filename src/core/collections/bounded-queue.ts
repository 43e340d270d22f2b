// A queue of at most so many places, first in, first out: @thi.ng/buffers' ring, whose own `write` takes a value too many and then gives wrong ones.
// Room for all places is taken at once (8 bytes each). For queues of the control plane that are often long; rings between threads are adapters/shared-memory's.
import { FIFOBuffer } from "@thi.ng/buffers/fifo";

export class BoundedQueue<T extends object> {
  readonly #ring: FIFOBuffer<T>;

  constructor(places: number) {
    this.#ring = new FIFOBuffer<T>(places);
  }

  get length(): number {
    return this.#ring.length;
  }

  /** Puts a value behind the others; false when there is no place. */
  put(value: T): boolean {
    return this.#ring.writable() && this.#ring.write(value);
  }

  /** Takes the first value out; undefined when there is none. */
  take(): T | undefined {
    return this.#ring.readable() ? this.#ring.read() : undefined;
  }
}
