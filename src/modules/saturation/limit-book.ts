// Declared saturation limits as they are stored.

import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { SaturationLimit } from "../../core/protocol/saturation.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { SaturationLimits } from "../../domain/saturation/saturation-limits.ts";
import { scan } from "../state/scan.ts";
import { nullable, number, StoredForm, text } from "../state/stored-json.ts";

const LIMIT = new StoredForm<SaturationLimit>("saturation_limits", {
  tenant: text,
  serviceId: nullable(text),
  metric: text,
  limitValue: number,
  unit: text,
  updatedMs: number,
});

/** Place of a declaration. */
export type LimitScope = Pick<SaturationLimit, "tenant" | "serviceId" | "metric">;

const OF_TENANT = 0;
const OF_SERVICE = 1;

/** A change of one declaration. Rows lie in the order of the list: metric, the default, services. */
export function limitOperation({ tenant, serviceId, metric }: LimitScope, limit: SaturationLimit | undefined): StoreOperation {
  const key = new KeyBuilder()
    .text(tenant)
    .text(metric)
    .u16(serviceId === null ? OF_TENANT : OF_SERVICE)
    .text(serviceId ?? "")
    .finish();
  return { table: "saturation_limits", key, value: limit && LIMIT.encode(limit) };
}

/** The committed declarations. */
export class LimitBook {
  readonly limits: SaturationLimits;

  constructor(shares = ShareLedger.alone()) {
    this.limits = new SaturationLimits(shares);
  }

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "saturation_limits")) this.limits.put(LIMIT.decode(value));
  }
}
