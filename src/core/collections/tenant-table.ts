// Rows of tenants in memory, by a key within the tenant. A tenant without rows is not in the table. Where a tenant has an
// index of its own (anomalies, alerts, silences, reports, fires), rows lie there.

/** What a row says of its tenant. */
interface TenantRow {
  readonly tenant: string;
}

/** The rows of all tenants. Each operation takes one or two look-ups; rows of a tenant lie in the order in which their keys came. */
export class TenantTable<Row extends TenantRow> {
  readonly #keyOf: (row: Row) => string;
  readonly #tenants = new Map<string, Map<string, Row>>();
  #size = 0;

  constructor(keyOf: (row: Row) => string) {
    this.#keyOf = keyOf;
  }

  /** Number of rows of all tenants. */
  get size(): number {
    return this.#size;
  }

  /** Tenants that have at least one row. */
  get tenants(): Iterable<string> {
    return this.#tenants.keys();
  }

  /** Returns whether a tenant has any row. */
  has(tenant: string): boolean {
    return this.#tenants.has(tenant);
  }

  /** Number of rows of a tenant. */
  sizeOf(tenant: string): number {
    return this.#tenants.get(tenant)?.size ?? 0;
  }

  /** Returns the row of a key, or undefined where there is none. */
  find(tenant: string, key: string): Row | undefined {
    return this.#tenants.get(tenant)?.get(key);
  }

  /** Rows of a tenant, as an array of its own. */
  of(tenant: string): Row[] {
    return [...(this.#tenants.get(tenant)?.values() ?? [])];
  }

  /** Rows of all tenants, one tenant behind the other. */
  *all(): Generator<Row> {
    for (const rows of this.#tenants.values()) yield* rows.values();
  }

  /** Takes a row in; returns the one of its key before it. */
  put(row: Row): Row | undefined {
    const rows = this.#tenants.get(row.tenant) ?? new Map<string, Row>();
    this.#tenants.set(row.tenant, rows);
    const key = this.#keyOf(row);
    const before = rows.get(key);
    rows.set(key, row);
    if (before === undefined) this.#size++;
    return before;
  }

  /** Removes the row of a key; returns it, or undefined where there was none. */
  remove(tenant: string, key: string): Row | undefined {
    const rows = this.#tenants.get(tenant);
    const row = rows?.get(key);
    if (rows === undefined || row === undefined) return undefined;
    rows.delete(key);
    if (rows.size === 0) this.#tenants.delete(tenant);
    this.#size--;
    return row;
  }
}
