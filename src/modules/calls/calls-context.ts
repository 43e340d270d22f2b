// What the handlers of the call graph use.
import type { Using } from "../queries/query-context.ts";

export type CallsContext = Using<"nowMs" | "yieldTurn">;
