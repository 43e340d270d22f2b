// One string for equal strings: rows that are read from a store bring texts of their own, and lists of many rows would hold each name once a row.
import { BoundedMap } from "./bounded-map.ts";

/** Texts that are shared, `most` of them; those that come again after that are kept anew. */
export class SharedTexts {
  readonly #texts: BoundedMap<string, string>;

  constructor(most: number) {
    this.#texts = new BoundedMap(most);
  }

  /** The string that was given first for this text. */
  shared(text: string): string {
    return this.#texts.obtain(text, () => text);
  }
}
