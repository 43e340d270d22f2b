// The requested models of all tenants: rows in memory, their bytes in the store.
// A service as engines and their rows name it.
// A model of the automatic trainings has no row of its own: its id follows from its service and the time of its training.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { MODELS_PER_SERVICE_MAX } from "../../core/config/model-limits.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { serviceHash } from "../../core/protocol/service-rows.ts";
import { StoredTable } from "../state/stored-table.ts";
import { contentRemoval, MODELS, type ModelContent, type ModelRow, readContent } from "./model-row.ts";

/** One service in one environment. */
export interface ModelledService {
  readonly tenant: string;
  readonly serviceId: string;
  readonly environment: string;
}

export class ModelBook extends StoredTable<ModelRow> {
  /** Who holds how many shadows. */
  readonly shadowShares: ShareLedger;
  #store: KeyValueStore | undefined;

  constructor(shares?: ShareLedger, shadowShares = ShareLedger.alone()) {
    super(MODELS, shares);
    this.shadowShares = shadowShares;
  }

  override load(store: KeyValueStore): void {
    this.#store = store;
    super.load(store);
  }

  override put(model: ModelRow): ModelRow | undefined {
    const before = super.put(model);
    const change = Number(model.state === "shadow") - Number(before?.state === "shadow");
    if (change !== 0) this.shadowShares.add(model.tenant, change);
    return before;
  }

  override remove(tenant: string, id: string): ModelRow | undefined {
    const model = super.remove(tenant, id);
    if (model?.state === "shadow") this.shadowShares.give(tenant);
    return model;
  }

  /** All of a tenant, the newest first. */
  override of(tenant: string): ModelRow[] {
    return super.of(tenant).sort((a, b) => b.trainedMs - a.trainedMs);
  }

  /** Deletes a model with its parts. */
  removals(model: ModelRow): StoreOperation[] {
    return [this.removal(model), ...contentRemoval(model)];
  }

  ofService({ tenant, serviceId, environment }: ModelledService): ModelRow[] {
    return this.of(tenant).filter((model) => model.serviceId === serviceId && model.environment === environment);
  }

  /** The promoted model of a service; undefined where one of the automatic trainings judges it. */
  production(service: ModelledService): ModelRow | undefined {
    return this.ofService(service).find(({ state }) => state === "production");
  }

  /** The shadow that is scored beside it. */
  shadow(service: ModelledService): ModelRow | undefined {
    return this.ofService(service).find(({ state }) => state === "shadow");
  }

  /** Reads a model's bytes. */
  content(model: Pick<ModelRow, "tenant" | "id">): ModelContent | undefined {
    return readContent(model, (key) => this.#store?.get("model_parts", key));
  }

  /** Which of a service's models go when one more comes: the oldest that are neither in production nor what a rollback would go back to. */
  excess(service: ModelledService): ModelRow[] {
    const models = this.ofService(service);
    const retained = models.find(({ state }) => state === "production");
    const free = models.filter(({ id }) => id !== retained?.id && id !== retained?.previousId);
    return free.slice(Math.max(0, free.length - (models.length + 1 - MODELS_PER_SERVICE_MAX)));
  }
}

export function keyOf({ tenant, serviceId }: Pick<ModelledService, "tenant" | "serviceId">): string {
  return JSON.stringify([tenant, serviceId]);
}

export function hashOf(service: ModelledService): string {
  return serviceHash(keyOf(service), service.environment);
}

export function automaticId(service: ModelledService, trainedMs: number): string {
  return hash128(`${hashOf(service)} ${trainedMs}`);
}
