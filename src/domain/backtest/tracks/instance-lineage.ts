// Which series of a backtest are instances of one pair, and the baselines that new ones inherit: as a server's engine has them (pair/instance-family.ts).
import { groupBy } from "../../../core/collections/grouping.ts";
import { firstIndex } from "../../../core/collections/sorted-search.ts";
import { type Ancestor, familyText, Inheritance, mayJoin } from "../../detection/pair/instance-family.ts";
import { instanceOf } from "../../series/instance-name.ts";
import type { BacktestSeries } from "../history.ts";

interface StoredAncestor extends Ancestor {
  state: ArrayBuffer;
}

/** A cycle in which a series may join others. */
interface Start {
  readonly series: BacktestSeries;
  readonly cycleMs: number;
  readonly inheritance: Inheritance<StoredAncestor>;
}

/** Offer of a track, and its state, which is copied where it is chosen. */
export type Offer = Omit<Ancestor, "instance"> & { readonly copy: () => ArrayBuffer };

/** Lineage of one run. Series are to be gone over in the order of their first values. */
export class InstanceLineage {
  readonly #starts = new Map<BacktestSeries, readonly Start[]>();
  /** Starts of a family, ascending. */
  readonly #families = new Map<BacktestSeries, readonly Start[]>();

  /** `cycleOf` is the cycle that sees a value first. */
  constructor(all: readonly BacktestSeries[], cycleOf: (timeMs: number) => number) {
    const instances = all.filter(({ name, times }) => times.length > 0 && instanceOf(name.attributes) !== null);
    for (const family of groupBy(instances, ({ name }) => familyText(name)).values()) {
      if (family.length < 2) continue;
      for (const series of family) this.#starts.set(series, startsOf(series, cycleOf));
      const starts = family.flatMap((series) => this.#starts.get(series) as Start[]).sort((a, b) => a.cycleMs - b.cycleMs);
      for (const series of family) this.#families.set(series, starts);
    }
  }

  /** The state that a series may go on from in a cycle, where it is like that; undefined for none. */
  inherited(series: BacktestSeries, cycleMs: number): ArrayBuffer | undefined {
    return this.#starts.get(series)?.find((start) => start.cycleMs === cycleMs)?.inheritance.chosen?.state;
  }

  /** Offers to those that begin from one cycle on and before another. */
  offer(series: BacktestSeries, fromMs: number, beforeMs: number, one: () => Offer): void {
    const starts = this.#families.get(series) ?? [];
    const first = firstIndex(0, starts.length, (index) => (starts[index] as Start).cycleMs < fromMs);
    for (const start of starts.slice(
      first,
      firstIndex(first, starts.length, (index) => (starts[index] as Start).cycleMs < beforeMs),
    )) {
      if (start.series === series) continue;
      const { copy, ...rest } = one();
      const ancestor: StoredAncestor = { ...rest, instance: instanceOf(series.name.attributes) as string, state: EMPTY };
      if (start.inheritance.offer(ancestor)) ancestor.state = copy();
    }
  }
}

/** Each cycle in which a series has a value while it may join others. */
function startsOf(series: BacktestSeries, cycleOf: (timeMs: number) => number): Start[] {
  const newest = new Map<number, number>();
  for (const timeMs of series.times) {
    if (!mayJoin(series.times[0] as number, timeMs)) break;
    newest.set(cycleOf(timeMs), timeMs);
  }
  return [...newest].map(([cycleMs, timeMs]) => ({ series, cycleMs, inheritance: new Inheritance(timeMs) }));
}

const EMPTY = new ArrayBuffer(0);
