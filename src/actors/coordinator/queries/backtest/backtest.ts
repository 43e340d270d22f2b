// POST /api/v1/backtest.
import { backtestView } from "../../../../api/backtest-view.ts";
import { done, type Outcome, refused } from "../../../../api/refusal.ts";
import { overridesOf } from "../../../../api/shapes/watchdog-settings.ts";
import { BACKTEST_CYCLES_MAX } from "../../../../core/config/backtest-limits.ts";
import { INHIBITIONS } from "../../../../domain/alerting/inhibition.ts";
import { matcherProblem } from "../../../../domain/alerting/label-matcher.ts";
import type { Silence } from "../../../../domain/alerting/silence.ts";
import { backtest, cycles, firstCycle } from "../../../../domain/backtest/backtest.ts";
import type { BacktestVariant } from "../../../../domain/backtest/history.ts";
import { TimeZoneHours } from "../../../../domain/detection/seasonal/time-zone-hours.ts";
import { effectiveSettings } from "../../../../domain/detection/watchdog-settings.ts";
import type { CommittedState } from "../../committed-state.ts";
import type { QueryContext, QueryRequest } from "../query-context.ts";
import { backtestFacts } from "./backtest-facts.ts";
import { selectedSamples } from "./backtest-samples.ts";

/** Of the Watchdog where nothing is set. */
const CYCLE_MS = 60_000;

/** Servers that run one now: a second would take the time of the first, and both would be late. */
const running = new WeakSet<CommittedState>();

/** Runs the present settings and the changed ones over stored history. */
export async function runBacktest(context: QueryContext, request: QueryRequest<"backtest">): Promise<Outcome<unknown>> {
  const { state } = context;
  const { since: sinceMs, until: untilMs } = request.body;
  if (sinceMs >= untilMs) return refused("bad_request", "since must be before until");
  const matchers = (request.body.silences?.add ?? []).flatMap((silence) => silence.matchers);
  const problem = matchers.map(matcherProblem).find((each) => each !== null);
  if (problem !== undefined) return refused("bad_request", problem);
  if (running.has(state)) return refused("overloaded", "a backtest runs already; try again when it is done");
  running.add(state);
  try {
    return await compare(context, request, sinceMs, untilMs);
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
  const { tenant } = request.principal;
  const { service_id, metric_name, environment } = request.body;
  const both = variants(context, request);
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
  const outcome = await backtest(series, { ...facts, counting }, both, options, () => context.breathe());
  return done(backtestView(outcome, { sinceMs, untilMs, series: series.length, samples }));
}

/** Whether any pair of the tenant's may have a minimum of traffic in one of the runs. */
function wantsTraffic({ state }: QueryContext, { principal, body }: QueryRequest<"backtest">): boolean {
  const { table } = state.configured.watchdog;
  const set = table.listOf(principal.tenant).map(({ overrides }) => overrides.minimumTraffic ?? 0);
  return [body.settings?.minimum_traffic ?? 0, table.initial.minimumTraffic, ...set].some((minimum) => minimum > 0);
}

function variants(
  { state }: QueryContext,
  { principal, body }: QueryRequest<"backtest">,
): { before: BacktestVariant; after: BacktestVariant } {
  const { watchdog } = state.configured;
  const settingsOf: BacktestVariant["settingsOf"] = (tenant, serviceId, metricName) => watchdog.settingsOf(tenant, serviceId, metricName);
  const overrides = overridesOf(body.settings ?? {});
  const present = state.configured.silences.listOf(principal.tenant);
  const added = (body.silences?.add ?? []).map(
    ({ matchers, starts_at: startsAtMs, ends_at: endsAtMs }, number): Silence => ({
      id: `added ${number + 1}`,
      tenant: principal.tenant,
      matchers,
      when: { kind: "once", startsAtMs, endsAtMs },
      comment: "",
    }),
  );
  const removed = new Set(body.silences?.remove);
  const rules = state.configured.inhibitions.rulesOf(principal.tenant);
  const inhibitionRules = { rulesOf: () => rules };
  return {
    before: { settingsOf, silences: present, inhibitions: INHIBITIONS, inhibitionRules },
    after: {
      settingsOf: (...of) => effectiveSettings(settingsOf(...of), overrides),
      silences: [...present.filter(({ id }) => !removed.has(id)), ...added],
      inhibitions: INHIBITIONS,
      inhibitionRules,
    },
  };
}
