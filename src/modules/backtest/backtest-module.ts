// What the coordinator folds of backtests: POST /api/v1/backtest.
import { backtestView } from "../../api/backtest-view.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { ruleFrom } from "../../api/shapes/routing.ts";
import {
  BACKTEST_CYCLES_MAX,
  BACKTEST_MS_MAX,
  BACKTEST_WAIT_MS_MAX,
  BACKTESTS_PER_TENANT_MAX,
  CYCLE_MS,
} from "../../core/config/backtest-limits.ts";
import { FairMutex } from "../../core/fairness/fair-mutex.ts";
import type { PageDecision } from "../../domain/alerting/paging/page-decision.ts";
import { backtest, cycles, firstCycle } from "../../domain/backtest/backtest.ts";
import type { BacktestSeries } from "../../domain/backtest/history.ts";
import type { IncidentLabel } from "../../domain/backtest/labelled-incidents.ts";
import type { PageDifference } from "../../domain/backtest/page-difference.ts";
import { type RoutedPages, routedPages } from "../../domain/backtest/routed-pages.ts";
import { TimeZoneHours } from "../../domain/detection/seasonal/time-zone-hours.ts";
import { inOrder, type RoutingRule, routeOf, sourceOf } from "../../domain/notification/routing-rule.ts";
import { CATCH_ALL_ID } from "../../domain/notification/routing-rules.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { matchersProblem, patternSumProblem } from "../silences/pattern-capacity.ts";
import type { NounModule } from "../state/noun-module.ts";
import type { BacktestContext } from "./backtest-context.ts";
import { backtestFacts } from "./backtest-facts.ts";
import { selectedSamples } from "./backtest-samples.ts";
import { variantsOf, wantsTraffic } from "./backtest-variants.ts";

export const BACKTEST = {
  handlers: {
    backtest: runBacktest,
  },
} as const satisfies NounModule;

/** The backtests of a server: one at a time, since a second would take the time of the first, and both would be late. */
interface Backtests {
  readonly mutex: FairMutex;
  /** Share that is done of the one that runs. */
  share: number;
}

const backtests = new WeakMap<object, Backtests>();

function backtestsOf({ state, nowMs }: BacktestContext): Backtests {
  const known = backtests.get(state);
  if (known !== undefined) return known;
  const options = {
    perTenantMax: BACKTESTS_PER_TENANT_MAX,
    waitMsMax: BACKTEST_WAIT_MS_MAX,
    shares: state.shares.ledger("backtests_waiting"),
  };
  const made = { mutex: new FairMutex(options, nowMs), share: 0 };
  backtests.set(state, made);
  return made;
}

/** Ends one that takes too long: nobody waits for its answer any more. */
class BacktestLateError extends Error {}

/** Runs the present settings and the changed ones over stored history. */
async function runBacktest(context: BacktestContext, request: QueryRequest<"backtest">): Promise<Outcome<unknown>> {
  const { since: sinceMs, until: untilMs } = request.body;
  if (sinceMs >= untilMs) return refused("bad_request", "since must be before until");
  const { silences, inhibitions, incidents = [] } = request.body;
  if (incidents.some(({ starts_at, ends_at }) => starts_at > ends_at))
    return refused("bad_request", "an incident must not end before it starts");
  const matchers = [
    ...(silences?.add ?? []).flatMap((silence) => silence.matchers),
    ...(inhibitions?.add ?? []).flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers]),
  ];
  const { patterns } = context.state.configured;
  const problem = (await matchersProblem(matchers, patterns, context.yieldToLoop)) ?? patternSumProblem(patterns, [], matchers);
  if (problem !== null) return refused("bad_request", problem);
  const unknown = routingProblem(context, request);
  if (unknown !== undefined) return unknown;
  const all = backtestsOf(context);
  const outcome = await all.mutex.run(request.principal.tenant, () => runOne(context, request, sinceMs, untilMs));
  if (outcome === "late") return refused("overloaded", `other backtests took ${BACKTEST_WAIT_MS_MAX / 1000} s; try again later`);
  if (outcome !== "full") return outcome;
  const done = `the one that runs is ${Math.floor(100 * all.share)} % done`;
  return refused("overloaded", `as many backtests wait or run already as may, and ${done}; try again when one of yours is through`);
}

async function runOne(
  context: BacktestContext,
  request: QueryRequest<"backtest">,
  sinceMs: number,
  untilMs: number,
): Promise<Outcome<unknown>> {
  const all = backtestsOf(context);
  all.share = 0;
  try {
    return await compare(context, request, sinceMs, untilMs);
  } catch (error) {
    if (!(error instanceof BacktestLateError)) throw error;
    return refused(
      "overloaded",
      `the backtest was ended after ${BACKTEST_MS_MAX / 1000} s, ${Math.floor(100 * all.share)} % of it done: the server has other work; give a shorter time or fewer series, or try again later`,
    );
  }
}

async function compare(
  context: BacktestContext,
  request: QueryRequest<"backtest">,
  sinceMs: number,
  untilMs: number,
): Promise<Outcome<unknown>> {
  const endMs = context.nowMs() + BACKTEST_MS_MAX;
  const pause = async (share: number) => {
    if (context.nowMs() > endMs) throw new BacktestLateError();
    backtestsOf(context).share = share;
    await context.yieldToLoop();
  };
  const { tenant } = request.principal;
  const { service_id, metric_name, environment } = request.body;
  const both = variantsOf(context, request);
  const until = Math.min(untilMs, context.nowMs());
  const selection = {
    tenant,
    serviceId: service_id ?? null,
    metricName: metric_name ?? null,
    environment: environment ?? null,
    sinceMs,
    untilMs: until,
    wantsTraffic: wantsTraffic(context, request),
  };
  const selected = await selectedSamples(context, selection);
  if (!selected.ok) return selected;
  const { series, counting, samples, firstSeenMs } = selected.value;
  const { window, samplesMin, confirmation, timeZone, watchdogIntervalMs: intervalMs = CYCLE_MS } = context.options;
  const { offsetMs } = new TimeZoneHours(timeZone ?? "UTC");
  const options = { window, samplesMin, confirmation, intervalMs, offsetMs, sinceMs, untilMs: until };
  const cycleCount = cycles({ ...options, firstMs: firstCycle(series, options) });
  if (cycleCount > BACKTEST_CYCLES_MAX)
    return refused(
      "unprocessable",
      `the samples reach over ${cycleCount} cycles of the Watchdog, and a backtest takes ${BACKTEST_CYCLES_MAX}; give a shorter time`,
    );
  const facts = await backtestFacts(context, selection, firstSeenMs);
  const labels = backtestLabels(context, request, series, { sinceMs, untilMs: until });
  const outcome = await backtest(series, { ...facts, counting, labels }, both, options, pause);
  const routed = routedOf(context, request, outcome);
  return done(backtestView({ ...outcome, routed }, { sinceMs, untilMs, series: series.length, samples }));
}

// What people have labelled in the time of a backtest: anomalies that they called true or false positives, and incidents that come with the question.

/** Labels of the services and environments of the series that are gone over. */
function backtestLabels(
  { state }: BacktestContext,
  { principal, body }: QueryRequest<"backtest">,
  series: readonly BacktestSeries[],
  { sinceMs, untilMs }: { readonly sinceMs: number; readonly untilMs: number },
): IncidentLabel[] {
  const places = new Set(series.map(({ name }) => JSON.stringify([name.serviceId, name.environment])));
  const isWithin = ({ serviceId, environment, startedMs, endedMs }: IncidentLabel) =>
    places.has(JSON.stringify([serviceId, environment])) && startedMs < untilMs && endedMs >= sinceMs;
  const services = new Set(series.map(({ name }) => name.serviceId));
  const said = [...services].flatMap((serviceId) => state.alerts.feedback.on(principal.tenant, serviceId));
  const judged = said.flatMap(({ anomalyId, opinion }): IncidentLabel[] => {
    const anomaly = state.anomalies.find(principal.tenant, anomalyId);
    if (anomaly === undefined || (body.metric_name !== undefined && anomaly.metricName !== body.metric_name)) return [];
    const { serviceId, environment, metricName, startedAtMs, resolvedAtMs, observedAtMs } = anomaly;
    const endedMs = Math.max(observedAtMs, resolvedAtMs ?? untilMs);
    return [{ anomalyId, serviceId, environment, metricName, startedMs: startedAtMs, endedMs, isIncident: opinion === "true_positive" }];
  });
  const input = (body.incidents ?? []).map(
    ({ service_id, environment, starts_at, ends_at }): IncidentLabel => ({
      anomalyId: null,
      serviceId: service_id,
      environment: environment ?? body.environment ?? "",
      metricName: null,
      startedMs: starts_at,
      endedMs: ends_at,
      isIncident: true,
    }),
  );
  return [...judged, ...input].filter(isWithin);
}

// Where the pages of a backtest would have gone: by the rules as they are, and as the request would have them. What alerts are labelled with besides their
// service, severity and environment is not kept in decisions, so matchers of other labels than team and owner do not hold here.

type Request = QueryRequest<"backtest">;

/** Why the rules of a request cannot be asked; undefined where they can. */
function routingProblem({ state }: BacktestContext, { principal, body }: Request) {
  const { remove = [] } = body.routing ?? {};
  if (remove.includes(CATCH_ALL_ID))
    return refused("bad_request", "the catch-all cannot be removed; add a rule before it", "routing.remove");
  const { routing } = state.configured;
  const unknown = remove.find((id) => routing.find(principal.tenant, id) === undefined);
  return unknown === undefined ? undefined : refused("bad_request", `no routing rule has the id ${shown(unknown)}`, "routing.remove");
}

function routedOf(context: BacktestContext, request: Request, difference: PageDifference): RoutedPages[] {
  const { tenant } = request.principal;
  const present = context.state.configured.routing.rulesOf(tenant);
  const { add = [], remove = [] } = request.body.routing ?? {};
  // They are the youngest of their priority; the catch-all stays behind all of them.
  const added = add.map((body, index) => ruleFrom(`added ${index + 1}`, body, context.nowMs() + index));
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
