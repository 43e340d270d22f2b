// What the coordinator folds of accepted events.
import type { NounModule } from "../state/noun-module.ts";
import type { RetentionTerms } from "../state/retention-step.ts";
import type { StoredState } from "../state/stored-state.ts";
import { billingUsage } from "./billing-handler.ts";
import { expireUsage } from "./usage-retention.ts";

export const USAGE = {
  tables: {
    series: {
      usage: { key: "month, tenant", value: "usage-rows.ts: accepted events" },
    },
  },
  expire: ({ state }: { readonly state: StoredState }, terms: RetentionTerms) => expireUsage(state, terms.wallNowMs, terms.rowsPerStep),
  handlers: {
    billingUsage,
  },
} as const satisfies NounModule;
