// POST /api/v1/backtest.
import { backtestView } from "../../api/backtest-view.ts";
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { BACKTEST_CYCLES_MAX, BACKTEST_MS_MAX, BACKTEST_WAIT_MS_MAX, BACKTESTS_PER_TENANT_MAX } from "../../core/config/backtest-limits.ts";
import { TurnGate } from "../../core/fairness/turn-gate.ts";
import { backtest, cycles, firstCycle } from "../../domain/backtest/backtest.ts";
import { TimeZoneHours } from "../../domain/detection/seasonal/time-zone-hours.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { matchersProblem, patternSumProblem } from "../silences/pattern-room.ts";
import type { BacktestContext } from "./backtest-context.ts";
import { backtestFacts } from "./backtest-facts.ts";
import { backtestLabels } from "./backtest-labels.ts";
import { routedOf, routingProblem } from "./backtest-routing.ts";
import { selectedSamples } from "./backtest-samples.ts";
import { variantsOf, wantsTraffic } from "./backtest-variants.ts";

/** Interval of the Watchdog where nothing is set. */
const CYCLE_MS = 60_000;

/** The backtests of a server: one at a time, since a second would take the time of the first, and both would be late. */
interface Backtests {
  readonly gate: TurnGate;
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
  const made = { gate: new TurnGate(options, nowMs), share: 0 };
  backtests.set(state, made);
  return made;
}

/** Ends one that takes too long: nobody waits for its answer any more. */
class BacktestLateError extends Error {}

/** Runs the present settings and the changed ones over stored history. */
export async function runBacktest(context: BacktestContext, request: QueryRequest<"backtest">): Promise<Outcome<unknown>> {
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
  const problem = (await matchersProblem(matchers, patterns, context.yieldTurn)) ?? patternSumProblem(patterns, [], matchers);
  if (problem !== null) return refused("bad_request", problem);
  const unknown = routingProblem(context, request);
  if (unknown !== undefined) return unknown;
  const all = backtestsOf(context);
  const outcome = await all.gate.run(request.principal.tenant, () => runOne(context, request, sinceMs, untilMs));
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
    await context.yieldTurn();
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
