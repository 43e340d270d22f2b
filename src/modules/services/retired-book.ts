// Services that people have retired: their silence is none. What they send later brings them back, without a word here.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { TenantTable } from "../../core/collections/tenant-table.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { nullable, number, StoredForm, text } from "../state/stored-json.ts";

const TABLE = "retired_services";

export interface RetiredService {
  readonly tenant: string;
  readonly serviceId: string;
  /** Null for all of them. */
  readonly environment: string | null;
  readonly atMs: number;
  readonly by: string;
}

const RETIRED = new StoredForm<RetiredService>(TABLE, {
  tenant: text,
  serviceId: text,
  environment: nullable(text),
  atMs: number,
  by: text,
});

/** Stores that a service is retired, or forgets it. */
export function retiredOperation(retired: RetiredService, isRetained = true): StoreOperation {
  const { tenant, serviceId, environment } = retired;
  // The environment that has no name is another one than all of them.
  const key = new KeyBuilder()
    .text(tenant)
    .text(serviceId)
    .text(environment === null ? "" : `=${environment}`)
    .finish();
  return { table: TABLE, key, value: isRetained ? RETIRED.encode(retired) : undefined };
}

export class RetiredBook {
  /** Who holds how many. */
  readonly shares: ShareLedger;
  readonly #services = new TenantTable<RetiredService>(({ serviceId, environment }) => keyOf(serviceId, environment));

  constructor(shares = ShareLedger.alone()) {
    this.shares = shares;
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, TABLE)) this.put(RETIRED.decode(value));
  }

  put(retired: RetiredService): void {
    if (this.#services.put(retired) === undefined) this.shares.add(retired.tenant);
  }

  remove({ tenant, serviceId, environment }: RetiredService): void {
    if (this.#services.remove(tenant, keyOf(serviceId, environment)) !== undefined) this.shares.give(tenant);
  }

  find(tenant: string, serviceId: string, environment: string | null): RetiredService | undefined {
    return this.#services.find(tenant, keyOf(serviceId, environment));
  }

  /** Whether a service that was last heard of then is not missed. */
  isRetired(tenant: string, serviceId: string, environment: string, lastSeenMs: number): boolean {
    if (this.#services.size === 0) return false;
    const of = [this.find(tenant, serviceId, environment), this.find(tenant, serviceId, null)];
    return of.some((retired) => retired !== undefined && lastSeenMs <= retired.atMs);
  }

  /** Those of before, at most `most`. */
  olderThan(beforeMs: number, most: number): RetiredService[] {
    const found: RetiredService[] = [];
    for (const retired of this.#services.all()) {
      if (found.length === most) break;
      if (retired.atMs < beforeMs) found.push(retired);
    }
    return found;
  }
}

function keyOf(serviceId: string, environment: string | null): string {
  return JSON.stringify([serviceId, environment]);
}
