/** A promise that somebody else fulfils. */
export class Signal {
  readonly given: Promise<void>;
  isGiven = false;
  #resolve: () => void = () => {};

  constructor() {
    this.given = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  give(): void {
    this.isGiven = true;
    this.#resolve();
  }
}
