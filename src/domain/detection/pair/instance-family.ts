// Instances of one pair: streams that differ by nothing but their instance. A new one inherits the baseline of those before it, where they and its own first values are
// alike, so that a deployment which renames every pod loses none, and a fault in a new pod is found as in an old one.
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import { HOUR_MS } from "../../../core/time/durations.ts";
import { INSTANCE_NAMES, instanceOf } from "../../series/instance-name.ts";
import { identityText } from "../../series/stream-identity.ts";

/** Age of the newest value, at most, of instances that are asked whether they are alike. */
const ALIVE_MS = HOUR_MS;
/** Means of alike instances lie within so many standard deviations of theirs, and the values of a new one of what would be expected of them. */
export const ALIKE_SDS = 3;
/** Values that a baseline has before it is worth inheriting: an hour of minutes. */
const INHERITED_VALUES = 60;
/** Time in which a new instance warms up: caches are cold, code is not compiled yet. */
const WARMING_MS = 10 * 60_000;
/** For how long a new instance may become like the others: its first values are of a part of a minute, or of what starts. Each cycle asks. */
const JOINING_MS = 5 * 60_000;
/** The newest values that are asked for together. */
const NEWEST_MS = 60_000;

/** The text that instances of one pair share; null for a stream that names no instance. */
export function familyText(name: StreamName): string | null {
  return instanceOf(name.attributes) === null ? null : identityText(name, INSTANCE_NAMES);
}

/** Until when an instance that began then warms up. */
export function warmUntil(firstMs: number): number {
  return firstMs + WARMING_MS;
}

/** Whether an instance whose first and newest value came then may still inherit. */
export function mayJoin(firstMs: number, newestMs: number): boolean {
  return newestMs >= firstMs && newestMs - firstMs <= JOINING_MS;
}

/** Mean of the first `count` values' newest minute; NaN for none. Times ascend. */
export function newestLevel(times: Float64Array, values: Float64Array, count: number): number {
  const sinceMs = (times[count - 1] ?? 0) - NEWEST_MS;
  let [at, sum] = [count, 0];
  while (at > 0 && (times[at - 1] as number) > sinceMs) sum += values[--at] as number;
  return sum / (count - at);
}

/** A baseline that a new instance may inherit. */
export interface Ancestor {
  /** Name of the instance; of equals the lower one leaves its baseline. */
  readonly instance: string;
  readonly lastMs: number;
  readonly isAtRest: boolean;
  readonly baseline: { readonly n: number; readonly mean: number; readonly sd: number };
}

/** Chooses among the instances of a pair, offered in any order, the one whose baseline another that begins at `atMs` inherits. */
export class Inheritance<T extends Ancestor> {
  readonly #atMs: number;
  #best: T | undefined;
  #least = Number.POSITIVE_INFINITY;
  #most = Number.NEGATIVE_INFINITY;
  #sd = 0;

  constructor(atMs: number) {
    this.#atMs = atMs;
  }

  /** Whether an instance of so many values, the newest of which came then, is asked at all. */
  admits(n: number, lastMs: number): boolean {
    return n >= INHERITED_VALUES && this.#atMs - lastMs <= ALIVE_MS;
  }

  /** Whether it may become the one that is inherited from; its baseline is to be kept then. */
  offer(one: T): boolean {
    const { n, mean, sd } = one.baseline;
    if (!this.admits(n, one.lastMs)) return false;
    this.#least = Math.min(this.#least, mean);
    this.#most = Math.max(this.#most, mean);
    this.#sd = Math.max(this.#sd, sd);
    if (!one.isAtRest || (this.#best !== undefined && compare(this.#best, one) <= 0)) return false;
    this.#best = one;
    return true;
  }

  /** The one that was chosen; undefined where there is none, or instances are not alike. */
  get chosen(): T | undefined {
    return this.#most - this.#least <= ALIKE_SDS * this.#sd ? this.#best : undefined;
  }
}

/** Negative where the first is the better: it has seen more. */
function compare(one: Ancestor, other: Ancestor): number {
  return other.baseline.n - one.baseline.n || (one.instance < other.instance ? -1 : 1);
}
