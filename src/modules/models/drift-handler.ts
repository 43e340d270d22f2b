// GET /api/v1/ml/drift: whether a service still sends what the model in production was trained on.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { SERVICE_VECTORS_MAX } from "../../core/config/limits.ts";
import { DRIFT_METRICS_PER_ANSWER_MAX, DRIFT_VECTORS_MAX, DRIFT_VECTORS_MIN } from "../../core/config/model-limits.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { VectorReference } from "../../domain/detection/multivariate/vector-reference.ts";
import type { ColumnDrift } from "../../domain/models/model-drift.ts";
import { computeFor } from "../prediction/computing.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { environmentOf } from "./job-handlers.ts";
import { automaticId, type ModelledService } from "./model-book.ts";
import type { ModelsContext } from "./models-context.ts";

interface JudgedModel {
  readonly modelId: string;
  readonly columns: string;
  readonly trainedMs: number;
  /** Null: it is read from the history before the training. */
  readonly reference: VectorReference | null;
  readonly rows: number;
  readonly isPromoted: boolean;
}

export async function drift(context: ModelsContext, { principal, query }: QueryRequest<"drift">): Promise<Outcome<unknown>> {
  const { tenant } = principal;
  const { service_id: serviceId } = query;
  const environment = await environmentOf(context, { tenant, serviceId, environment: query.environment });
  if (!environment.ok) return environment;
  const service = { tenant, serviceId, environment: environment.value };
  const model = modelOf(context, service);
  if (model === undefined)
    return refused("unprocessable", "the service has no model yet: it is trained once there are 256 vectors, one a minute");
  const { watchdogIntervalMs: intervalMs = MINUTE_MS, rawRetentionMs } = context.options;
  const toMs = context.nowMs();
  const beforeMs = model.reference === null ? Math.min(model.rows, SERVICE_VECTORS_MAX) * intervalMs : 0;
  const fromMs = Math.max(toMs - rawRetentionMs, Math.min(model.trainedMs - beforeMs, toMs - DRIFT_VECTORS_MAX * intervalMs));
  const input = await context.inputs.of({ ...service, fromMs, toMs, intervalMs });
  if (input?.columns !== model.columns) {
    return refused("unprocessable", "the metrics of the service are not those of its model any more; a new one is trained by itself");
  }
  const { reference, trainedMs } = model;
  const computed = await computeFor(context, tenant, {
    kind: "drift",
    request: { input: input.input, reference, trainedMs, rowsMax: DRIFT_VECTORS_MAX, rowsMin: DRIFT_VECTORS_MIN },
  });
  if (!computed.ok) return computed;
  const { rows, columns } = computed.value.drift;
  if (rows < DRIFT_VECTORS_MIN || columns.length === 0) {
    return refused(
      "unprocessable",
      `too little history: ${rows} vectors found, ${DRIFT_VECTORS_MIN} needed; ask again in ${Math.max(1, DRIFT_VECTORS_MIN - rows)} minutes`,
    );
  }
  return done(driftView({ service, model, rows, columns, names: input.names }));
}

function modelOf({ state, messages }: ModelsContext, service: ModelledService): JudgedModel | undefined {
  const { models } = state.configured;
  const promoted = models.production(service);
  if (promoted !== undefined) {
    const { id: modelId, columns, trainedMs, rows } = promoted;
    return { modelId, columns, trainedMs, rows, reference: models.content(promoted)?.reference ?? null, isPromoted: true };
  }
  const row = messages.automatic(service);
  if (row === undefined) return undefined;
  const { columns, timeMs: trainedMs, count: rows } = row;
  return { modelId: automaticId(service, trainedMs), columns, trainedMs, rows, reference: null, isPromoted: false };
}

function driftView({
  service,
  model,
  rows,
  columns,
  names,
}: {
  readonly service: ModelledService;
  readonly model: JudgedModel;
  readonly rows: number;
  readonly columns: readonly ColumnDrift[];
  readonly names: readonly string[];
}) {
  const [worst] = columns as readonly [ColumnDrift, ...ColumnDrift[]];
  const drifted = columns.filter(({ isDrift }) => isDrift);
  const nameOf = ({ column }: ColumnDrift) => names[column] as string;
  return {
    service_id: service.serviceId,
    environment: service.environment,
    model_id: model.modelId,
    drift_score: worst.effect,
    drift_detected: drifted.length > 0,
    kl_divergence: worst.klDivergence,
    psi: worst.psi,
    last_trained: formatRfc3339(model.trainedMs),
    samples: rows,
    metrics: columns.slice(0, DRIFT_METRICS_PER_ANSWER_MAX).map((column) => ({
      metric_name: nameOf(column),
      psi: column.psi,
      effect: column.effect,
      p_value: Math.min(1, column.p * columns.length),
      drifted: column.isDrift,
    })),
    recommendation: recommendationOf(drifted.map(nameOf), model.isPromoted),
  };
}

function recommendationOf(drifted: readonly string[], isPromoted: boolean): string {
  if (drifted.length === 0) return "keep the model: nothing has moved beyond what chance gives";
  const moved = `${drifted.slice(0, 3).join(", ")}${drifted.length > 3 ? ` and ${drifted.length - 3} more` : ""} moved`;
  return isPromoted
    ? `${moved}: train a new model and promote it, or roll back; a promoted one is not trained anew by itself`
    : `${moved}: the automatic training takes it up; where it is a fault, nothing is to be done to the model`;
}
