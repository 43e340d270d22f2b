import { every, task } from "../../core/faults/guard.ts";

const FLUSH = task("the flushes of the log");

/** Flushes of the log and the noting of what was flushed, one round after another: two at a time would write one file. */
export class FlushCycles {
  readonly #cycle: () => Promise<void>;
  readonly #everyMs: number;
  #timer: NodeJS.Timeout | undefined;
  #running: Promise<void> | undefined;

  constructor(cycle: () => Promise<void>, everyMs: number) {
    this.#cycle = cycle;
    this.#everyMs = everyMs;
  }

  /** Begins; a round that is due while the last one is under way is left out. */
  start(): void {
    this.#timer = every(this.#everyMs, FLUSH, () => {
      this.#running ??= this.#runOnce();
    });
  }

  /** Begins no further round, and resolves behind the last one. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#running;
  }

  /** A flush that fails says nothing to the senders, who were promised process durability; the engine's next write meets the same disk. */
  async #runOnce(): Promise<void> {
    await this.#cycle().catch(() => undefined);
    this.#running = undefined;
  }
}
