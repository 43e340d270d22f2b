// POST /api/v1/ml/analyze: the cause of a stored anomaly, or of what a metric did at a time. A report that is stored is told; else the evidence is gathered now,
// and nothing is stored.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { DAY_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { offsetMs } from "../../domain/calendar/time-zone.ts";
import { laggedCorrelation, onGrid, whitened } from "../../domain/correlation/lagged-correlation.ts";
import { suggestedActions } from "../../domain/rca/advice.ts";
import { type Analysis, analyse } from "../../domain/rca/analysis.ts";
import { isOfTime } from "../../domain/rca/incident-joins.ts";
import { blastRadius } from "../../domain/topology/blast-radius.ts";
import { unknownAnomaly } from "../anomalies/anomaly-handlers.ts";
import { relationshipsOf } from "../prediction/causal-handlers.ts";
import { predictionsOf } from "../prediction/predict-handler.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { AnalysisContext } from "./analysis-context.ts";
import { type RcaReport, unpackSignature } from "./report-row.ts";
import { suggestedRunbook } from "./report-view.ts";
import { ADVISED_MIN } from "./root-cause-view.ts";
import { knows, pastFailures, tooMany, unavailable, unlessGone } from "./topology-handlers.ts";

const MATCHES = 5;
/** Time from the anomaly on that is looked at. */
const RESULT_CHECK_MS = 5 * 60_000;
const METRICS_CORRELATED_MAX = 12;
/** Horizon of the prediction of anomalies, and the most links of the service that are told. */
const PREDICTED_MINUTES = 30;
const RELATIONSHIPS_MAX = 20;

/** Subject of an analysis. */
interface Subject {
  readonly tenant: string;
  readonly environment: string;
  readonly anomalyId: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly atMs: number;
}

/** Analyses, or tells what was analysed. */
export async function analyze(context: AnalysisContext, { principal, body }: QueryRequest<"analyze">): Promise<Outcome<unknown>> {
  const { state, nowMs } = context;
  const { tenant } = principal;
  const subject = await subjectOf(context, tenant, body);
  if (!subject.ok) return subject;
  const of = subject.value;
  const stored = storedReport(context, of);
  if (stored === undefined && context.gathering.isFull(tenant)) return tooMany();
  const fresh = stored === undefined ? await unlessGone(analysedNow(context, of)) : undefined;
  const analysis: Omit<Analysis, "signature"> | undefined = stored?.analysis ?? fresh;
  if (analysis === undefined) return unavailable();
  const signature = stored === undefined ? (fresh as Analysis).signature : unpackSignature(stored.signature);
  const similar = analysis.enough
    ? state.analyses.memory.nearest(tenant, of.environment, signature, MATCHES, stored?.anomalyId ?? of.anomalyId)
    : [];
  const matches = similar.flatMap(({ incident, similarity }) =>
    incident.resolution === null ? [] : [{ incident, similarity, resolution: incident.resolution }],
  );
  const advised = matches.find(({ similarity }) => similarity >= ADVISED_MIN)?.resolution.text ?? null;
  const affected = await affectedBy(context, of, analysis);
  return done({
    anomaly_id: of.anomalyId,
    service_id: of.serviceId,
    analyzed_at: formatRfc3339(stored?.evidenceUntilMs ?? nowMs()),
    root_cause: {
      category: analysis.category,
      confidence: analysis.confidence,
      summary: await context.wordSummary(analysis),
      evidence: { ...analysis.numbers },
      suggested_actions: suggestedActions(analysis, advised),
      historical_matches: matches.map(({ incident, similarity, resolution }) => ({
        incident_id: incident.incidentId,
        resolution: resolution.text,
        similarity,
        time_to_recovery_mins: resolution.minutes,
      })),
    },
    suggested_runbook: suggestedRunbook(state, of, analysis),
    features: await featuresOf(context, of),
    blast_radius: affected,
    ...(await outlookOf(context, of)),
  });
}

/** Whom a cause that is known reaches, as far as it shows; else those that calls make likely to fail with the service. */
async function affectedBy(
  context: AnalysisContext,
  of: Subject,
  { enough, affected }: Omit<Analysis, "signature">,
): Promise<readonly string[]> {
  if (enough && affected !== undefined) return affected;
  const graph = (await unlessGone(context.gathering.graph(of, context.nowMs()))) ?? { calls: [], named: [] };
  const { direct, transitive } = blastRadius(of.serviceId, graph, pastFailures(context, of.tenant, of.environment));
  return [...direct, ...transitive];
}

/** The report of an anomaly's incident, if it speaks of that anomaly's onset: its evidence reaches there, and its own onset is near. */
function storedReport({ state }: AnalysisContext, { tenant, anomalyId, atMs }: Subject): RcaReport | undefined {
  const report = anomalyId === "" ? undefined : state.analyses.reports.ofAnomaly(tenant, anomalyId);
  return report !== undefined && report.evidenceUntilMs >= atMs && isOfTime(report.onsetMs, atMs) ? report : undefined;
}

/** Causal links within the service, and anomalies that it is about to have; empty where its history is too short for that. */
async function outlookOf(context: AnalysisContext, of: Subject) {
  const service = { tenant: of.tenant, serviceId: of.serviceId, environment: of.environment };
  const found = await unlessGone(relationshipsOf(context, service));
  const predictions = await unlessGone(predictionsOf(context, service, PREDICTED_MINUTES));
  return {
    causal_relationships: found?.ok ? found.value.relationships.slice(0, RELATIONSHIPS_MAX) : [],
    predicted_anomalies: predictions?.ok ? predictions.value : [],
  };
}

async function subjectOf(context: AnalysisContext, tenant: string, body: QueryRequest<"analyze">["body"]): Promise<Outcome<Subject>> {
  const { anomaly_id: anomalyId = "", service_id: serviceId, metric_name: metricName, timestamp } = body;
  if (anomalyId !== "") {
    const anomaly = context.state.anomalies.find(tenant, anomalyId);
    if (anomaly === undefined) return unknownAnomaly(anomalyId);
    return done({
      tenant,
      environment: anomaly.environment,
      anomalyId,
      serviceId: anomaly.serviceId,
      metricName: anomaly.metricName,
      atMs: anomaly.startedAtMs,
    });
  }
  if (serviceId === undefined || metricName === undefined || timestamp === undefined)
    return refused("missing_field", "give anomaly_id, or service_id, metric_name and timestamp");
  if (!(await knows(context, tenant, serviceId, undefined)))
    return refused("not_found", `no service ${JSON.stringify(serviceId)} has sent anything that is kept`, "service_id");
  if (!(await knows(context, tenant, serviceId, metricName)))
    return refused("not_found", `service ${JSON.stringify(serviceId)} has no metric ${JSON.stringify(metricName)}`, "metric_name");
  const engine = context.engines.ownerOf(tenant, serviceId);
  const asked = { tenant, serviceId, metricName, environment: body.environment ?? null, after: null, limit: 1 };
  const environment = body.environment ?? (await context.engines.series(engine, asked)).series[0]?.environment ?? "";
  return done({ tenant, environment, anomalyId: "", serviceId, metricName, atMs: timestamp });
}

async function analysedNow({ gathering, nowMs, yieldToLoop }: AnalysisContext, of: Subject): Promise<Analysis> {
  const target = { serviceId: of.serviceId, metricName: of.metricName };
  const untilMs = Math.min(nowMs(), of.atMs + RESULT_CHECK_MS);
  const evidence = await gathering.gather({ ...of, onsetMs: of.atMs, untilMs, target, services: [of.serviceId] });
  await yieldToLoop();
  return analyse(evidence);
}

interface Ring {
  readonly times: Float64Array;
  readonly values: Float64Array;
}

/** The features of layer 2 at that time (rule 1.1.3); null where the values have left memory. */
async function featuresOf(context: AnalysisContext, of: Subject) {
  const own = await ringOf(context, of, of.metricName);
  const upTo = own === undefined ? 0 : own.times.filter((time) => time <= of.atMs + 1).length;
  const value = (back: number) => own?.values[upTo - 1 - back];
  const [raw, before, earlier] = [value(0), value(1), value(2)];
  const localMs = of.atMs + offsetMs(context.options.timeZone ?? "UTC", of.atMs);
  const day = new Date(localMs).getUTCDay();
  return {
    raw_value: raw ?? null,
    derivative_value: raw === undefined || before === undefined ? null : raw - before,
    second_derivative: raw === undefined || before === undefined || earlier === undefined ? null : raw - 2 * before + earlier,
    hour_of_day: Math.floor((((localMs % DAY_MS) + DAY_MS) % DAY_MS) / 3_600_000),
    day_of_week: day,
    is_weekend: day === 0 || day === 6,
    correlated_metrics: own === undefined ? {} : await correlatedMetrics(context, of, own),
  };
}

async function ringOf(
  { engines }: AnalysisContext,
  { tenant, environment, serviceId }: Subject,
  metricName: string,
): Promise<Ring | undefined> {
  const query = { tenant, serviceId, metricName, environment, attributes: null };
  const answer = await unlessGone(engines.seriesData(engines.ownerOf(tenant, serviceId), query));
  return answer === undefined || answer.times.length === 0 ? undefined : answer;
}

/** Correlations of other metrics of the service with it at the same time, by name. */
async function correlatedMetrics(context: AnalysisContext, of: Subject, own: Ring): Promise<Record<string, number>> {
  const { engines } = context;
  const asked = {
    tenant: of.tenant,
    serviceId: of.serviceId,
    metricName: null,
    environment: of.environment,
    after: null,
    limit: 5 * METRICS_CORRELATED_MAX,
  };
  const page = await unlessGone(engines.series(engines.ownerOf(of.tenant, of.serviceId), asked));
  const names = [...new Set(page?.series.map(({ metricName }) => metricName))].filter((name) => name !== of.metricName);
  const step = own.times.length < 2 ? 1 : (own.times.at(-1)! - own.times[0]!) / (own.times.length - 1);
  const grid = (ring: Ring) => whitened(onGrid(ring.times, ring.values, own.times[0]! - step / 2, step, own.times.length));
  const reference = grid(own);
  const found: Array<[string, number]> = [];
  for (const name of names.slice(0, METRICS_CORRELATED_MAX)) {
    const ring = await ringOf(context, of, name);
    const correlation = ring === undefined ? undefined : laggedCorrelation(reference, grid(ring), 0);
    if (correlation?.isSignificant === true) found.push([name, Number(correlation.r.toPrecision(4))]);
  }
  return Object.fromEntries(found.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1])));
}
