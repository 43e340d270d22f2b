// A model of the automatic trainings has no row of its own: its id follows from its service and the time of its training.
import { hash128 } from "../../core/hashing/hash128.ts";
import type { ModelledService } from "./model-book.ts";
import { hashOf } from "./service-key.ts";

export function automaticId(service: ModelledService, trainedMs: number): string {
  return hash128(`${hashOf(service)} ${trainedMs}`);
}
