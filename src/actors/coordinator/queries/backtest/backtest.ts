// POST /api/v1/backtest.
import { backtestView } from "../../../../api/backtest-view.ts";
import { done, type Outcome, refused } from "../../../../api/refusal.ts";
import { overridesOf } from "../../../../api/shapes/watchdog-settings.ts";
import type { Silence } from "../../../../domain/alerting/silence.ts";
import { type BacktestVariant, backtest } from "../../../../domain/backtest/backtest.ts";
import { effectiveSettings } from "../../../../domain/detection/watchdog-settings.ts";
import type { CommittedState } from "../../committed-state.ts";
import { scan } from "../../tables/scan.ts";
import { decodeStored } from "../../tables/stored-json.ts";
import type { QueryContext, QueryRequest } from "../query-context.ts";
import { backtestSeries } from "./backtest-samples.ts";

/** Servers that run one now: a second would take the time of the first, and both would be late. */
const running = new WeakSet<CommittedState>();

/** Runs the present settings and the changed ones over stored history. */
export async function runBacktest(context: QueryContext, request: QueryRequest<"backtest">): Promise<Outcome<unknown>> {
  const { state } = context;
  const { since: sinceMs, until: untilMs } = request.body;
  if (sinceMs >= untilMs) return refused("bad_request", "since must be before until");
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
  const series = await backtestSeries(context, {
    tenant,
    serviceId: service_id ?? null,
    metricName: metric_name ?? null,
    environment: environment ?? null,
    sinceMs,
    untilMs,
  });
  if (!series.ok) return series;
  const { before, after } = variants(context, request);
  const { window, samplesMin } = context.options;
  const outcome = await backtest(series.value, before, after, { window, samplesMin, sinceMs }, () => context.breathe());
  const samples = series.value.reduce((sum, { times }) => sum + times.length, 0);
  return done(backtestView(outcome, { sinceMs, untilMs, series: series.value.length, samples }));
}

function variants(
  { state }: QueryContext,
  { principal, body }: QueryRequest<"backtest">,
): { before: BacktestVariant; after: BacktestVariant } {
  const { watchdog } = state.configured;
  const settingsOf: BacktestVariant["settingsOf"] = (tenant, serviceId, metricName) => watchdog.settingsOf(tenant, serviceId, metricName);
  const overrides = overridesOf(body.settings);
  const present = [...scan(state.control, "silences")]
    .map(({ value }) => decodeStored<Silence>(value))
    .filter(({ tenant }) => tenant === principal.tenant);
  const added = body.silences.add.map(
    ({ matchers, starts_at: startsAtMs, ends_at: endsAtMs }, number): Silence => ({
      id: `added ${number + 1}`,
      tenant: principal.tenant,
      matchers,
      when: { kind: "once", startsAtMs, endsAtMs },
      comment: "",
    }),
  );
  const removed = new Set(body.silences.remove);
  return {
    before: { settingsOf, silences: present },
    after: {
      settingsOf: (...of) => effectiveSettings(settingsOf(...of), overrides),
      silences: [...present.filter(({ id }) => !removed.has(id)), ...added],
    },
  };
}
