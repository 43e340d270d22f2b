// POST /api/v1/backtest.
import { backtestView } from "../../../../api/backtest-view.ts";
import { done, type Outcome, refused } from "../../../../api/refusal.ts";
import { BACKTEST_CYCLES_MAX, BACKTEST_MS_MAX } from "../../../../core/config/backtest-limits.ts";
import { matcherProblem } from "../../../../domain/alerting/label-matcher.ts";
import { backtest, cycles, firstCycle } from "../../../../domain/backtest/backtest.ts";
import { TimeZoneHours } from "../../../../domain/detection/seasonal/time-zone-hours.ts";
import type { CommittedState } from "../../committed-state.ts";
import type { QueryContext, QueryRequest } from "../query-context.ts";
import { backtestFacts } from "./backtest-facts.ts";
import { selectedSamples } from "./backtest-samples.ts";
import { variantsOf, wantsTraffic } from "./backtest-variants.ts";

/** Of the Watchdog where nothing is set. */
const CYCLE_MS = 60_000;

/** Servers that run one now, with the share of it that is done: a second would take the time of the first, and both would be late. */
const running = new WeakMap<CommittedState, number>();

/** Ends one that takes too long: nobody waits for its answer any more. */
class BacktestLateError extends Error {}

/** Runs the present settings and the changed ones over stored history. */
export async function runBacktest(context: QueryContext, request: QueryRequest<"backtest">): Promise<Outcome<unknown>> {
  const { state } = context;
  const { since: sinceMs, until: untilMs } = request.body;
  if (sinceMs >= untilMs) return refused("bad_request", "since must be before until");
  const { silences, inhibitions } = request.body;
  const matchers = [
    ...(silences?.add ?? []).flatMap((silence) => silence.matchers),
    ...(inhibitions?.add ?? []).flatMap((rule) => [...rule.source_matchers, ...rule.target_matchers]),
  ];
  const problem = matchers.map(matcherProblem).find((each) => each !== null);
  if (problem !== undefined) return refused("bad_request", problem);
  const share = running.get(state);
  if (share !== undefined)
    return refused("overloaded", `a backtest runs already, ${Math.floor(100 * share)} % of it done; try again when it is through`);
  running.set(state, 0);
  try {
    return await compare(context, request, sinceMs, untilMs);
  } catch (error) {
    if (!(error instanceof BacktestLateError)) throw error;
    return refused(
      "overloaded",
      `the backtest was ended after ${BACKTEST_MS_MAX / 1000} s, ${Math.floor(100 * (running.get(state) ?? 0))} % of it done: the server has other work; give a shorter time or fewer series, or try again later`,
    );
  } finally {
    running.delete(state);
  }
}

async function compare(
  context: QueryContext,
  request: QueryRequest<"backtest">,
  sinceMs: number,
  untilMs: number,
): Promise<Outcome<unknown>> {
  const endMs = context.nowMs() + BACKTEST_MS_MAX;
  const pause = async (share: number) => {
    if (context.nowMs() > endMs) throw new BacktestLateError();
    running.set(context.state, share);
    await context.breathe();
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
  const { window, samplesMin, timeZone, watchdogIntervalMs: intervalMs = CYCLE_MS } = context.options;
  const { offsetMs } = new TimeZoneHours(timeZone ?? "UTC");
  const options = { window, samplesMin, intervalMs, offsetMs, sinceMs, untilMs: until };
  const cycleCount = cycles({ ...options, firstMs: firstCycle(series, options) });
  if (cycleCount > BACKTEST_CYCLES_MAX)
    return refused(
      "unprocessable",
      `the samples reach over ${cycleCount} cycles of the Watchdog, and a backtest takes ${BACKTEST_CYCLES_MAX}; give a shorter time`,
    );
  const facts = await backtestFacts(context, selection, firstSeenMs);
  const outcome = await backtest(series, { ...facts, counting }, both, options, pause);
  return done(backtestView(outcome, { sinceMs, untilMs, series: series.length, samples }));
}
