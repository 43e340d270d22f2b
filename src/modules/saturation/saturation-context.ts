// What the handlers of limits and of saturation use.
import type { Changing } from "../access/changes.ts";
import type { Using } from "../queries/query-context.ts";
import type { FireBook } from "./fire-book.ts";
import type { LimitBook } from "./limit-book.ts";

export interface SaturationBooks {
  readonly saturation: LimitBook;
  readonly fires: FireBook;
}

export type SaturationContext = Using<"nowMs", unknown, SaturationBooks> & Changing;
