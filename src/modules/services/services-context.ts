// What the handlers of services use.
import type { Changing } from "../access/changes.ts";
import type { AnomalyBooks, EndingContext } from "../anomalies/anomalies-context.ts";
import type { CallsContext } from "../calls/calls-module.ts";
import type { LabelBooks } from "../labels/labels-context.ts";
import type { Using } from "../queries/query-context.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { RetiredBook } from "./retired-book.ts";

export interface RetirementBooks {
  readonly retired: RetiredBook;
}
export type RetirementState = StateWith<unknown, RetirementBooks>;

export type ServicesContext = Using<"engines" | "nowMs", AnomalyBooks, LabelBooks & RetirementBooks> &
  CallsContext &
  EndingContext &
  Changing;
