// What the coordinator folds of pillars and the service map.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { pillarScores } from "./pillar-handler.ts";
import { ServiceMapBook } from "./service-map-book.ts";
import { listServiceMap, setServiceMap } from "./service-map-handlers.ts";

export const PILLARS = {
  tables: {
    control: {
      service_map: { key: "tenant, service", value: "ServiceEntry without its service" },
      pillar_history: { key: "tenant, pillar, value", value: "MagnitudeHistory (domain/pillars)" },
    },
  },
  configured: ({ share }: BookSources) => ({ serviceMap: new ServiceMapBook(share("mapped_services"), share("pillar_values")) }),
  handlers: {
    setServiceMap,
    serviceMap: listServiceMap,
    pillarScores,
  },
} as const satisfies NounModule;
