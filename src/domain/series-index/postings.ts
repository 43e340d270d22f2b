// Numbers of series by a number that they have in common, ascending. Most values of labels are one series' own, so a single one is no list.
import { Uint32List } from "../../core/collections/uint32-list.ts";

/** For each pair of a label and a value the series that have it. */
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
