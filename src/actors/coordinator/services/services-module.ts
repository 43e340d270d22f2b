// What the coordinator folds of services.
import type { NounModule } from "../state/noun-module.ts";
import { serviceGraph } from "./graph-handler.ts";
import { listServices } from "./service-handler.ts";

export const SERVICES = {
  handlers: {
    services: listServices,
    graph: serviceGraph,
  },
  afterCommit: ["graph"],
} as const satisfies NounModule;
