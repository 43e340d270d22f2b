/**
 * Series of one tenant by the names and values of their labels. A selection begins with the matcher that fewest series fulfil and looks at those alone; a pattern is
 * matched once with each value that its label has, not once with each series.
 *
 * Names and values of labels by number: a pair of both once for all series that have it, and which these are.
 */
import { Uint32List } from "../../core/collections/uint32-list.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import type { Evaluating } from "../promql/evaluation/sliced-evaluation.ts";
import type { LabelMatcher } from "../promql/labels/label-matcher.ts";
import { Labels } from "../promql/labels/labels.ts";
import type { QueryBudget } from "../promql/query-budget.ts";
import { SERIES_COLD, SERIES_GONE, SERIES_HOT, SeriesTable, type SeriesTimes } from "./series-table.ts";

const NO_VALUES: ReadonlyMap<string, number> = new Map();

/** A series as it is added. */
export interface IndexedSeries extends SeriesTimes {
  /** The 16 bytes of its identity's hash. */
  readonly hash: Uint8Array;
  readonly partition: number;
  readonly labels: Labels;
  readonly isInMemory: boolean;
}

/** A condition that is resolved: the pairs of its label that fulfil it. */
interface ResolvedMatcher {
  readonly name: string;
  readonly pairs: ReadonlySet<number>;
  /** Whether a series without the label fulfils it. */
  readonly matchesEmpty: boolean;
  /** How many series have one of these pairs, those that have gone among them. */
  readonly series: number;
}

/** Series looked at between two looks at the budget, 0.2 us each. */
const SERIES_UNCHECKED = 1_024;

/** The series of one tenant. */
export class SeriesIndex {
  readonly table = new SeriesTable();
  readonly #pairs = new LabelPairs();
  readonly #byPair = new Postings();
  #gone = 0;

  /** How many series a selection of everything finds. */
  get size(): number {
    return this.table.size - this.#gone;
  }

  /** Series that take room and are there no more. */
  get gone(): number {
    return this.#gone;
  }

  /** Adds a series; one that is known is there as it is now. */
  add({ hash, partition, labels, isInMemory, ...times }: IndexedSeries): void {
    const pairs = [...labels.entries()].map(([name, value]) => this.#pairs.number(name, value));
    let series = this.table.find(hash);
    if (series < 0 || this.table.state(series) === SERIES_GONE || !isSame(this.table.pairs(series), pairs)) {
      if (series >= 0) this.#forget(series);
      series = this.table.add(hash, partition, pairs);
      for (const pair of pairs) this.#byPair.add(pair, series);
    }
    this.table.setState(series, isInMemory ? SERIES_HOT : SERIES_COLD);
    this.table.setTimes(series, times);
  }

  /** Whether a series is there. */
  has(hash: Uint8Array): boolean {
    const series = this.table.find(hash);
    return series >= 0 && this.table.state(series) !== SERIES_GONE;
  }

  /** Whether a series is in an engine's memory, as far as is known. */
  isInMemory(series: number): boolean {
    return this.table.state(series) === SERIES_HOT;
  }

  /** Notes that a series has left memory; false where it is not known. */
  setCold(hash: Uint8Array, times: SeriesTimes): boolean {
    const series = this.table.find(hash);
    if (series < 0 || this.table.state(series) === SERIES_GONE) return false;
    this.table.setState(series, SERIES_COLD);
    this.table.setTimes(series, times);
    return true;
  }

  /** No selection finds the series any more; its number stays taken. */
  forget(hash: Uint8Array): void {
    const series = this.table.find(hash);
    if (series >= 0) this.#forget(series);
  }

  #forget(series: number): void {
    if (this.table.state(series) === SERIES_GONE) return;
    this.table.setState(series, SERIES_GONE);
    this.#gone++;
  }

  /** Numbers of the series that fulfil all conditions, in no order. Throws QueryError. */
  *select(matchers: readonly LabelMatcher[], budget: QueryBudget): Evaluating<number[]> {
    const resolved: ResolvedMatcher[] = [];
    for (const matcher of matchers) resolved.push(yield* this.#resolve(matcher, budget));
    const found: number[] = [];
    let visited = 0;
    for (const series of this.#candidates(resolved)) {
      if (this.table.state(series) !== SERIES_GONE && this.#fulfils(series, resolved)) found.push(series);
      if (++visited % SERIES_UNCHECKED > 0) continue;
      budget.check();
      if (budget.isSliceOver) yield;
    }
    return found;
  }

  *#resolve(matcher: LabelMatcher, budget: QueryBudget): Evaluating<ResolvedMatcher> {
    const { name, operator, value } = matcher;
    const pairs = new Set<number>();
    let series = 0;
    const values = this.#pairs.ofName(name);
    const add = (pair: number) => {
      pairs.add(pair);
      series += this.#byPair.length(pair);
    };
    const own = values.get(value);
    if (operator === "=") {
      if (own !== undefined) add(own);
    } else {
      for (const [text, pair] of values) {
        if (matcher.matches(text)) add(pair);
        budget.check();
        if (budget.isSliceOver) yield;
      }
    }
    return { name, pairs, matchesEmpty: matcher.matches(""), series };
  }

  *#candidates(resolved: readonly ResolvedMatcher[]): Iterable<number> {
    const needed = resolved.filter(({ matchesEmpty }) => !matchesEmpty);
    if (needed.length === 0) {
      for (let series = 0, end = this.table.size; series < end; series++) yield series;
      return;
    }
    const fewest = needed.reduce((least, one) => (one.series < least.series ? one : least));
    for (const pair of fewest.pairs) yield* this.#byPair.of(pair);
  }

  #fulfils(series: number, resolved: readonly ResolvedMatcher[]): boolean {
    return resolved.every((matcher) => this.#fulfilsOne(series, matcher));
  }

  #fulfilsOne(series: number, { name, pairs, matchesEmpty }: ResolvedMatcher): boolean {
    for (let at = this.table.start(series), end = this.table.end(series); at < end; at++) {
      const pair = this.table.pair(at);
      if (pairs.has(pair)) return true;
      if (matchesEmpty && this.#pairs.name(pair) === name) return false;
    }
    return matchesEmpty;
  }

  labels(series: number): Labels {
    const pairs: string[] = [];
    for (let at = this.table.start(series), end = this.table.end(series); at < end; at++) {
      const pair = this.table.pair(at);
      pairs.push(this.#pairs.name(pair), this.#pairs.value(pair));
    }
    return Labels.ofSorted(pairs);
  }

  /** The names of labels that any of some series has. */
  names(series: readonly number[]): Set<string> {
    const names = new Set<string>();
    for (const pair of this.#pairsOf(series)) names.add(this.#pairs.name(pair));
    return names;
  }

  /** The values that a label has in some series. */
  values(name: string, series: readonly number[]): Set<string> {
    const values = new Set<string>();
    for (const pair of this.#pairsOf(series)) if (this.#pairs.name(pair) === name) values.add(this.#pairs.value(pair));
    return values;
  }

  /** Each pair that some series have, once. */
  *#pairsOf(series: readonly number[]): Iterable<number> {
    const seen = new Uint8Array(this.#pairs.size);
    for (const one of series) {
      for (let at = this.table.start(one), end = this.table.end(one); at < end; at++) seen[this.table.pair(at)] = 1;
    }
    for (let pair = 0; pair < seen.length; pair++) if (seen[pair] === 1) yield pair;
  }

  /** Series in the order of their labels. */
  sorted(series: readonly number[]): number[] {
    return series.toSorted((a, b) => this.compare(a, b));
  }

  /** The order of Labels.compare: texts are compared where pairs begin to differ. */
  compare(a: number, b: number): number {
    const { table } = this;
    const [startOfA, startOfB] = [table.start(a), table.start(b)];
    const [lengthOfA, lengthOfB] = [table.end(a) - startOfA, table.end(b) - startOfB];
    for (let at = 0; at < lengthOfA && at < lengthOfB; at++) {
      const pairOfA = table.pair(startOfA + at);
      const pairOfB = table.pair(startOfB + at);
      if (pairOfA !== pairOfB) return this.#comparePairs(pairOfA, pairOfB);
    }
    return lengthOfA - lengthOfB;
  }

  #comparePairs(a: number, b: number): number {
    return compareTexts(this.#pairs.name(a), this.#pairs.name(b)) || compareTexts(this.#pairs.value(a), this.#pairs.value(b));
  }
}

function isSame(a: Uint32Array, b: readonly number[]): boolean {
  return a.length === b.length && b.every((pair, at) => a[at] === pair);
}

/** Numbers pairs as they come; none goes. */
class LabelPairs {
  readonly #byName = new Map<string, Map<string, number>>();
  readonly #names: string[] = [];
  readonly #values: string[] = [];

  get size(): number {
    return this.#names.length;
  }

  /** The number of a pair, which is a new one where there was none. */
  number(name: string, value: string): number {
    let values = this.#byName.get(name);
    if (values === undefined) {
      values = new Map();
      this.#byName.set(name, values);
    }
    const known = values.get(value);
    if (known !== undefined) return known;
    const number = this.#names.length;
    values.set(value, number);
    // One text for each name, however many pairs have it.
    this.#names.push(values.size === 1 ? name : (this.#names[values.values().next().value as number] as string));
    this.#values.push(value);
    return number;
  }

  name(pair: number): string {
    return this.#names[pair] as string;
  }

  value(pair: number): string {
    return this.#values[pair] as string;
  }

  /** Numbers of the pairs of a name, by their values. */
  ofName(name: string): ReadonlyMap<string, number> {
    return this.#byName.get(name) ?? NO_VALUES;
  }
}

/** For each pair of a label and a value the series that have it, ascending. Most values of labels are one series' own, so a single one is no list. */
class Postings {
  readonly #lists: Array<number | Uint32List> = [];

  /** Adds a series, which is greater than those before, to a list; lists begin in order. */
  add(list: number, series: number): void {
    const known = this.#lists[list];
    if (known === undefined) this.#lists[list] = series;
    else if (typeof known !== "number") known.push(series);
    else {
      const several = new Uint32List();
      several.push(known);
      several.push(series);
      this.#lists[list] = several;
    }
  }

  length(list: number): number {
    const known = this.#lists[list];
    return typeof known === "number" ? 1 : (known as Uint32List).length;
  }

  /** The series of a list; valid until the next is added. */
  of(list: number): Uint32Array {
    const known = this.#lists[list];
    return typeof known === "number" ? Uint32Array.of(known) : (known as Uint32List).uint32s;
  }
}
