// The service pillar map as it is stored, and the pillar values that follow from it. Services are mapped per tenant of the API.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { SerialWork } from "../../core/fairness/serial-work.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { KeyBuilder, KeyReader, prefixEnd } from "../../domain/codec/key.ts";
import { MagnitudeHistory } from "../../domain/pillars/magnitude-history.ts";
import { PillarSpace } from "../../domain/pillars/pillar-space.ts";
import { PillarValue } from "../../domain/pillars/pillar-value.ts";
import type { ServiceEntry } from "../../domain/pillars/service-entry.ts";
import { scan } from "../state/scan.ts";
import { list, pair, StoredForm, text } from "../state/stored-json.ts";

type StoredEntry = Omit<ServiceEntry, "serviceId">;

const ENTRY = new StoredForm<StoredEntry>("service_map", {
  tenantId: text,
  productId: text,
  customKeys: list(pair(text, text)),
});

export class ServiceMapBook {
  /** Pillars that the vectorizer scores. */
  readonly pillars: PillarSpace;
  /** Entries by tenant. They themselves are in the store alone: a PUT of 10,000 reads as many in 50 ms. */
  readonly shares: ShareLedger;
  /** Changes, which take several turns each. */
  readonly changes = new SerialWork();

  constructor(shares = ShareLedger.alone(), values = ShareLedger.alone()) {
    this.shares = shares;
    this.pillars = new PillarSpace(values);
  }

  load(store: KeyValueStore): void {
    for (const { key, value } of scan(store, "pillar_history")) {
      const reader = new KeyReader(key);
      const [tenant, pillar, name] = [reader.text(), reader.text(), reader.text()];
      this.pillars.restore(new PillarValue(tenant, pillar, name, MagnitudeHistory.decode(value)));
    }
    for (const { key, value } of scan(store, "service_map")) {
      const reader = new KeyReader(key);
      const tenant = reader.text();
      this.set(tenant, { serviceId: reader.text(), ...ENTRY.decode(value) }, true);
    }
  }

  /** Entries of all tenants. */
  get size(): number {
    return this.shares.taken;
  }

  /** Entries of one tenant. */
  sizeOf(tenant: string): number {
    return this.shares.used(tenant);
  }

  /** Takes over an entry that is stored; `isNew` where its service had none. */
  set(tenant: string, entry: ServiceEntry, isNew: boolean): void {
    if (isNew) this.shares.add(tenant);
    this.pillars.change(tenant, entry);
  }
}

function entryKey(tenant: string, serviceId: string): Uint8Array {
  return new KeyBuilder().text(tenant).text(serviceId).finish();
}

export function entryRow(tenant: string, { serviceId, ...entry }: ServiceEntry): StoreOperation {
  return { table: "service_map", key: entryKey(tenant, serviceId), value: ENTRY.encode(entry) };
}

/** The entry of a service, undefined where it is not mapped. */
export function storedEntry(store: KeyValueStore, tenant: string, serviceId: string): ServiceEntry | undefined {
  const value = store.get("service_map", entryKey(tenant, serviceId));
  return value === undefined ? undefined : { serviceId, ...ENTRY.decode(value) };
}

/** The first `limit` stored entries of a tenant behind a service, by service. */
export function storedEntries(store: KeyValueStore, tenant: string, after: string | undefined, limit: number): ServiceEntry[] {
  const all = new KeyBuilder().text(tenant).finish();
  const from = after === undefined ? all : prefixEnd(entryKey(tenant, after));
  return store.range("service_map", { from: from as Uint8Array, to: prefixEnd(all) as Uint8Array, limit }).map(({ key, value }) => {
    const reader = new KeyReader(key);
    reader.text();
    return { serviceId: reader.text(), ...ENTRY.decode(value) };
  });
}

/** Key of the history of a pillar value. */
export function historyKey({ tenant, pillar, value }: Pick<PillarValue, "tenant" | "pillar" | "value">): Uint8Array {
  return new KeyBuilder().text(tenant).text(pillar).text(value).finish();
}
