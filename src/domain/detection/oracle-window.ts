// The slow twin of the kernel's window (shard-statistics.ts, shard-apart.ts): a part of stream-oracle.ts. Statistics are taken from the values each time, where the ring
// has all of them.
import { WINDOW_MAX } from "../../core/layout/stream-record.ts";
import { windowStatistics } from "./welford.ts";

/** A value in the ring. */
export interface WindowValue {
  readonly raw: number;
  readonly time: number;
  readonly interval: number;
  readonly masked: boolean;
}

/** What becomes of a value: it counts; it is of an open episode; it waits; the window goes on behind it, or begins anew with it. */
export type Fate = "enters" | "stays out" | "waits" | "goes on" | "begins anew";

/** Mean and M2 of so many values. */
export interface Moments {
  readonly count: number;
  readonly mean: number;
  readonly m2: number;
}

/** Statistics that do not follow from the ring alone. */
interface Apart extends Moments {
  /** Newest values of the ring that came since. */
  readonly behind: number;
  readonly pending: number;
}

const VALUE_LIMIT = 1e140;
/** Values that may wait. */
const PENDING_MAX = 6;
const BEHIND_MAX = 255;

/** A value as it enters the statistics. */
export function limited(value: number): number {
  return Math.min(VALUE_LIMIT, Math.max(-VALUE_LIMIT, value));
}

/** Window and ring of one stream. */
export class OracleWindow {
  readonly #size: number;
  readonly #counted = new Float64Array(WINDOW_MAX);
  #ring: WindowValue[] = [];
  #clamp: readonly [number, number] = [0, 0];
  #apart: Apart | undefined;
  /** Of the ring's newest values, until one of them or the clamp changes. */
  #ofNewest: Moments | undefined;

  /** `size` is 12 .. 120. */
  constructor(size: number) {
    this.#size = size;
  }

  /** Values in the ring, oldest first. */
  get ring(): readonly WindowValue[] {
    return this.#ring;
  }

  /** The newest of them that a window holds. */
  get newest(): readonly WindowValue[] {
    return this.#ring.slice(-this.#size);
  }

  /** What a value is compared with. */
  get statistics(): Moments {
    if (this.#apart !== undefined) return this.#apart;
    this.#ofNewest ??= windowStatistics(this.#effective(Math.min(this.#ring.length, this.#size)));
    return this.#ofNewest;
  }

  /** Whether one more value may wait. */
  get mayWait(): boolean {
    return (this.#apart?.pending ?? 0) < PENDING_MAX;
  }

  /** Values since the window was frozen. */
  get behind(): number {
    return this.#apart?.behind ?? 0;
  }

  /** Between what masked values count. */
  get bounds(): readonly [number, number] {
    return this.#clamp;
  }

  /** An episode has opened. */
  freeze(): void {
    const { count, mean, m2 } = this.statistics;
    this.#apart = { count, mean, m2, behind: this.#apart?.pending ?? 0, pending: 0 };
  }

  /** Mean of the newest values since then; `value` where there are none. */
  levelBehind(value: number): number {
    const values = this.valuesBehind;
    return values.length === 0 ? value : value + values.reduce((sum, each) => sum + (each - value), 0) / values.length;
  }

  /** The newest values since then, of at most a window. */
  get valuesBehind(): Float64Array {
    return this.#effective(Math.min(this.behind, this.#size, this.#ring.length));
  }

  /** Bounds for masked values. */
  bound(low: number, high: number): void {
    this.#clamp = [low, high];
    this.#ofNewest = undefined;
  }

  /** What was usual before a level that is accepted. */
  keepUsual(low: number, high: number): void {
    this.#ring = this.#ring.map((value) => ({ ...value, masked: false }));
    this.bound(low, high);
  }

  /** Goes back to that; `width` is half of its bounds in standard deviations. */
  goBack(width: number): void {
    const [low, high] = this.#clamp;
    const { count } = this.statistics;
    const sd = (high - low) / (2 * width);
    this.#apart = { count, mean: low + (high - low) / 2, m2: sd * sd * (count - 1), behind: 0, pending: 0 };
  }

  /** Puts a value into the ring, and into the statistics as its fate says. */
  insert(value: WindowValue, fate: Fate): void {
    const before = fate === "enters" && this.#apart === undefined ? undefined : (this.#apart ?? this.#ofRing());
    this.#ring.push(value);
    if (this.#ring.length > WINDOW_MAX) this.#ring.shift();
    this.#ofNewest = undefined;
    if (before === undefined) return;
    if (fate === "stays out") this.#apart = { ...before, behind: Math.min(BEHIND_MAX, before.behind + 1) };
    else if (fate === "waits") this.#apart = { ...before, pending: before.pending + 1 };
    else if (fate === "goes on") this.#apart = { ...before, behind: 0 };
    else if (fate === "begins anew") this.#cover(Math.min(before.behind + 1, this.#size, this.#ring.length));
    else this.#join(before);
  }

  #ofRing(): Apart {
    const { count, mean, m2 } = this.statistics;
    return { count, mean, m2, behind: count, pending: 0 };
  }

  /** The statistics are those of the ring's newest values. */
  #cover(count: number): void {
    if (count === Math.min(this.#ring.length, this.#size)) this.#apart = undefined;
    else {
      const { mean, m2 } = windowStatistics(this.#effective(count));
      this.#apart = { count, mean, m2, behind: count, pending: 0 };
    }
  }

  /** The newest value and those that have waited count. */
  #join(before: Apart): void {
    const entering = before.pending + 1;
    if (before.behind === before.count) {
      this.#cover(Math.min(before.count + entering, this.#size));
      return;
    }
    let apart: Apart | undefined = { ...before, pending: 0 };
    for (const value of this.#effective(entering)) apart = apart && this.#follow(apart, value);
    this.#apart = apart;
  }

  /** Takes a value into statistics of which the ring has a part; undefined once it has all. */
  #follow({ count, mean, m2, behind }: Apart, value: number): Apart | undefined {
    if (behind + 1 >= this.#size) return undefined;
    const isFull = count >= this.#size;
    const others = isFull ? count - 1 : count;
    const left = isFull ? m2 * ((count - 1) / count) : m2;
    const moved = mean + (value - mean) / (others + 1);
    return { count: others + 1, mean: moved, m2: left + (value - mean) * (value - moved), behind: behind + 1, pending: 0 };
  }

  /** The newest values as they count, oldest first; until the next call. */
  #effective(count: number): Float64Array {
    const [low, high] = this.#clamp;
    const first = this.#ring.length - count;
    for (let at = 0; at < count; at++) {
      const { raw, masked } = this.#ring[first + at] as WindowValue;
      this.#counted[at] = masked ? Math.min(Math.max(limited(raw), low), high) : limited(raw);
    }
    return this.#counted.subarray(0, count);
  }
}
