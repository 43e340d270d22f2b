// How far a series strays by itself, to either side.
import { OwnTail } from "./own-tail.ts";

/** Over caller-owned state of two tails of OWN_TAIL_LENGTH numbers, and of one number for the furthest of the values in a row that are far out, signed; all 0 at the start. */
export class OwnTails {
  readonly #above: OwnTail;
  readonly #below: OwnTail;
  readonly #far: Float64Array;

  constructor(above: Float64Array, below: Float64Array, far: Float64Array) {
    this.#above = new OwnTail(above);
    this.#below = new OwnTail(below);
    this.#far = far;
  }

  to(side: number): OwnTail {
    return side < 0 ? this.#below : this.#above;
  }

  /** Values in a row that are `far` out are one event, which does not speak for itself while it goes on: the furthest of them counts once they are over. */
  learn(size: number, far: number): void {
    const peak = this.#far[0] as number;
    if (Math.abs(size) < far || peak * size < 0) {
      this.add(peak !== 0 ? peak : size);
      this.#far[0] = 0;
    }
    if (Math.abs(size) >= far && Math.abs(size) > Math.abs(peak)) this.#far[0] = size;
  }

  add(size: number): void {
    this.#above.add(Math.max(0, size));
    this.#below.add(Math.max(0, -size));
  }

  /** Another forecast speaks from now on: how far values were off what was expected before says nothing of how far they are off it. */
  restart(): void {
    this.#above.restart();
    this.#below.restart();
    this.#far[0] = 0;
  }

  /** A departure has begun: values in a row before it are no event of their own. */
  endRow(): void {
    this.#far[0] = 0;
  }
}
