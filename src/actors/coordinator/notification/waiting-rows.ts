/** Rows with a message that the notifier does not have, by destination, each in the order in which they came: 150 B a row. */
export class WaitingRows {
  readonly #lanes = new Map<string, Set<string>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(lane: string, key: string): boolean {
    return this.#lanes.get(lane)?.has(key) === true;
  }

  /** Destinations that rows wait for. Rows may be removed meanwhile. */
  lanes(): string[] {
    return [...this.#lanes.keys()];
  }

  /** The row that waits longest for a destination. */
  first(lane: string): string | undefined {
    for (const key of this.#lanes.get(lane) ?? []) return key;
    return undefined;
  }

  add(lane: string, key: string): void {
    const keys = this.#lanes.get(lane) ?? new Set<string>();
    this.#lanes.set(lane, keys);
    if (keys.has(key)) return;
    keys.add(key);
    this.#size += 1;
  }

  remove(lane: string, key: string): void {
    const keys = this.#lanes.get(lane);
    if (keys?.delete(key) !== true) return;
    this.#size -= 1;
    if (keys.size === 0) this.#lanes.delete(lane);
  }
}
