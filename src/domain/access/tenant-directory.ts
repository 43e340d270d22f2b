// Tenants by small numbers, which bodies, rows and counters carry instead of names. A number is good until the process ends: names are only added.

/** Names and numbers of one thread's tenants; the number of a name is its place in the order of adding, the same in every thread. */
export class TenantDirectory {
  readonly #names: string[];
  readonly #numbers: Map<string, number>;

  constructor(names: Iterable<string> = []) {
    this.#names = [...names];
    this.#numbers = new Map(this.#names.map((name, number) => [name, number]));
  }

  get size(): number {
    return this.#names.length;
  }

  /** In the order of their numbers. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** The tenant's number, a new one at first sight. */
  add(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }

  /** Enters what another thread has added. Throws when a number is left out or taken: the threads would speak of different tenants. */
  learn(number: number, name: string): void {
    if (number !== this.#names.length || this.#numbers.has(name))
      throw new RangeError(`tenant ${number} cannot be entered behind ${this.#names.length} others`);
    this.add(name);
  }

  name(number: number): string | undefined {
    return this.#names[number];
  }

  /** Undefined for a tenant that is not known. */
  number(name: string): number | undefined {
    return this.#numbers.get(name);
  }
}
