// States of a group's rules as bytes: what one evaluation leaves for the next, wherever that runs. A rule is known by its name and labels, as in Prometheus, so that
// what has not changed keeps its alerts when its file does.
import { Labels } from "../../promql/labels/labels.ts";
import type { Rule } from "../file/rule-group.ts";
import type { AlertState, RuleAlert } from "./alerting-evaluation.ts";
import type { LateRule, RuleState } from "./group-evaluation.ts";

type Texts = Readonly<Record<string, string>>;

/** An alert in JSON. Numbers that JSON has no word for are texts. */
export interface AlertText {
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly state: AlertState;
  readonly value: string;
  readonly activeAtMs: number;
  readonly firedAtMs: number | null;
  readonly resolvedAtMs: number | null;
  readonly keepFiringSinceMs: number | null;
}

/** A rule's state in JSON. */
export interface RuleStateText {
  /** Name and labels of the rule. */
  readonly key: string;
  readonly alerts: readonly AlertText[];
  readonly series: readonly Texts[];
  readonly isRestored: boolean;
  readonly lastError: string | null;
  readonly late?: LateRule;
}

/** What a rule is known by. */
export function ruleKeyOf({ kind, name, labels }: Rule): string {
  return JSON.stringify([kind, name, labels.toObject()]);
}

/** Writes the states of rules, in their order. */
export function stateBytes(rules: readonly Rule[], states: readonly RuleState[]): Uint8Array<ArrayBuffer> {
  const texts = rules.map((rule, index) => stateText(ruleKeyOf(rule), states[index] as RuleState));
  return new Uint8Array(Buffer.from(JSON.stringify(texts)));
}

function stateText(key: string, { alerts, series, isRestored, lastError, late }: RuleState): RuleStateText {
  return {
    key,
    alerts: [...alerts.values()].map(alertText),
    series: [...series.values()].map((labels) => labels.toObject()),
    isRestored,
    lastError: lastError ?? null,
    ...(late !== undefined && { late }),
  };
}

function alertText({ labels, annotations, value, firedAtMs, resolvedAtMs, keepFiringSinceMs, ...rest }: RuleAlert): AlertText {
  return {
    ...rest,
    labels: labels.toObject(),
    annotations: annotations.toObject(),
    value: String(value),
    firedAtMs: firedAtMs ?? null,
    resolvedAtMs: resolvedAtMs ?? null,
    keepFiringSinceMs: keepFiringSinceMs ?? null,
  };
}

/** Reads what stateBytes() wrote. */
export function readStateTexts(bytes: Uint8Array): readonly RuleStateText[] {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")) as RuleStateText[];
}

/** The state of a rule as it was written. */
export function stateOfText({ alerts, series, isRestored, lastError, late }: RuleStateText): RuleState {
  const read = alerts.map(alertOf);
  const labels = series.map(labelsOf);
  return {
    alerts: new Map(read.map((alert) => [alert.labels.key, alert])),
    series: new Map(labels.map((one) => [one.key, one])),
    isRestored,
    lastError: lastError ?? undefined,
    ...(late !== undefined && { late }),
  };
}

function alertOf({ labels, annotations, value, firedAtMs, resolvedAtMs, keepFiringSinceMs, ...rest }: AlertText): RuleAlert {
  return {
    ...rest,
    labels: labelsOf(labels),
    annotations: labelsOf(annotations),
    value: Number(value),
    firedAtMs: firedAtMs ?? undefined,
    resolvedAtMs: resolvedAtMs ?? undefined,
    keepFiringSinceMs: keepFiringSinceMs ?? undefined,
  };
}

function labelsOf(texts: Texts): Labels {
  return Labels.of(Object.entries(texts));
}
