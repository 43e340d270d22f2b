// What the coordinator folds of limits and saturation.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { FireBook } from "./fire-book.ts";
import { saturationFires } from "./fire-handler.ts";
import { LimitBook } from "./limit-book.ts";
import { declareLimit, deleteLimit, listLimits } from "./limit-handlers.ts";
import type { SaturationBooks } from "./saturation-context.ts";

export const SATURATION = {
  tables: {
    control: {
      saturation_limits: { key: "tenant, metric, u16 0 or 1, service", value: "SaturationLimit: of the tenant, or of a service" },
      saturation_fires: { key: "tenant, fire id", value: "SaturationFire: a finding, open or ended" },
    },
  },
  configured: ({ share }: BookSources) => ({ saturation: new LimitBook(share("saturation_limits")), fires: new FireBook() }),
  gauges: ({ configured }: { readonly configured: SaturationBooks }) => ({ saturationLimits: configured.saturation.limits.size }),
  handlers: {
    declareLimit,
    limits: listLimits,
    deleteLimit,
    saturationFires,
  },
} as const satisfies NounModule;
