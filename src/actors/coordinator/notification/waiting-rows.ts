/** Rows of one destination. */
interface Lane {
  readonly urgent: Set<string>;
  readonly other: Set<string>;
}

/** Rows with a message that the notifier does not have, by destination: those that are urgent, then others, each in the order in which they came. 150 B a row. */
export class WaitingRows {
  readonly #lanes = new Map<string, Lane>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(lane: string, key: string): boolean {
    const rows = this.#lanes.get(lane);
    return rows !== undefined && (rows.urgent.has(key) || rows.other.has(key));
  }

  /** Destinations that rows wait for. Rows may be removed meanwhile. */
  lanes(): string[] {
    return [...this.#lanes.keys()];
  }

  /** The row that leaves first for a destination. */
  first(lane: string): string | undefined {
    const rows = this.#lanes.get(lane);
    for (const key of rows?.urgent ?? []) return key;
    for (const key of rows?.other ?? []) return key;
    return undefined;
  }

  isUrgent(lane: string, key: string): boolean {
    return this.#lanes.get(lane)?.urgent.has(key) === true;
  }

  /** A row that waits already keeps its turn among those of its urgency. */
  add(lane: string, key: string, isUrgent = false): void {
    const rows = this.#lanes.get(lane) ?? { urgent: new Set(), other: new Set() };
    this.#lanes.set(lane, rows);
    const wasThere = (isUrgent ? rows.other : rows.urgent).delete(key) || (isUrgent ? rows.urgent : rows.other).has(key);
    (isUrgent ? rows.urgent : rows.other).add(key);
    if (!wasThere) this.#size += 1;
  }

  remove(lane: string, key: string): void {
    const rows = this.#lanes.get(lane);
    if (rows === undefined || !(rows.urgent.delete(key) || rows.other.delete(key))) return;
    this.#size -= 1;
    if (rows.urgent.size + rows.other.size === 0) this.#lanes.delete(lane);
  }
}
