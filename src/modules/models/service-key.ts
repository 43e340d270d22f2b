// A service as engines and their rows name it.
import { serviceHash } from "../../core/protocol/service-rows.ts";
import type { ModelledService } from "./model-book.ts";

export function keyOf({ tenant, serviceId }: Pick<ModelledService, "tenant" | "serviceId">): string {
  return JSON.stringify([tenant, serviceId]);
}

export function hashOf(service: ModelledService): string {
  return serviceHash(keyOf(service), service.environment);
}
