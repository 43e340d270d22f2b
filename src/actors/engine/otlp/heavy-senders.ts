// Tenants whose metrics in OTLP JSON took more than a unit of work: their next bodies are cut, so that others overtake them. A body whose streams are known is
// walked as a whole by the kernel, which takes half as long.

/** Bodies that are cut behind one that was heavy. */
const BODIES_CUT = 64;

export class HeavySenders {
  /** Bodies still to be cut, by tenant: as many entries as there are tenants at most. */
  readonly #left = new Map<number, number>();

  /** A body of the tenant was heavy. */
  note(tenant: number): void {
    this.#left.set(tenant, BODIES_CUT);
  }

  /** Whether the tenant's next body is to be cut; to be asked once for each. */
  take(tenant: number): boolean {
    const left = this.#left.get(tenant) ?? 0;
    if (left === 1) this.#left.delete(tenant);
    else if (left > 1) this.#left.set(tenant, left - 1);
    return left > 0;
  }
}
