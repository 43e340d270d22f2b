// Where the pages of a backtest would have gone: by the rules as they are, and as the request would have them. What alerts are labelled with besides their
// service, severity and environment is not kept in decisions, so matchers of other labels than team and owner do not hold here.
import { refused, shown } from "../../api/refusal.ts";
import { ruleFrom } from "../../api/shapes/routing.ts";
import type { PageDecision } from "../../domain/alerting/paging/page-decision.ts";
import type { PageDifference } from "../../domain/backtest/page-difference.ts";
import { type RoutedPages, routedPages } from "../../domain/backtest/routed-pages.ts";
import { inOrder, type RoutingRule, routeOf, sourceOf } from "../../domain/notification/routing-rule.ts";
import { CATCH_ALL_ID } from "../../domain/notification/routing-rules.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { BacktestContext } from "./backtest-context.ts";

type Request = QueryRequest<"backtest">;

/** Why the rules of a request cannot be asked; undefined where they can. */
export function routingProblem({ state }: BacktestContext, { principal, body }: Request) {
  const { remove = [] } = body.routing ?? {};
  if (remove.includes(CATCH_ALL_ID))
    return refused("bad_request", "the catch-all cannot be removed; add a rule before it", "routing.remove");
  const { routing } = state.configured;
  const unknown = remove.find((id) => routing.find(principal.tenant, id) === undefined);
  return unknown === undefined ? undefined : refused("bad_request", `no routing rule has the id ${shown(unknown)}`, "routing.remove");
}

export function routedOf(context: BacktestContext, request: Request, difference: PageDifference): RoutedPages[] {
  const { tenant } = request.principal;
  const present = context.state.configured.routing.rulesOf(tenant);
  const { add = [], remove = [] } = request.body.routing ?? {};
  // They are the youngest of their priority; the catch-all stays behind all of them.
  const added = add.map((body, place) => ruleFrom(`added ${place + 1}`, body, context.nowMs() + place));
  const changed = inOrder([...present.filter(({ id }) => !remove.includes(id)), ...added]);
  return routedPages(difference, routerOf(context, tenant, present), routerOf(context, tenant, changed));
}

function routerOf({ channels }: BacktestContext, tenant: string, rules: readonly RoutingRule[]) {
  return ({ serviceId, environment, tier: severity, family, metricName }: PageDecision) => {
    const labels = { service_id: serviceId, metric_name: metricName, environment, severity, family };
    const subject = channels.routes.subject(tenant, { serviceId, severity, environment, source: sourceOf(family), labels });
    return { team: subject.labels.team ?? "", channels: routeOf(rules, subject).rule?.channels ?? [] };
  };
}
