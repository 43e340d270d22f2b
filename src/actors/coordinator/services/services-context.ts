// What the handlers of services use.
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { CallsContext } from "../calls/calls-context.ts";
import type { LabelBooks } from "../labels/labels-context.ts";
import type { Using } from "../queries/query-context.ts";

export type ServicesContext = Using<"engines" | "nowMs", AnomalyBooks, LabelBooks> & CallsContext;
