// What the coordinator folds of the configuration as one document.
import type { NounModule } from "../state/noun-module.ts";
import { exportConfiguration, importConfiguration } from "./configuration-handlers.ts";

export const CONFIGURATION = {
  handlers: {
    exportConfiguration,
    importConfiguration,
  },
} as const satisfies NounModule;
