// Names and values of labels by number: a pair of both once for all series that have it, and which these are.
import { Uint32List } from "../../core/collections/uint32-list.ts";

const NO_VALUES: ReadonlyMap<string, number> = new Map();

/** Numbers pairs as they come; none goes. */
export class LabelPairs {
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
export class Postings {
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
    return typeof known === "number" ? Uint32Array.of(known) : (known as Uint32List).words;
  }
}
