// Rules of Prometheus as the server answers them, and what pages say of them.
import { numberText } from "./number-text.ts";

type Texts = Readonly<Record<string, string>>;

/** An alert that is pending or fires. */
export interface RuleAlert {
  readonly labels: Texts;
  readonly annotations: Texts;
  readonly state: "pending" | "firing";
  readonly activeAt: string;
  readonly value: string;
}

/** A rule after its last evaluation. Times are in seconds. */
export interface Rule {
  readonly type: "alerting" | "recording";
  readonly name: string;
  readonly query: string;
  readonly labels: Texts;
  readonly health: "ok" | "err" | "unknown";
  readonly lastError?: string;
  readonly evaluationTime: number;
  readonly lastEvaluation: string;
  /** These are of alerting rules alone. */
  readonly state?: "inactive" | "pending" | "firing";
  readonly duration?: number;
  readonly keepFiringFor?: number;
  readonly annotations?: Texts;
  readonly alerts?: readonly RuleAlert[];
}

/** A group of rules; `file` is empty where it came by the API. */
export interface RuleGroup {
  readonly name: string;
  readonly file: string;
  readonly interval: number;
  readonly evaluationTime: number;
  readonly lastEvaluation: string;
  readonly rules: readonly Rule[];
}

/** What GET /prometheus/api/v1/rules answers. */
export interface RulesAnswer {
  readonly data: { readonly groups: readonly RuleGroup[] };
}

/** What a list of rules can be narrowed to. */
export const RULE_STATES = ["firing", "pending", "inactive", "recording", "failing"] as const;
type RuleState = (typeof RULE_STATES)[number];

/** The state of a rule in words: of one that fails, what else it is too. */
export function statesOf({ type, state, health }: Rule): readonly RuleState[] {
  const own = type === "recording" ? "recording" : (state ?? "inactive");
  return health === "err" ? ["failing", own] : [own];
}

/** Rules that are in a state and have a text in their name, expression or group; groups without any are left out. */
export function chosenGroups(groups: readonly RuleGroup[], { state = "", q = "" }: Texts): readonly RuleGroup[] {
  const part = q.trim().toLowerCase();
  if (state === "" && part === "") return groups;
  const has = (text: string) => text.toLowerCase().includes(part);
  return groups.flatMap((group) => {
    const isNamed = has(group.name) || has(group.file);
    const rules = group.rules.filter(
      (rule) =>
        (state === "" || statesOf(rule).some((own) => own === state)) && (part === "" || isNamed || has(rule.name) || has(rule.query)),
    );
    return rules.length === 0 ? [] : [{ ...group, rules }];
  });
}

/** Numbers of rules, of all and in states that people look for. */
export function ruleCounts(groups: readonly RuleGroup[]) {
  const states = groups.flatMap(({ rules }) => rules.map(statesOf));
  const count = (state: RuleState) => states.filter((own) => own.includes(state)).length;
  return { rules: states.length, firing: count("firing"), pending: count("pending"), failing: count("failing") };
}

/** Where a group comes from. */
export function sourceText(file: string): string {
  return file === "" ? "by the API" : `file ${file}`;
}

/** A duration in seconds as rules have it: 15 s, 0.4 ms. */
export function secondsText(seconds: number): string {
  return seconds !== 0 && seconds < 1 ? `${numberText(Number((seconds * 1000).toPrecision(2)))} ms` : `${numberText(seconds)} s`;
}

/** The value that an alert was evaluated with, which may be no number. */
export function valueText(value: string): string {
  return Number.isFinite(Number(value)) ? numberText(Number(value)) : value;
}

/** A moment; null for Prometheus' year 1, which is never. */
export function momentOf(text: string): string | null {
  return Date.parse(text) > 0 ? text : null;
}

/** An open anomaly that an alert was taken as. */
interface TakenAlert {
  readonly alert_id: string | null;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** The alert that people see of a rule's: that with most of its labels and no other. */
export function alertIdOf(labels: Texts, taken: readonly TakenAlert[]): string | null {
  let best: TakenAlert | undefined;
  const size = ({ attributes }: TakenAlert) => Object.keys(attributes).length;
  for (const one of taken) {
    const isOf = Object.entries(one.attributes).every(([name, value]) => labels[name] === value);
    if (isOf && size(one) > 0 && (best === undefined || size(one) > size(best))) best = one;
  }
  return best?.alert_id ?? null;
}

/** Whether an alert can be one of a rule's: labels of the rule that are no template stand in it too. Its severity is the server's own. */
export function isOfRule({ type, name, labels }: Rule, alert: Texts): boolean {
  const agrees = ([label, value]: readonly [string, string]) => label === "severity" || value.includes("{{") || alert[label] === value;
  return type === "alerting" && alert.alertname === name && Object.entries(labels).every(agrees);
}

/** What an alert that was taken is in the rules of this server; undefined where it is none's, or fires no more. */
export function takenFrom(attributes: Readonly<Record<string, unknown>>, rules: readonly Rule[]) {
  const names = Object.keys(attributes);
  const isIt = ({ labels }: RuleAlert) => names.length > 0 && names.every((name) => labels[name] === attributes[name]);
  for (const rule of rules) {
    const alert = rule.alerts?.find(isIt);
    if (alert !== undefined) return { rule, alert };
  }
  return undefined;
}
