// Forgets the counts of accepted events of months that no bill asks for any more.
import { USAGE_MONTHS_KEPT } from "../../core/config/limits.ts";
import { monthOf } from "../../domain/access/billing-month.ts";
import type { RetentionStep } from "../state/retention-step.ts";
import type { StoredState } from "../state/stored-state.ts";
import { TABLE_START } from "../state/tables.ts";
import { usageBound } from "./usage-rows.ts";

/** Deletes the months before those that are kept, `rowsPerStep` a commit. */
export function* expireUsage({ series }: Pick<StoredState, "series">, nowMs: number, rowsPerStep: number): Generator<RetentionStep> {
  const to = usageBound(Math.max(0, monthOf(nowMs) - USAGE_MONTHS_KEPT));
  for (;;) {
    const entries = series.range("usage", { from: TABLE_START, to, limit: rowsPerStep });
    if (entries.length === 0) return;
    yield { store: series, operations: entries.map(({ key }) => ({ table: "usage", key, value: undefined })), apply: () => undefined };
  }
}
