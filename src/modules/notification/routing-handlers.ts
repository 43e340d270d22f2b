// GET, POST /api/v1/routing/rules, PUT, DELETE /{id} and POST /api/v1/routing/test.

import type { BodyOf } from "../../api/endpoints.ts";
import { listed } from "../../api/page-token.ts";
import { done, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { channelTexts, ruleFrom } from "../../api/shapes/routing.ts";
import {
  ROUTING_CATCH_ALL_PRIORITY,
  ROUTING_PRIORITY_MAX,
  ROUTING_RULES_MAX,
  SERVICE_PATTERNS_CHARACTERS_MAX,
} from "../../core/config/notification-limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { DetectorFamily } from "../../domain/alerting/ensemble.ts";
import { unresolvedChannels } from "../../domain/notification/alert-channels.ts";
import { parseChannel } from "../../domain/notification/channel.ts";
import { type DestinationSettings, resolveChannel } from "../../domain/notification/destinations.ts";
import { type RoutingRule, type RoutingSubject, sourceOf } from "../../domain/notification/routing-rule.ts";
import { CATCH_ALL_ID } from "../../domain/notification/routing-rules.ts";
import type { Change } from "../access/changes.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { refuseOneMore } from "../state/one-more.ts";
import { newId } from "../state/tables.ts";
import type { NotificationContext } from "./notification-context.ts";
import { ruleOperation } from "./routing-book.ts";

type RuleBody = BodyOf<"createRoutingRule">;

export function createRoutingRule(context: NotificationContext, request: QueryRequest<"createRoutingRule">): Promise<Outcome<unknown>> {
  const { routing } = context.state.configured;
  const { tenant } = request.principal;
  const id = newId(context);
  return context.change(request, () => {
    const problem = priorityProblem(request.body) ?? patternProblem(context, tenant, id, request.body);
    if (problem !== undefined) return problem;
    const full = refuseOneMore({ shares: routing.shares, tenant, mostOfTenant: ROUTING_RULES_MAX, what: "routing rules" });
    if (full !== undefined) return full;
    return stored(context, tenant, undefined, ruleFrom(id, request.body, context.nowMs()));
  });
}

export function changeRoutingRule(context: NotificationContext, request: QueryRequest<"changeRoutingRule">): Promise<Outcome<unknown>> {
  const { routing } = context.state.configured;
  const { tenant } = request.principal;
  const id = request.path.id ?? "";
  return context.change(request, () => {
    const before = routing.find(tenant, id);
    if (before === undefined) return unknownRule(id);
    if (id === CATCH_ALL_ID) return editedCatchAll(context, tenant, before, request.body);
    const problem = priorityProblem(request.body) ?? patternProblem(context, tenant, id, request.body);
    return problem ?? stored(context, tenant, before, ruleFrom(id, request.body, before.createdAtMs));
  });
}

export function deleteRoutingRule(context: NotificationContext, request: QueryRequest<"deleteRoutingRule">): Promise<Outcome<unknown>> {
  const { routing } = context.state.configured;
  const { tenant } = request.principal;
  const id = request.path.id ?? "";
  return context.change(request, () => {
    if (id === CATCH_ALL_ID) return refused("conflict", "the catch-all cannot be deleted; give it other channels, or put a rule before it");
    const before = routing.find(tenant, id);
    if (before === undefined) return unknownRule(id);
    return {
      ok: true,
      note: { action: "routing_rule.delete", object: id, before: ruleView(routing.destinations, tenant, before), after: null },
      operations: [ruleOperation(tenant, id, undefined)],
      apply: () => routing.remove(tenant, id),
      outcome: noContent(),
    };
  });
}

export function listRoutingRules({ state }: NotificationContext, request: QueryRequest<"routingRules">): Outcome<unknown> {
  const { tenant } = request.principal;
  const { routing } = state.configured;
  const rules = routing.rulesOf(tenant);
  const unresolved = rules.flatMap(({ channels }) => unresolvedChannels(routing.destinations, tenant, channels));
  const list = {
    endpoint: "routing_rules",
    positionOf: ({ priority, createdAtMs, id }: (typeof rules)[number]) => [priority, createdAtMs, id],
  };
  return listed(state, request, list, rules, (page) => ({
    rules: page.map((rule) => ruleView(routing.destinations, tenant, rule)),
    unresolved_targets: [...new Set(unresolved)],
    total: rules.length,
  }));
}

/** Where an alert goes, or one that might be. */
export function testRouting(context: NotificationContext, { principal, body }: QueryRequest<"testRouting">): Outcome<unknown> {
  const { state } = context;
  const { tenant } = principal;
  const subject = body.alert_id === undefined ? imagined(body) : ofAlert(state.alerts.find(tenant, body.alert_id));
  if (subject === undefined) return refused("not_found", `no alert has the id ${shown(body.alert_id ?? "")}`, "alert_id");
  const { rule, skipped, channels } = context.channels.routes.route(tenant, subject);
  return done({
    rule: rule === null ? null : ruleView(state.configured.routing.destinations, tenant, rule),
    channels: rule?.channels ?? [],
    resolved: channels.map(({ channel, destination, fallback }) => ({ channel, target: destination?.target ?? null, fallback })),
    skipped: skipped.map(({ ruleId, failedMatcher }) => ({ rule_id: ruleId, failed_matcher: failedMatcher })),
  });
}

function imagined({
  service_id = "",
  severity = "high",
  source = "metric",
  environment = "",
  labels = {},
}: BodyOf<"testRouting">): RoutingSubject {
  const named = { ...labels, service_id, severity, environment };
  return { serviceId: service_id, severity, source, environment, labels: named };
}

function ofAlert(alert: ReturnType<NotificationContext["state"]["alerts"]["find"]>): RoutingSubject | undefined {
  if (alert === undefined) return undefined;
  const { key, tier } = alert.state;
  const source = sourceOf(key.family as DetectorFamily);
  return { serviceId: key.serviceId, severity: tier, source, environment: key.environment, labels: alert.labels };
}

function stored({ state }: NotificationContext, tenant: string, before: RoutingRule | undefined, rule: RoutingRule): Change<unknown> {
  const { routing } = state.configured;
  const { destinations } = routing;
  const after = ruleView(destinations, tenant, rule);
  const answer = { ...after, warnings: warningsOf(destinations, tenant, rule.channels) };
  return {
    ok: true,
    note: {
      action: before === undefined ? "routing_rule.create" : "routing_rule.change",
      object: rule.id,
      before: before === undefined ? null : ruleView(destinations, tenant, before),
      after,
    },
    operations: [ruleOperation(tenant, rule.id, rule)],
    apply: () => routing.put(tenant, rule),
    outcome: before === undefined ? { ok: true, value: answer, status: 201 } : done(answer),
  };
}

function editedCatchAll({ state }: NotificationContext, tenant: string, before: RoutingRule, body: RuleBody) {
  const { routing } = state.configured;
  const matches =
    Object.keys(body.label_matchers).length > 0 ||
    [body.service_pattern, body.severity, body.source, body.environment].some((one) => one !== null);
  if (matches)
    return refused(
      "invalid_field",
      "the catch-all matches everything: leave the matchers out, or make a rule of its own",
      "label_matchers",
    );
  if (body.priority !== ROUTING_CATCH_ALL_PRIORITY) {
    return refused("invalid_field", `the catch-all has priority ${ROUTING_CATCH_ALL_PRIORITY}, got ${body.priority}`, "priority");
  }
  const edit = { name: body.name, channels: channelTexts(body.channels) };
  const rule: RoutingRule = { ...before, ...edit };
  const after = ruleView(routing.destinations, tenant, rule);
  const change: Change<unknown> = {
    ok: true,
    note: { action: "routing_rule.change", object: CATCH_ALL_ID, before: ruleView(routing.destinations, tenant, before), after },
    operations: [ruleOperation(tenant, CATCH_ALL_ID, edit)],
    apply: () => routing.editCatchAll(tenant, edit),
    outcome: done({ ...after, warnings: warningsOf(routing.destinations, tenant, edit.channels) }),
  };
  return change;
}

function priorityProblem({ priority }: RuleBody) {
  if (priority <= ROUTING_PRIORITY_MAX) return undefined;
  return refused("invalid_field", `priority is 0 to ${ROUTING_PRIORITY_MAX}; ${ROUTING_CATCH_ALL_PRIORITY} is the catch-all's`, "priority");
}

/** Patterns are asked one after another at each page: what all of a tenant's cost is bounded by their characters. */
function patternProblem({ state }: NotificationContext, tenant: string, id: string, { service_pattern: pattern }: RuleBody) {
  const others = state.configured.routing.rulesOf(tenant).filter((rule) => rule.id !== id);
  const characters = others.reduce((sum, { servicePattern }) => sum + (servicePattern?.length ?? 0), pattern?.length ?? 0);
  if (characters <= SERVICE_PATTERNS_CHARACTERS_MAX) return undefined;
  const most = `all service patterns of a tenant have at most ${SERVICE_PATTERNS_CHARACTERS_MAX} characters together`;
  return refused("unprocessable", `${most}, with this one they would have ${characters}: shorten some`, "service_pattern");
}

function warningsOf(destinations: DestinationSettings, tenant: string, channels: readonly string[]): string[] {
  return unresolvedChannels(destinations, tenant, channels).map((text) => {
    const channel = parseChannel(text);
    const isReported = typeof channel !== "string" && resolveChannel(destinations, tenant, channel).destination !== null;
    const instead = isReported ? "the notifier's default is notified in its place" : "the catch-all's channels are notified in its place";
    const isMail = typeof channel !== "string" && channel.notifier === "email" && destinations.email.enabled;
    const why = isMail ? "is of a domain that EMAIL_ALLOWED_DOMAINS does not name" : "names nothing that is configured";
    return `${text} ${why}: ${instead}`;
  });
}

function unknownRule(id: string) {
  return refused("not_found", `no routing rule has the id ${shown(id)}; GET /api/v1/routing/rules lists those that there are`);
}

function ruleView(destinations: DestinationSettings, tenant: string, rule: RoutingRule) {
  return {
    id: rule.id,
    name: rule.name,
    priority: rule.priority,
    label_matchers: rule.labelMatchers,
    service_pattern: rule.servicePattern,
    severity: rule.severity,
    source: rule.source,
    environment: rule.environment,
    channels: rule.channels,
    unresolved_targets: unresolvedChannels(destinations, tenant, rule.channels),
    created_at: rule.id === CATCH_ALL_ID ? null : formatRfc3339(rule.createdAtMs),
  };
}
