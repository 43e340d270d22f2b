// The requested models of all tenants: rows in memory, their bytes in the store.
// A service as engines and their rows name it.
// A model of the automatic trainings has no row of its own: its id follows from its service and the time of its training.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { TenantTable } from "../../core/collections/tenant-table.ts";
import { MODELS_PER_SERVICE_MAX } from "../../core/config/model-limits.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { serviceHash } from "../../core/protocol/service-rows.ts";
import { scan } from "../state/scan.ts";
import { decodeModel, type ModelContent, type ModelRow, readContent } from "./model-row.ts";

/** One service in one environment. */
export interface ModelledService {
  readonly tenant: string;
  readonly serviceId: string;
  readonly environment: string;
}

export class ModelBook {
  /** Who holds how many models, and of them shadows. */
  readonly shares: ShareLedger;
  readonly shadowShares: ShareLedger;
  readonly #models = new TenantTable<ModelRow>(({ id }) => id);
  #store: KeyValueStore | undefined;

  constructor(shares = ShareLedger.alone(), shadowShares = ShareLedger.alone()) {
    this.shares = shares;
    this.shadowShares = shadowShares;
  }

  load(store: KeyValueStore): void {
    this.#store = store;
    for (const { value } of scan(store, "models")) this.put(decodeModel(value));
  }

  get tenants(): Iterable<string> {
    return this.#models.tenants;
  }

  put(model: ModelRow): void {
    const { tenant } = model;
    const before = this.#models.put(model);
    if (before === undefined) this.shares.add(tenant);
    const change = Number(model.state === "shadow") - Number(before?.state === "shadow");
    if (change !== 0) this.shadowShares.add(tenant, change);
  }

  remove({ tenant, id }: Pick<ModelRow, "tenant" | "id">): void {
    const model = this.#models.remove(tenant, id);
    if (model === undefined) return;
    this.shares.give(tenant);
    if (model.state === "shadow") this.shadowShares.give(tenant);
  }

  find(tenant: string, id: string): ModelRow | undefined {
    return this.#models.find(tenant, id);
  }

  /** All of a tenant, the newest first. */
  listOf(tenant: string): ModelRow[] {
    return this.#models.of(tenant).sort((a, b) => b.trainedMs - a.trainedMs || (a.id < b.id ? -1 : 1));
  }

  ofService({ tenant, serviceId, environment }: ModelledService): ModelRow[] {
    return this.listOf(tenant).filter((model) => model.serviceId === serviceId && model.environment === environment);
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
