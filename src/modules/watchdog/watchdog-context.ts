// What the handlers of the Watchdog's settings use.
import type { Changing } from "../access/changes.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { Using } from "../queries/query-context.ts";
import type { WatchdogBook } from "./watchdog-book.ts";

export interface WatchdogBooks {
  readonly watchdog: WatchdogBook;
}

export type WatchdogContext = Using<"engines" | "nowMs", AlertBooks, WatchdogBooks> & Changing;
