// What an engine is told of requested models: which one is in production, which one is scored beside it, and that none is any more.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { DETECTOR_SERVICE_MODELS, DETECTOR_SERVICES } from "../../core/protocol/coordinator-frame.ts";
import type { ServiceModelMessage, ShadowModelMessage } from "../../core/protocol/engine-control.ts";
import { decodeServiceRow, type ServiceRow, servicePage } from "../../core/protocol/service-rows.ts";
import { partitionOf } from "../../domain/placement/partition.ts";
import type { EngineClient } from "../engines/engine-client.ts";
import { detectorStatesKey } from "../state/tables.ts";
import { hashOf, keyOf, type ModelBook, type ModelledService } from "./model-book.ts";
import type { ModelRow } from "./model-row.ts";

/** No training of its own is due: it stays until somebody puts another one in its place. */
const NEVER_MS = Number.MAX_SAFE_INTEGER;

export interface ModelMessagesDependencies {
  readonly models: ModelBook;
  readonly series: KeyValueStore;
  readonly engines: EngineClient;
}

export class ModelMessages {
  readonly #dependencies: ModelMessagesDependencies;

  constructor(dependencies: ModelMessagesDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * The model that somebody has promoted, for an engine whose vectors have these columns: with other ones it is told the metrics first, and asks again. Undefined
   * where one of the automatic trainings is in production.
   */
  production(service: ModelledService, columns: string): ServiceModelMessage | undefined {
    const row = this.#dependencies.models.production(service);
    const content = row && this.#dependencies.models.content(row);
    if (row === undefined || content === undefined) return undefined;
    const state = this.automatic(service, DETECTOR_SERVICES);
    const isStored = state?.columns === row.columns && row.columns === columns;
    return {
      type: "service-model",
      key: keyOf(service),
      environment: service.environment,
      columns: row.columns,
      model: content.model,
      state: isStored ? new Float64Array(state.bytes.buffer) : content.state,
      sampleMs: isStored ? state.timeMs : 0,
      trainedMs: row.trainedMs,
      rows: row.rows,
      dueMs: NEVER_MS,
      promoted: { modelId: row.id, names: row.names },
    };
  }

  shadow(service: ModelledService): ShadowModelMessage | undefined {
    const row = this.#dependencies.models.shadow(service);
    const content = row && this.#dependencies.models.content(row);
    if (row === undefined || content === undefined) return undefined;
    const { id: modelId, names, columns } = row;
    const { model, state } = content;
    return { type: "shadow-model", key: keyOf(service), environment: service.environment, modelId, names, columns, model, state };
  }

  /** A row of the automatic trainings: of a model, or of the state of its detector. */
  automatic(service: ModelledService, detector = DETECTOR_SERVICE_MODELS): ServiceRow | undefined {
    const hash = hashOf(service);
    const key = detectorStatesKey(partitionOf(service.tenant, service.serviceId), detector, servicePage(hash));
    const bytes = this.#dependencies.series.get("detector_states", key);
    const row = bytes && decodeServiceRow(bytes);
    return row?.service === hash ? row : undefined;
  }

  /** Tells the service's engine which model is in production now; `before` was until then. */
  sendProduction(service: ModelledService, before: ModelRow | undefined): void {
    const promoted = this.#dependencies.models.production(service);
    if (promoted !== undefined) {
      const message = this.production(service, promoted.columns);
      if (message !== undefined) this.#notify(service, message);
      return;
    }
    const row = this.automatic(service);
    this.#notify(service, {
      type: "service-model",
      key: keyOf(service),
      environment: service.environment,
      columns: row?.columns ?? before?.columns ?? "",
      model: row?.bytes ?? null,
      state: null,
      sampleMs: 0,
      trainedMs: row?.timeMs ?? 0,
      rows: row?.count ?? 0,
      dueMs: 0,
      promoted: null,
    });
  }

  /** Has a shadow scored from now on. */
  sendShadow(service: ModelledService): void {
    const message = this.shadow(service);
    if (message !== undefined) this.#notify(service, message);
  }

  /** Has a model no longer scored. */
  endShadow(model: ModelRow): void {
    const { id: modelId, names, columns, environment } = model;
    const nothing = { model: null, state: new Float64Array(0) };
    this.#notify(model, { type: "shadow-model", key: keyOf(model), environment, modelId, names, columns, ...nothing });
  }

  #notify({ tenant, serviceId }: ModelledService, message: ServiceModelMessage | ShadowModelMessage): void {
    const { engines } = this.#dependencies;
    engines.notify(engines.ownerOf(tenant, serviceId), message);
  }
}
