// How far evidence goes by itself whose values overlap: the highest of each stretch of values counts, once it is over.
import { OwnTail } from "../departure/own-tail.ts";

/** Over caller-owned state of a tail of OWN_TAIL_LENGTH numbers and the highest of the stretch at hand; all 0 at the start. */
export class StretchTail {
  readonly #tail: OwnTail;
  readonly #peak: Float64Array;

  constructor(tail: Float64Array, peak: Float64Array) {
    this.#tail = new OwnTail(tail);
    this.#peak = peak;
  }

  /** Takes the newest evidence; at the end of a stretch its highest is what the series does. */
  learn(size: number, isEnd: boolean): void {
    this.#peak[0] = Math.max(this.#peak[0] as number, size);
    if (!isEnd) return;
    this.#tail.add(this.#peak[0] as number);
    this.#peak[0] = 0;
  }

  /** As of an own tail. */
  exceededWith(probability: number): number {
    return this.#tail.exceededWith(probability);
  }
}
