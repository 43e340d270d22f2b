// What the coordinator folds of status and coverage.
import type { NounModule } from "../state/noun-module.ts";
import { coverage } from "./coverage-handler.ts";
import { acknowledgeDataFaults, listDataFaults } from "./data-fault-handlers.ts";
import { status } from "./status-handler.ts";

export const STATUS = {
  handlers: {
    status,
    dataFaults: listDataFaults,
    acknowledgeDataFaults,
    coverage,
  },
} as const satisfies NounModule;
