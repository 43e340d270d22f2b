// A service as engines and their rows name it.
// A model of the automatic trainings has no row of its own: its id follows from its service and the time of its training.
import { hash128 } from "../../core/hashing/hash128.ts";
import { serviceHash } from "../../core/protocol/service-rows.ts";
import type { ModelledService } from "./model-book.ts";

export function keyOf({ tenant, serviceId }: Pick<ModelledService, "tenant" | "serviceId">): string {
  return JSON.stringify([tenant, serviceId]);
}

export function hashOf(service: ModelledService): string {
  return serviceHash(keyOf(service), service.environment);
}

export function automaticId(service: ModelledService, trainedMs: number): string {
  return hash128(`${hashOf(service)} ${trainedMs}`);
}
