/**
 * GET /api/v1/alerts/ledger: why a pair did or did not page. What was decided stands in stored rows; of a moment at which nothing was, the verdict of layer 1
 * is made again from the stored samples of each stream of the pair, so that every moment within RETENTION_RAW_DAYS has an answer.
 */
import { decisionView } from "../../../../api/alert-view.ts";
import { done, type Outcome, refused } from "../../../../api/refusal.ts";
import { formatRfc3339 } from "../../../../core/base/rfc3339.ts";
import { LEDGER_ANSWER_ROWS_MAX, LEDGER_SCANNED_MAX, LEDGER_STREAMS_MAX } from "../../../../core/config/limits.ts";
import { FLAG_OPERATION, FLAG_PERCENT } from "../../../../core/layout/stream-record.ts";
import type { SeriesSummary } from "../../../../core/protocol/engine-control.ts";
import type { PageDecision } from "../../../../domain/alerting/paging/page-decision.ts";
import { MOMENT_SAMPLES, type MomentVerdict, momentVerdict } from "../../../../domain/detection/moment-verdict.ts";
import { flagsOfPoint } from "../../../../domain/series/classification.ts";
import { canonicalAttributes } from "../../../../domain/series/stream-identity.ts";
import { decodeDecision } from "../../alerts/rows/decision-row.ts";
import { scanNewest } from "../../tables/scan.ts";
import { tenantTimeBound } from "../../tables/tables.ts";
import { type QueryContext, type QueryRequest, settleLedger } from "../query-context.ts";
import { askSeriesData } from "../series.ts";
import { readSamples } from "../stored-samples.ts";
import { timeRange } from "../time-range.ts";

const ROWS_PER_READ = 500;
/** Decisions of a moment: those on an alert that pages are a little later than its sample, those of an episode that goes on earlier. */
const BEFORE_MS = 15 * 60_000;
const AFTER_MS = 2 * 60_000;
/** A sample that is older than this says nothing of a moment. */
const SAMPLE_AGE_MS_MAX = 3_600_000;

interface LedgerFilter {
  readonly tenant: string;
  readonly serviceId: string;
  readonly metricName: string | undefined;
  readonly environment: string | undefined;
}

/** Decisions and, with `at`, the verdicts of that moment. */
export async function readLedger(context: QueryContext, { principal, query }: QueryRequest<"alertLedger">): Promise<Outcome<unknown>> {
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
  const moments = at === undefined ? [] : await momentsOf(context, filter, at);
  return done({ decisions: decisions.map(decisionView), moments, complete });
}

/** The newest decisions first. */
async function decisionsOf(
  { state, breathe }: QueryContext,
  filter: LedgerFilter,
  fromMs: number,
  toMs: number,
): Promise<{ decisions: PageDecision[]; complete: boolean }> {
  const decisions: PageDecision[] = [];
  const bounds = [tenantTimeBound(filter.tenant, fromMs), tenantTimeBound(filter.tenant, Math.max(fromMs, toMs))] as const;
  let scanned = 0;
  for (const { value } of scanNewest(state.series, "ledger", ...bounds, ROWS_PER_READ)) {
    if (scanned === LEDGER_SCANNED_MAX || decisions.length === LEDGER_ANSWER_ROWS_MAX) return { decisions, complete: false };
    if (++scanned % ROWS_PER_READ === 0) await breathe();
    const decision = decodeDecision(value);
    const fits =
      decision.serviceId === filter.serviceId &&
      (filter.metricName === undefined || decision.metricName === filter.metricName) &&
      (filter.environment === undefined || decision.environment === filter.environment);
    if (fits) decisions.push(decision);
  }
  return { decisions, complete: true };
}

/** Of each stream of the pair, the first LEDGER_STREAMS_MAX. */
async function momentsOf(context: QueryContext, filter: LedgerFilter, atMs: number) {
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
  const moments = [];
  for (const summary of series) moments.push(await momentOf(context, summary, atMs));
  return moments;
}

async function momentOf(context: QueryContext, summary: SeriesSummary, atMs: number) {
  const { tenant, serviceId, metricName, environment, attributes } = summary;
  const query = { tenant, serviceId, metricName, environment, attributes: canonicalAttributes(attributes) };
  const answer = await askSeriesData(context, query);
  const request = { fromMs: atMs - SAMPLE_AGE_MS_MAX, toMs: atMs + 1, samplesMax: MOMENT_SAMPLES, contextMax: MOMENT_SAMPLES };
  const { times, values } = await readSamples(context, answer, { ...request, oldestMs: Number.NEGATIVE_INFINITY });
  const { samplesMin, window } = context.options;
  const flags = flagsOfPoint(metricName, summary.kind === "counter");
  const { zThreshold } = context.state.configured.watchdog.settingsOf(tenant, serviceId, metricName);
  const moment = momentVerdict(times, values, atMs, {
    threshold: zThreshold,
    minimumSamples: samplesMin,
    window,
    operation: (flags & FLAG_OPERATION) !== 0,
    percent: (flags & FLAG_PERCENT) !== 0,
  });
  return momentView(summary, moment !== undefined && atMs - moment.sampleMs <= SAMPLE_AGE_MS_MAX ? moment : undefined);
}

function momentView({ environment, attributes }: SeriesSummary, moment: MomentVerdict | undefined) {
  return {
    environment,
    attributes,
    sample_at: moment === undefined ? null : formatRfc3339(moment.sampleMs),
    declared: moment?.declared ?? false,
    reason: moment === undefined ? "no_sample" : moment.reason,
    verdict: moment?.verdict ?? null,
  };
}
