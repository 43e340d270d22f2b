// The life of the coordinator's parts: what keeps a pace of its own, or reads what it goes on with when the server starts.
//
//   made  --start()-->  serving, step() when a round ends  --stop()-->  stopped
//
// Parts are started in the order in which they were added, before anything is committed, and stepped in the same order; they are stopped in the reverse order.

/** Work that commits within a round, between the transactions of what engines have sent. */
export interface StoringWork {
  /** Monotonic time at which `step` has something to do. */
  readonly dueMs: number;
  /** `isDrained`: nothing of what engines had sent is left to commit. Rejects with StoreError; a later call then does the same again. */
  step(isDrained: boolean): Promise<void>;
}

/** A part of the coordinator; each member is called by its PartList alone. */
export interface Part {
  /** Reads what is stored and goes on with it. Called once. */
  start?(): void | Promise<void>;
  /** Begins what is due; returns the monotonic time at which the next is due. Called only while the server serves, some hundred times a second. */
  step?(): number;
  /** Begins nothing any more. Called once. */
  stop?(): void;
}

/** The parts of one coordinator, in the order of their start. */
export class PartList {
  readonly #parts: Part[] = [];
  readonly #stepped: Array<Required<Pick<Part, "step">>> = [];
  readonly #works: StoringWork[] = [];

  /** Adds a part behind those that are here, and returns it. */
  add<Added extends Part>(part: Added): Added {
    this.#parts.push(part);
    if (part.step !== undefined) this.#stepped.push(part as Added & Required<Pick<Part, "step">>);
    return part;
  }

  /** Adds work that commits within rounds, and returns it. */
  addWork<Added extends StoringWork>(work: Added): Added {
    this.#works.push(work);
    return work;
  }

  /** Starts one part after another. */
  async start(): Promise<void> {
    for (const part of this.#parts) await part.start?.();
  }

  /** Steps them all; returns the monotonic time at which the first of them is due again. */
  step(): number {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const part of this.#stepped) dueMs = Math.min(dueMs, part.step());
    return dueMs;
  }

  /** Monotonic time at which some work within a round is due. */
  get workDueMs(): number {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const work of this.#works) dueMs = Math.min(dueMs, work.dueMs);
    return dueMs;
  }

  /** Does the work within a round that is due at `nowMs`. */
  async stepWork(nowMs: number, isDrained: boolean): Promise<void> {
    for (const work of this.#works) if (work.dueMs <= nowMs) await work.step(isDrained);
  }

  /** Stops one part after another, the last first. */
  stop(): void {
    for (const part of this.#parts.toReversed()) part.stop?.();
  }
}
