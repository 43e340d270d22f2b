// GET /api/v1/ml/causal and POST /api/v1/ml/validate-causality: which metrics of a service lead which others, by minutes of its last twelve hours; and whether one
// leads another, with the numbers.
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { CAUSAL_LAG_MAX, CAUSAL_MINUTES, CAUSAL_STEPS_MIN } from "../../core/config/prediction-limits.ts";
import { percentText } from "../../core/text/plain-number.ts";
import { HOUR_MS, MINUTE_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { PairValidation } from "../../domain/causality/pair-validation.ts";
import type { EvenGrid } from "../../domain/prediction/even-grid.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { computeFor } from "./computing.ts";
import { unknownMetric } from "./forecast-handler.ts";
import { historyOf, streamsOf } from "./metric-history.ts";
import type { PredictionContext } from "./prediction-context.ts";
import { metricsOf } from "./service-metrics.ts";

/** Longer looks back take steps of five minutes. */
const MINUTES_HOURS = 24;
/** A metric takes part that has values in so many of the steps. */
const COVERAGE_MIN = 0.6;

interface Aligned {
  readonly names: readonly string[];
  readonly series: readonly Float64Array[];
  readonly steps: number;
  readonly sinceMs: number;
}

export interface Relationship {
  readonly cause_metric: string;
  readonly effect_metric: string;
  readonly strength: number;
  readonly lag_minutes: number;
  readonly confidence: number;
}

export async function causalRelationships(
  context: PredictionContext,
  { principal, query }: QueryRequest<"causal">,
): Promise<Outcome<unknown>> {
  const { service_id: serviceId } = query;
  const found = await relationshipsOf(context, { tenant: principal.tenant, serviceId, environment: query.environment ?? null });
  if (!found.ok) return found;
  const { aligned, relationships } = found.value;
  return done({
    service_id: serviceId,
    relationships,
    metrics: aligned.names.length,
    samples: aligned.steps,
    since: formatRfc3339(aligned.sinceMs),
  });
}

/** The links among the metrics of a service. */
export async function relationshipsOf(
  context: PredictionContext,
  of: { readonly tenant: string; readonly serviceId: string; readonly environment: string | null },
): Promise<Outcome<{ readonly aligned: Aligned; readonly relationships: readonly Relationship[] }>> {
  const metrics = await metricsOf(context, of);
  if (metrics.size === 0) return refused("not_found", `no service ${shown(of.serviceId)} has sent anything that is kept`, "service_id");
  const toMs = context.nowMs();
  const range = { fromMs: toMs - CAUSAL_MINUTES * MINUTE_MS, toMs, stepMs: MINUTE_MS };
  const grids: [string, EvenGrid][] = [];
  for (const [name, streams] of metrics) grids.push([name, await historyOf(context, streams.slice(0, STREAMS_MAX), range)]);
  const aligned = align(grids, MINUTE_MS);
  if (aligned.names.length === 0 || aligned.steps < CAUSAL_STEPS_MIN) return tooShort(aligned.steps, 1);
  const computed = await computeFor(context, of.tenant, {
    kind: "causes",
    series: aligned.series,
    stepMs: MINUTE_MS,
    lagMax: CAUSAL_LAG_MAX,
  });
  if (!computed.ok) return computed;
  const relationships = computed.value.links.map(({ cause, effect, strength, lag, q }) => ({
    cause_metric: aligned.names[cause] as string,
    effect_metric: aligned.names[effect] as string,
    strength,
    lag_minutes: lag,
    confidence: 1 - q,
  }));
  return done({ aligned, relationships });
}

/** Streams of a metric that count here: one question reads 30 metrics. */
export const STREAMS_MAX = 4;

export async function validateCausality(
  context: PredictionContext,
  { principal, body }: QueryRequest<"validateCausality">,
): Promise<Outcome<unknown>> {
  const { service_id: serviceId, cause_metric: cause, effect_metric: effect, lookback_hours: hours } = body;
  const { tenant } = principal;
  const environment = body.environment ?? null;
  const stepMinutes = hours <= MINUTES_HOURS ? 1 : 5;
  const stepMs = stepMinutes * MINUTE_MS;
  const toMs = context.nowMs();
  const grids: [string, EvenGrid][] = [];
  for (const [field, metricName] of [
    ["cause_metric", cause],
    ["effect_metric", effect],
  ] as const) {
    const streams = await streamsOf(context, { tenant, serviceId, metricName, environment });
    if (streams.length === 0) return unknownMetric(serviceId, metricName, field);
    grids.push([metricName, await historyOf(context, streams, { fromMs: toMs - hours * HOUR_MS, toMs, stepMs })]);
  }
  const aligned = align(grids, stepMs, 0);
  const [from, to] = aligned.series;
  if (from === undefined || to === undefined || aligned.steps < CAUSAL_STEPS_MIN) return tooShort(aligned.steps, stepMinutes);
  const computed = await computeFor(context, tenant, { kind: "pair", cause: from, effect: to, stepMs, lagMax: CAUSAL_LAG_MAX });
  if (!computed.ok) return computed;
  const { validation } = computed.value;
  const since = formatRfc3339(aligned.sinceMs);
  if (validation === null) {
    const evidence = `${aligned.steps} steps of ${stepMinutes} min since ${since}: one of the metrics is constant, which leads to nothing`;
    return done({ service_id: serviceId, is_causal: false, strength: 0, lag_minutes: 0, confidence: 0, p_value: 1, evidence });
  }
  return done({
    service_id: serviceId,
    is_causal: validation.isCausal,
    strength: validation.strength,
    lag_minutes: validation.lag * stepMinutes,
    confidence: validation.confidence,
    p_value: validation.p,
    evidence: evidenceOf(validation, { cause, effect, since, stepMinutes }),
  });
}

function evidenceOf(
  { isCausal, f, p, strength, lag, rows, heldOutGain, reverseGain, isFeedback }: PairValidation,
  of: { readonly cause: string; readonly effect: string; readonly since: string; readonly stepMinutes: number },
): string {
  const { cause, effect, since, stepMinutes } = of;
  const parts = [
    `past values of ${cause} explain ${percentText(strength ** 2, 1)} of what the past of ${effect} leaves open`,
    `F = ${f.toPrecision(4)}, p = ${p.toPrecision(3)}, ${rows} steps of ${stepMinutes} min since ${since}, strongest at ${lag * stepMinutes} min`,
    `on the last quarter, which was not fitted, the squared error ${heldOutGain > 0 ? "falls" : "grows"} by ${percentText(Math.abs(heldOutGain), 1)}`,
    isFeedback ? `the other direction explains ${percentText(reverseGain, 1)}: feedback` : "no lead in the other direction",
  ];
  return `${isCausal ? "leads" : "does not lead"}: ${parts.join("; ")}. Predictive, with season and trend taken out; not proof of a mechanism.`;
}

/** Values of all at the same steps, those that have enough of them. */
function align(grids: readonly (readonly [string, EvenGrid])[], stepMs: number, coverageMin = COVERAGE_MIN): Aligned {
  const longest = Math.max(0, ...grids.map(([, { values }]) => values.length));
  const retained = grids.filter(
    ([, { values, filled }]) => values.length >= coverageMin * longest && values.length > 0 && filled >= coverageMin * values.length,
  );
  if (retained.length === 0) return { names: [], series: [], steps: 0, sinceMs: 0 };
  const sinceMs = Math.max(...retained.map(([, { startMs }]) => startMs));
  const untilMs = Math.min(...retained.map(([, { startMs, values }]) => startMs + values.length * stepMs));
  const steps = Math.max(0, Math.round((untilMs - sinceMs) / stepMs));
  const series = retained.map(([, { startMs, values }]) => {
    const first = Math.round((sinceMs - startMs) / stepMs);
    return Float64Array.from(values.subarray(first, first + steps));
  });
  return { names: retained.map(([name]) => name), series, steps, sinceMs };
}

function tooShort(found: number, stepMinutes: number): Outcome<never> {
  return refused(
    "unprocessable",
    `too little history: ${found} steps of ${stepMinutes} min found that the metrics share, ${CAUSAL_STEPS_MIN} needed; ask again when more has come in`,
  );
}
