// What the coordinator folds of the ledger of pages.
import type { NounModule } from "../state/noun-module.ts";
import { readLedger } from "./ledger-handler.ts";

export const LEDGER = {
  handlers: {
    alertLedger: readLedger,
  },
} as const satisfies NounModule;
