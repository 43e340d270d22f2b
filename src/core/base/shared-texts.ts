// One string for equal strings: rows that are read from a store bring texts of their own, and lists of many rows would hold each name once a row.

/** Texts that are shared; all are forgotten at `most`, and those that come again are kept anew. */
export class SharedTexts {
  readonly #most: number;
  readonly #texts = new Map<string, string>();

  constructor(most: number) {
    this.#most = most;
  }

  /** The string that was given first for this text. */
  shared(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size >= this.#most) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}
