/** Time that tenants have had, of those that have something under way. Whoever comes begins with the least that others had: time before does not count. */
export class HadTime {
  readonly #ms = new Map<string, number>();

  /** Something of the tenant is under way. */
  begin(tenant: string): void {
    if (!this.#ms.has(tenant)) this.#ms.set(tenant, this.#ms.size === 0 ? 0 : Math.min(...this.#ms.values()));
  }

  /** Adds to what a tenant that has begun has had. */
  add(tenant: string, ms: number): void {
    this.#ms.set(tenant, this.of(tenant) + ms);
  }

  of(tenant: string): number {
    return this.#ms.get(tenant) ?? 0;
  }

  /** Nothing of the tenant is under way any more. */
  end(tenant: string): void {
    this.#ms.delete(tenant);
  }
}
