// What the coordinator folds of services.
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { serviceGraph } from "./graph-handler.ts";
import { expireRetired, retireService } from "./retire-handler.ts";
import { RetiredBook } from "./retired-book.ts";
import { listServices } from "./service-handler.ts";

export const SERVICES = {
  tables: {
    control: {
      retired_services: { key: "tenant, service, environment", value: "retired-book.ts: a service that people have retired" },
    },
  },
  configured: ({ share }: BookSources) => ({ retired: new RetiredBook(share("retired_services")) }),
  expire: expireRetired,
  handlers: {
    retireService,
    services: listServices,
    graph: serviceGraph,
  },
  afterCommit: ["graph"],
} as const satisfies NounModule;
