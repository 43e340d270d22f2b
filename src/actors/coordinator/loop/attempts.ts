/** Parts of a round of which each may fail without taking the others' turn. */
export class Attempts {
  /** Why parts have failed, in their order. */
  readonly failures: unknown[] = [];

  /** Does a part; undefined where it failed. */
  async make<T>(part: () => Promise<T>): Promise<T | undefined> {
    try {
      return await part();
    } catch (error) {
      this.failures.push(error);
      return undefined;
    }
  }
}
