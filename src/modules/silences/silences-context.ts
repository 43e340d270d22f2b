// What the handlers of silences and inhibitions use.
import type { PagingMemory } from "../../domain/alerting/paging/paging-memory.ts";
import type { Changing } from "../access/changes.ts";
import type { Using } from "../queries/query-context.ts";
import type { PatternHolders } from "./pattern-capacity.ts";

/** Alerts that fire, and what they inhibit. */
interface FiringAlerts {
  readonly alerts: { readonly memory: PagingMemory };
}

export type SilencesContext = Using<"nowMs" | "randomBytes" | "yieldToLoop", FiringAlerts, PatternHolders> & Changing;
