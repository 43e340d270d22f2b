// GET /prometheus/api/v1/rules and /alerts, in Prometheus' shapes (web/api/v1/api.go).

import { createHash } from "node:crypto";
import { FormParameters, invalid } from "../../api/prometheus/form-parameters.ts";
import { PrometheusError } from "../../api/prometheus/prometheus-envelope.ts";
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { RULE_INTERVAL_MS } from "../../core/config/rule-limits.ts";
import type { LabelMatcher } from "../../domain/promql/labels/label-matcher.ts";
import { quote } from "../../domain/promql/parser/quoted-text.ts";
import { type AlertText, type RuleStateText, readStateTexts } from "../../domain/rules/evaluation/rule-state-text.ts";
import { groupOfDocument } from "../../domain/rules/file/group-document.ts";
import type { Rule } from "../../domain/rules/file/rule-group.ts";
import { shortestExponentText } from "../../domain/rules/template/go-float-text.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { groupIdOf, type RuleGroupEntry } from "./rule-group-row.ts";
import type { RuleGroupFacts } from "./rule-schedule.ts";
import type { RulesContext } from "./rules-context.ts";

const INT32_MAX = 2 ** 31 - 1;
/** Time of what never was. */
const NEVER = "0001-01-01T00:00:00Z";

/** Groups with their rules, states and alerts. */
export async function promqlRules(context: RulesContext, { principal, path }: QueryRequest<"promqlRules">): Promise<Outcome<unknown>> {
  return answered(async () => {
    const parameters = new FormParameters(path.parameters ?? "");
    const filter = new RuleFilter(path.parameters ?? "", parameters);
    const { limit, entries } = pageOf(context.state.configured.rules.of(principal.tenant), parameters);
    const groups: object[] = [];
    for (const entry of entries) {
      await context.pause();
      const rules = filter.hasGroup(entry) ? rulesOf(entry, context.ruleRuns.factsOf(entry), filter) : [];
      if (rules.length === 0 && !(filter.isEmpty && filter.hasGroup(entry))) continue;
      if (groups.length === limit) return { groups, groupNextToken: groupToken(entry) };
      groups.push(groupView(entry, context.ruleRuns.factsOf(entry), rules));
    }
    return { groups };
  });
}

/** How many groups are asked for at once, and those from the token on. */
function pageOf(all: readonly RuleGroupEntry[], parameters: FormParameters) {
  const [limit, token] = [parameters.text("group_limit"), parameters.text("group_next_token")];
  if (limit === "" && token !== "")
    throw invalid("group_next_token", "group_limit needs to be present in order to paginate over the groups");
  if (limit === "") return { limit: Number.POSITIVE_INFINITY, entries: all };
  const from = token === "" ? 0 : all.findIndex((entry) => groupToken(entry) === token);
  const most = groupLimit(limit);
  if (from < 0) throw invalid("group_next_token", `invalid group_next_token '${token}'. were rule groups changed?`);
  return { limit: most, entries: all.slice(from) };
}

function groupLimit(text: string): number {
  const why = !/^[+-]?\d+$/.test(text) ? "invalid syntax" : Math.abs(Number(text)) > INT32_MAX ? "value out of range" : undefined;
  if (why !== undefined)
    throw invalid("group_limit", `group_limit needs to be a valid number: strconv.ParseInt: parsing ${quote(text)}: ${why}`);
  if (Number(text) <= 0) throw invalid("group_limit", "group_limit needs to be greater than 0");
  return Number(text);
}

function groupToken({ file, document }: RuleGroupEntry): string {
  return createHash("sha1").update(groupIdOf(file, document.name)).digest("hex");
}

/** Alerts that are pending or fire. */
export async function promqlAlerts(context: RulesContext, { principal }: QueryRequest<"promqlAlerts">): Promise<Outcome<unknown>> {
  return answered(async () => {
    const alerts: object[] = [];
    for (const entry of context.state.configured.rules.of(principal.tenant)) {
      await context.pause();
      const { state } = context.ruleRuns.factsOf(entry);
      for (const rule of state === null ? [] : readStateTexts(state)) alerts.push(...activeAlerts(rule));
    }
    return { alerts };
  });
}

async function answered(work: () => Promise<object>): Promise<Outcome<unknown>> {
  try {
    return done({ status: "success", data: await work() });
  } catch (error) {
    if (error instanceof PrometheusError) return refused("bad_request", error.message);
    throw error;
  }
}

/** What of the rules is asked for. */
class RuleFilter {
  readonly excludesAlerts: boolean;
  readonly isEmpty: boolean;
  readonly #type: string;
  readonly #names: ReadonlySet<string>;
  readonly #groups: ReadonlySet<string>;
  readonly #files: ReadonlySet<string>;
  readonly #selectors: ReadonlyArray<readonly LabelMatcher[]>;

  constructor(text: string, parameters: FormParameters) {
    const all = new URLSearchParams(text);
    const texts = (name: string) => new Set(all.getAll(name));
    this.#type = parameters.text("type").toLowerCase();
    if (!["", "alert", "record"].includes(this.#type)) throw invalid("type", `not supported value ${quote(this.#type)}`);
    [this.#names, this.#groups, this.#files] = [texts("rule_name[]"), texts("rule_group[]"), texts("file[]")];
    this.#selectors = parameters.selectors;
    this.excludesAlerts = isTrue("exclude_alerts", parameters.text("exclude_alerts").toLowerCase());
    this.isEmpty = this.#type === "" && this.#names.size === 0 && this.#selectors.length === 0;
  }

  hasGroup({ file, document }: RuleGroupEntry): boolean {
    return (this.#groups.size === 0 || this.#groups.has(document.name)) && (this.#files.size === 0 || this.#files.has(file));
  }

  has({ kind, name, labels }: Rule): boolean {
    if (this.#type !== "" && (this.#type === "alert") !== (kind === "alerting")) return false;
    if (this.#names.size > 0 && !this.#names.has(name)) return false;
    const fulfils = (matchers: readonly LabelMatcher[]) => matchers.every((matcher) => matcher.matches(labels.get(matcher.name)));
    return this.#selectors.length === 0 || this.#selectors.some(fulfils);
  }
}

/** Whether a text in lower case is one of those that Go reads as true; it must be one of true or false. */
function isTrue(name: string, text: string): boolean {
  const isBoolean = /^(?:1|t|true|0|f|false|)$/.test(text);
  if (!isBoolean) throw invalid(name, `error converting ${name}: strconv.ParseBool: parsing ${quote(text)}: invalid syntax`);
  return /^(?:1|t|true)$/.test(text);
}

function groupView({ file, document }: RuleGroupEntry, { evaluatedMs, seconds }: RuleGroupFacts, rules: readonly object[]) {
  const { intervalMs, limit } = groupOfDocument(document);
  return {
    name: document.name,
    file,
    rules,
    interval: (intervalMs === undefined || intervalMs === 0 ? RULE_INTERVAL_MS : intervalMs) / 1_000,
    limit,
    evaluationTime: seconds,
    lastEvaluation: timeText(evaluatedMs),
  };
}

function rulesOf({ document }: RuleGroupEntry, facts: RuleGroupFacts, filter: RuleFilter): object[] {
  const states = facts.state === null ? [] : readStateTexts(facts.state);
  const { rules } = groupOfDocument(document);
  return rules.flatMap((rule, index) => (filter.has(rule) ? ruleView(rule, { facts, index, state: states[index] }, filter) : []));
}

interface RuleSituation {
  readonly facts: RuleGroupFacts;
  readonly index: number;
  readonly state: RuleStateText | undefined;
}

function ruleView(rule: Rule, { facts, index, state }: RuleSituation, { excludesAlerts }: RuleFilter): object {
  const evaluated = facts.rules[index];
  const lastError = facts.problem ?? evaluated?.lastError ?? null;
  const after = {
    health: lastError !== null ? "err" : facts.evaluatedMs === 0 ? "unknown" : "ok",
    ...(lastError !== null && { lastError }),
    evaluationTime: evaluated?.seconds ?? 0,
    lastEvaluation: timeText(facts.evaluatedMs),
  };
  const labels = rule.labels.toObject();
  if (rule.kind === "recording") return { name: rule.name, query: rule.expression, labels, ...after, type: "recording" };
  const { name, expression: query, holdMs, keepFiringMs } = rule;
  const alerts = state === undefined ? [] : activeAlerts(state);
  return {
    state: alerts.some((alert) => alert.state === "firing") ? "firing" : alerts.length > 0 ? "pending" : "inactive",
    name,
    query,
    duration: holdMs / 1_000,
    keepFiringFor: keepFiringMs / 1_000,
    labels,
    annotations: rule.annotations.toObject(),
    alerts: excludesAlerts ? [] : alerts,
    ...after,
    type: "alerting",
  };
}

function activeAlerts({ alerts }: RuleStateText) {
  return alerts.filter(({ state }) => state !== "inactive").map(alertView);
}

function alertView({ labels, annotations, state, activeAtMs, value, keepFiringSinceMs }: AlertText) {
  return {
    labels,
    annotations,
    state,
    activeAt: timeText(activeAtMs),
    ...(keepFiringSinceMs !== null && { keepFiringSince: timeText(keepFiringSinceMs) }),
    value: shortestExponentText(Number(value)),
  };
}

function timeText(ms: number): string {
  return ms === 0 ? NEVER : new Date(ms).toISOString();
}
