// The samples of a service's vectors for a training, a comparison or a look at drift: from its engine and from the store, at a share of the thread's time.
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { MODEL_READ_MS, MODEL_READ_SHARE } from "../../core/config/model-limits.ts";
import { PacedWork } from "../../core/fairness/paced-work.ts";
import { servicePage } from "../../core/protocol/service-rows.ts";
import type { TrainingInput } from "../../domain/detection/multivariate/training-input.ts";
import { partitionOf } from "../../domain/placement/partition.ts";
import type { EngineClient } from "../engines/engine-client.ts";
import { serviceHistory } from "../watchdog/training/stored-history.ts";
import { hashOf, keyOf, type ModelledService } from "./model-book.ts";

export interface ServiceInputsDependencies {
  readonly engines: EngineClient;
  readonly series: KeyValueStore;
  monotonicMs(): number;
  sleep(ms: number): Promise<void>;
  /** Commits what the engines have sent so far. */
  settle(): Promise<void>;
  isStopping(): boolean;
}

export interface InputRequest extends ModelledService {
  /** Id of the shadow whose metrics are meant; those of the model in production where it does not run. */
  readonly modelId?: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly intervalMs: number;
}

export interface ServiceInput {
  readonly input: TrainingInput;
  readonly names: readonly string[];
  readonly columns: string;
}

export class ServiceInputs {
  readonly #dependencies: ServiceInputsDependencies;

  constructor(dependencies: ServiceInputsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Undefined for a service that the Watchdog does not look at, and once a stop has begun. Rejects with EngineUnavailableError. */
  async of({ modelId, fromMs, toMs, intervalMs, ...service }: InputRequest): Promise<ServiceInput | undefined> {
    const { engines, series, settle, isStopping } = this.#dependencies;
    const { tenant, serviceId, environment } = service;
    const query = { key: keyOf(service), environment, ...(modelId !== undefined && { modelId }) };
    const answer = await engines.serviceHistory(engines.ownerOf(tenant, serviceId), query);
    if (answer.columns === "") return undefined;
    await settle();
    const paced = new PacedWork({ share: MODEL_READ_SHARE, pieceMs: MODEL_READ_MS }, this.#dependencies);
    const rowsMax = Math.ceil((toMs - fromMs) / intervalMs);
    const request = { fromMs, toMs, intervalMs, rowsMax, seed: servicePage(hashOf(service)) };
    const input = await serviceHistory(answer, partitionOf(tenant, serviceId), request, { series, paced, isStopping });
    return input === undefined ? undefined : { input, names: answer.names, columns: answer.columns };
  }
}
