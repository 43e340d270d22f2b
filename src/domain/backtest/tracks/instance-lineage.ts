// Which series of a backtest are instances of one pair, and the baselines that new ones inherit: as a server's engine has them (pair/instance-family.ts).
import { groupBy } from "../../../core/collections/grouping.ts";
import { type Ancestor, familyText, Inheritance } from "../../detection/pair/instance-family.ts";
import { instanceOf } from "../../series/instance-name.ts";
import type { BacktestSeries } from "../history.ts";

interface StoredAncestor extends Ancestor {
  state: ArrayBuffer;
}

/** The first cycle of a series, and its newest value by then. */
interface Start {
  readonly cycleMs: number;
  readonly inheritance: Inheritance<StoredAncestor>;
}

/** Offer of a track, and its state, which is copied where it is chosen. */
export type Offer = Omit<Ancestor, "instance"> & { readonly copy: () => ArrayBuffer };

/** Lineage of one run. Series are to be gone over in the order of their first values. */
export class InstanceLineage {
  readonly #starts = new Map<BacktestSeries, Start>();
  /** Starts of the others of a family, ascending. */
  readonly #families = new Map<BacktestSeries, readonly Start[]>();

  /** `cycleOf` is the cycle that sees a value first. */
  constructor(all: readonly BacktestSeries[], cycleOf: (timeMs: number) => number) {
    const instances = all.filter(({ name, times }) => times.length > 0 && instanceOf(name.attributes) !== null);
    for (const family of groupBy(instances, ({ name }) => familyText(name)).values()) {
      if (family.length < 2) continue;
      for (const series of family) {
        const cycleMs = cycleOf(series.times[0] as number);
        const newest = series.times.findLast((timeMs) => cycleOf(timeMs) <= cycleMs) as number;
        this.#starts.set(series, { cycleMs, inheritance: new Inheritance(newest) });
      }
      const starts = family.map((series) => this.#starts.get(series) as Start).sort((a, b) => a.cycleMs - b.cycleMs);
      for (const series of family) this.#families.set(series, starts);
    }
  }

  /** The state that a series begins with; undefined for one of its own. */
  inherited(series: BacktestSeries): ArrayBuffer | undefined {
    return this.#starts.get(series)?.inheritance.chosen?.state;
  }

  /** Offers to those that begin from one cycle on and before another. */
  offer(series: BacktestSeries, fromMs: number, beforeMs: number, one: () => Offer): void {
    const own = this.#starts.get(series);
    for (const start of this.#families.get(series) ?? []) {
      if (start === own || start.cycleMs < fromMs || start.cycleMs >= beforeMs) continue;
      const { copy, ...rest } = one();
      const ancestor: StoredAncestor = { ...rest, instance: instanceOf(series.name.attributes) as string, state: EMPTY };
      if (start.inheritance.offer(ancestor)) ancestor.state = copy();
    }
  }
}

const EMPTY = new ArrayBuffer(0);
