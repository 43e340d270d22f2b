/**
 * What the coordinator folds of the ledger of pages.
 *
 * GET /api/v1/alerts/ledger: why a pair did or did not page. What was decided stands in stored rows; of a moment at which nothing was, the verdict of each layer
 * is made again from the stored samples of each stream of the pair, and of its service, so that every moment within RETENTION_RAW_DAYS has an answer.
 */
import { decisionView } from "../../api/alert-view.ts";
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { LEDGER_ANSWER_ROWS_MAX, LEDGER_SCANNED_MAX, LEDGER_STREAMS_MAX } from "../../core/config/limits.ts";
import { FLAG_OPERATION, FLAG_PERCENT } from "../../core/layout/stream-record.ts";
import type { SeriesSummary } from "../../core/protocol/engine-control.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { PageDecision } from "../../domain/alerting/paging/page-decision.ts";
import { type LayerMoment, SAMPLE_AGE_MS_MAX, skippedMoment } from "../../domain/backtest/layer-moment.ts";
import { maturityOf, thresholdFor } from "../../domain/detection/gates/baseline-maturity.ts";
import { type MomentVerdict, momentVerdict } from "../../domain/detection/moment-verdict.ts";
import { isOfCounts } from "../../domain/series/classification.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import { decodeDecision } from "../alerts/rows/decision-row.ts";
import { settleLedger } from "../alerts/settled-ledger.ts";
import type { MomentsContext } from "../backtest/backtest-context.ts";
import { MomentLayers } from "../backtest/moment-layers.ts";
import type { QueryRequest, Using } from "../queries/query-context.ts";
import { timeRange } from "../queries/time-range.ts";
import type { NounModule } from "../state/noun-module.ts";
import { ROWS_PER_READ, scanNewest } from "../state/scan.ts";
import { tenantTimeBound, tenantTimeOf } from "../state/tables.ts";

/** Decisions of a moment: those on an alert that pages are a little later than its sample, those of an episode that goes on earlier. */
const BEFORE_MS = 15 * 60_000;
const AFTER_MS = 2 * 60_000;

export const LEDGER = {
  handlers: {
    alertLedger: readLedger,
  },
} as const satisfies NounModule;

interface LedgerFilter {
  readonly tenant: string;
  readonly serviceId: string;
  readonly metricName: string | undefined;
  readonly environment: string | undefined;
}

/** Decisions and, with `at`, the verdicts of that moment. */
async function readLedger(context: LedgerContext, { principal, query }: QueryRequest<"alertLedger">): Promise<Outcome<unknown>> {
  const { at, since, until } = query;
  if (at !== undefined && (since !== undefined || until !== undefined)) {
    return refused("invalid_parameter", "give either at, for one moment, or since and until, for a range", "at");
  }
  if (at !== undefined && query.metric_name === undefined) {
    return refused("invalid_parameter", "at asks about one pair: give metric_name too", "metric_name");
  }
  const range = at === undefined ? timeRange(since, until) : done({ fromMs: at - BEFORE_MS, toMs: at + AFTER_MS });
  if (!range.ok) return range;
  const filter: LedgerFilter = {
    tenant: principal.tenant,
    serviceId: query.service_id,
    metricName: query.metric_name,
    environment: query.environment,
  };
  await settleLedger(context);
  const toMs = Math.min(range.value.toMs, context.nowMs() + AFTER_MS);
  const { decisions, complete } = await decisionsOf(context, filter, Math.max(0, range.value.fromMs), toMs);
  const found = at === undefined ? { moments: [], services: [] } : await momentsOf(context, filter, at);
  return done({ decisions: decisions.map(decisionView), ...found, complete });
}

/** The newest decisions first. */
async function decisionsOf(
  { state, yieldToLoop }: LedgerContext,
  filter: LedgerFilter,
  fromMs: number,
  toMs: number,
): Promise<{ decisions: PageDecision[]; complete: boolean }> {
  const decisions: PageDecision[] = [];
  const bounds = [tenantTimeBound(filter.tenant, fromMs), tenantTimeBound(filter.tenant, Math.max(fromMs, toMs))] as const;
  let scanned = 0;
  for (const { key, value } of scanNewest(state.series, "ledger", ...bounds, ROWS_PER_READ)) {
    if (scanned === LEDGER_SCANNED_MAX || decisions.length === LEDGER_ANSWER_ROWS_MAX) return { decisions, complete: false };
    if (++scanned % ROWS_PER_READ === 0) await yieldToLoop();
    const decision = decodeDecision(value, tenantTimeOf(key));
    const fits =
      decision.serviceId === filter.serviceId &&
      (filter.metricName === undefined || decision.metricName === filter.metricName) &&
      (filter.environment === undefined || decision.environment === filter.environment);
    if (fits) decisions.push(decision);
  }
  return { decisions, complete: true };
}

/** Moments of each stream of the pair, the first LEDGER_STREAMS_MAX, and of the services of its environments. */
async function momentsOf(context: LedgerContext, filter: LedgerFilter, atMs: number) {
  const { tenant, serviceId, metricName = "", environment = null } = filter;
  const owner = context.engines.ownerOf(tenant, serviceId);
  const { series } = await context.engines.series(owner, {
    tenant,
    serviceId,
    metricName,
    environment,
    after: null,
    limit: LEDGER_STREAMS_MAX,
  });
  if (series.length === 0) return { moments: [], services: [] };
  const layers = await MomentLayers.open(context, tenant, serviceId, atMs);
  const moments = [];
  for (const summary of series) moments.push(await momentOf(context, layers, summary, atMs));
  const services = [];
  for (const of of new Set(series.map((summary) => summary.environment)))
    services.push({ environment: of, ...layerView(await layers.ofService(tenant, serviceId, of)) });
  return { moments, services };
}

async function momentOf(context: LedgerContext, layers: MomentLayers, summary: SeriesSummary, atMs: number) {
  const { tenant, serviceId, metricName } = summary;
  const series = await layers.read(summary);
  const { samplesMin, confirmation, window } = context.options;
  const { zThreshold, excluded } = context.state.configured.watchdog.settingsOf(tenant, serviceId, metricName);
  const found = momentVerdict(series.times, series.values, atMs, {
    threshold: thresholdFor(maturityOf(summary.serviceSinceMs ?? atMs, atMs), zThreshold),
    minimumSamples: samplesMin,
    confirmation,
    window,
    operation: (series.flags & FLAG_OPERATION) !== 0,
    percent: (series.flags & FLAG_PERCENT) !== 0,
    isOfCounts: isOfCounts(metricName, series.flags),
    bucketWidth: summary.bucketWidth,
  });
  const moment = found !== undefined && atMs - found.sampleMs <= SAMPLE_AGE_MS_MAX ? found : undefined;
  const statistical = statisticalMoment(moment, excluded, samplesMin);
  return momentView(summary, moment, [statistical, ...(await layers.ofStream(series))]);
}

/** Layer 1 in the words of all layers. */
function statisticalMoment(moment: MomentVerdict | undefined, excluded: boolean, samplesMin: number): LayerMoment {
  if (excluded) return skippedMoment("statistical", "excluded");
  if (moment === undefined) return skippedMoment("statistical", "no_sample");
  const { sampleMs, declared, reason, verdict } = moment;
  const isLearning = reason === "too_few_samples";
  return {
    layer: "statistical",
    state: isLearning ? "learning" : "evaluated",
    reason,
    declared,
    atMs: sampleMs,
    value: isLearning ? verdict.baseline.n : Math.abs(verdict.z),
    bar: isLearning ? samplesMin : verdict.threshold,
    verdict,
    sinceMs: null,
  };
}

function momentView({ environment, attributes }: SeriesSummary, moment: MomentVerdict | undefined, layers: readonly LayerMoment[]) {
  return {
    environment,
    attributes,
    sample_at: moment === undefined ? null : formatRfc3339(moment.sampleMs),
    declared: moment?.declared ?? false,
    reason: moment === undefined ? "no_sample" : moment.reason,
    verdict: moment?.verdict ?? null,
    layers: layers.map(layerView),
  };
}

function layerView({ layer, state, reason, declared, atMs, value, bar, verdict, sinceMs }: LayerMoment) {
  const time = (ms: number | null) => (ms === null ? null : formatRfc3339(ms));
  return { layer, state, reason, declared, at: time(atMs), value, bar, verdict, made_again_since: time(sinceMs) };
}

// What the ledger's handler uses.

type LedgerContext = MomentsContext & Using<"edit", AlertBooks>;
