// Groups of rules as files say them.
import type { Labels } from "../../promql/labels/labels.ts";

/** A query whose value becomes series of a new name. */
export interface RecordingRule {
  readonly kind: "recording";
  readonly name: string;
  readonly expression: string;
  /** With those of its group. */
  readonly labels: Labels;
}

/** A query whose samples are alerts. */
export interface AlertingRule {
  readonly kind: "alerting";
  readonly name: string;
  readonly expression: string;
  /** With those of its group; values are templates. */
  readonly labels: Labels;
  readonly annotations: Labels;
  readonly holdMs: number;
  readonly keepFiringMs: number;
}

/** A rule of either kind. */
export type Rule = RecordingRule | AlertingRule;

/** Rules that are evaluated one after the other, at the same moments. */
export interface RuleGroup {
  readonly name: string;
  /** undefined where the file names none. */
  readonly intervalMs: number | undefined;
  readonly queryOffsetMs: number | undefined;
  /** Series or alerts that a rule may have; 0 for any number. */
  readonly limit: number;
  readonly labels: Labels;
  readonly rules: readonly Rule[];
}
