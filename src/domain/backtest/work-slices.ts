// Turns for the other work of the thread, by what the work between them takes, and how far that work is.
const SLICE_US = 2_000;

/** Resolves once others have had their turn; is told the share of the work that is done, 0..1. Rejects to end the work. */
export type Pause = (share: number) => Promise<void>;

/** Counts work in microseconds, as measured of each kind. */
export class WorkSlices {
  readonly #pause: Pause;
  #spentUs = 0;
  /** Share of the work at hand. */
  share = 0;

  constructor(pause: Pause) {
    this.#pause = pause;
  }

  /** Takes work into account; true where a turn is due. */
  spend(us: number): boolean {
    this.#spentUs += us;
    return this.#spentUs >= SLICE_US;
  }

  async endSlice(): Promise<void> {
    this.#spentUs = 0;
    await this.#pause(this.share);
  }
}
