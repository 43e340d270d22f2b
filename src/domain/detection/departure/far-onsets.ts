// How often a series goes far out by itself, to either side: what is nothing special once is nothing special twice in a row either, where it is that often.
import { mix } from "./local-levels.ts";
import type { OwnTail } from "./own-tail.ts";

/** Weight of a value: shares are of what the series has done in a day and a half of minutes. */
const ONSET_WEIGHT = 1 / 2000;
const ABOVE = 0;
const BELOW = 1;

/** The newest values to a side, by how many standard deviations each lies to it, the newest first; from `far` on one is far out. */
interface RowOfValues {
  readonly side: 1 | -1;
  readonly most: number;
  readonly probability: number;
  readonly far: number;
  readonly sizeOf: (back: number) => number;
}

/** Over two caller-owned numbers, 0 at the start: the share of the values with which the series went far out, to each side. */
export class FarOnsets {
  readonly #shares: Float64Array;

  constructor(shares: Float64Array) {
    this.#shares = shares;
  }

  /** Learns from a value's size and that of the value before it: those that go on with it do not count. */
  learn(size: number, before: number, far: number, count: number): void {
    const shares = this.#shares;
    const weight = Math.max(ONSET_WEIGHT, 1 / count);
    shares[ABOVE] = mix(shares[ABOVE] as number, size >= far && before < far ? 1 : 0, weight);
    shares[BELOW] = mix(shares[BELOW] as number, size <= -far && before > -far ? 1 : 0, weight);
  }

  /** How often it went to the side to which it did so more often, within `count` values that are all of its own: no more of them than a share remembers. */
  times(count: number): number {
    return count * Math.max(...this.#shares);
  }

  /** Whether values together are as rare as one of this probability. Where the series goes far out with one of r values, k of them have r^k; of a heavy tail, each must be as far as what it passes with the k-th root. */
  areRare({ side, most, probability, far, sizeOf }: RowOfValues, tail: OwnTail): boolean {
    let farOut = 0;
    for (let back = 0; back < most; back++) if (sizeOf(back) >= far) farOut++;
    if (farOut > 0 && (this.#shares[side < 0 ? BELOW : ABOVE] as number) ** farOut > probability) return false;
    if (!tail.isHeavy) return true;
    let least = Number.POSITIVE_INFINITY;
    for (let back = 0; back < most; back++) {
      least = Math.min(least, sizeOf(back));
      if (least > 0 && back > 0 && least >= tail.exceededWith(probability ** (1 / (back + 1)))) return true;
    }
    return false;
  }
}
