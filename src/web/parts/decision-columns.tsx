// Columns that every table of decisions has.
import { numberText } from "../view/number-text.ts";
import { outcomeText } from "../view/reason.ts";
import type { Decision } from "../view/shapes.ts";
import { Tag, When } from "./basics.tsx";

export const WHEN = { head: "When", isTight: true, show: ({ at }: Decision) => <When at={at} /> };

export const OUTCOME = {
  head: "Outcome",
  isTight: true,
  show: ({ outcome, suppressed_by }: Decision) => (
    <Tag tone={outcome === "paged" ? "accent" : ""}>{outcomeText(outcome, suppressed_by)}</Tag>
  ),
};

export const Z_SCORE = {
  head: "Deviation, sigma",
  isNumber: true,
  show: ({ z_score }: Decision) => numberText(Number(z_score.toFixed(1))),
};

export function decisionKey({ at, anomaly_id, outcome }: Decision): string {
  return `${at} ${anomaly_id} ${outcome}`;
}
