// Turns for the other work of the thread, by what the work between them takes.
const SLICE_US = 2_000;

/** Counts work in microseconds, as measured of each kind. */
export class WorkSlices {
  readonly #pause: () => Promise<void>;
  #spentUs = 0;

  /** `pause` resolves once others have had their turn. */
  constructor(pause: () => Promise<void>) {
    this.#pause = pause;
  }

  /** Takes work into account; true where a turn is due. */
  spend(us: number): boolean {
    this.#spentUs += us;
    return this.#spentUs >= SLICE_US;
  }

  async turn(): Promise<void> {
    this.#spentUs = 0;
    await this.#pause();
  }
}
