// What waits for its turn, by tenant: tenants take turns, and of each the oldest goes first. So one that has much waiting delays others by one turn.

/** Items by tenant and by a key of their own; an item of a known key takes the place of the one before. */
export class FairQueue<T> {
  /** The tenant whose turn is next comes first. */
  readonly #tenants = new Map<string, Map<string, T>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(tenant: string, key: string): boolean {
    return this.#tenants.get(tenant)?.has(key) === true;
  }

  /** Items of a tenant, the oldest first. */
  itemsOf(tenant: string): readonly T[] {
    return [...(this.#tenants.get(tenant)?.values() ?? [])];
  }

  put(tenant: string, key: string, item: T): void {
    const items = this.#tenants.get(tenant) ?? new Map<string, T>();
    this.#tenants.set(tenant, items);
    if (!items.has(key)) this.#size++;
    items.set(key, item);
  }

  /** False where it did not wait. */
  remove(tenant: string, key: string): boolean {
    const items = this.#tenants.get(tenant);
    if (items?.delete(key) !== true) return false;
    this.#size--;
    if (items.size === 0) this.#tenants.delete(tenant);
    return true;
  }

  /** Takes the next of the tenants that `may` says yes to; undefined where nothing of them waits. */
  take(may: (tenant: string) => boolean = () => true): { readonly tenant: string; readonly key: string; readonly item: T } | undefined {
    for (const [tenant, items] of this.#tenants) {
      if (!may(tenant)) continue;
      const [key, item] = items.entries().next().value as [string, T];
      this.remove(tenant, key);
      // Behind all others, where more of it waits.
      if (this.#tenants.delete(tenant)) this.#tenants.set(tenant, items);
      return { tenant, key, item };
    }
    return undefined;
  }
}
