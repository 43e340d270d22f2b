// What a shard does with messages of one kind, and what it keeps between them.

/** When the unit of a message came. */
export interface MessageArrival {
  /** Milliseconds that the unit's row offsets count from: 25 hours before its arrival. */
  readonly baseMs: number;
  /** Monotonic milliseconds of the oldest body of the unit; 0 in a replay. */
  readonly arrivalMs: number;
}

/**
 * Takes one kind of message for the partitions of one engine. What it derives it writes with DerivedSeries.
 *
 * After a crash messages come again that the kept state has seen: taking a message twice must leave everything as it was (an order by time, or ids that
 * are remembered). The state of a partition is saved before the partition's streams are, so a stream may be ahead of it and never behind; rows that are
 * written again change nothing.
 */
export interface MessageHandler {
  /** SECTION_* of its messages. */
  readonly kind: number;
  /** Takes a message; its payload is valid during the call. */
  take(partition: number, payload: Uint8Array, arrival: MessageArrival): void;
  /**
   * What the partition's checkpoint keeps of it: pieces of at most 64 KiB each; none when there is nothing to keep. They are taken one at a time, between
   * which messages come: a piece says how things stand when it is taken.
   */
  save(partition: number): Iterable<Uint8Array>;
  /** Takes back a piece that was saved, valid during the call. All pieces come before the first message. */
  restore(partition: number, piece: Uint8Array): void;
  /** About five times a second while the engine serves, where anything is due. */
  onInterval?(wallMs: number): void;
  /** Wall time at which `due` is to be called, at once or, while rows wait, a little later; Infinity for never. */
  readonly dueMs?: number;
  /** Does what `dueMs` announced, or a slice of it: `dueMs` stays until all is done, and is later then. `monotonicMs` is the same moment as `wallMs`. */
  due?(wallMs: number, monotonicMs: number): void;
}
