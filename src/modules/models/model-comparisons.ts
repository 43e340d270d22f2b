// A requested model beside the one in production, over the history that is kept.
import { done, type Outcome } from "../../api/refusal.ts";
import { SERVICE_VECTORS_MAX } from "../../core/config/limits.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import type { ModelComparison } from "../../domain/models/model-comparison.ts";
import { computeFor } from "../prediction/computing.ts";
import { labelledTimes } from "./labelled-times.ts";
import type { ModelRow } from "./model-row.ts";
import type { ModelsContext } from "./models-context.ts";

/** A comparison, or why there is none. */
export type Compared = { readonly comparison: ModelComparison } | { readonly comparison: null; readonly why: string };

/** Refused where the thread for computations has no room. Rejects with EngineUnavailableError. */
export async function compareWithProduction(context: ModelsContext, candidate: ModelRow): Promise<Outcome<Compared>> {
  const { state, options, inputs, messages, nowMs } = context;
  const { models } = state.configured;
  const none = (why: string): Outcome<Compared> => done({ comparison: null, why });
  const promoted = models.production(candidate);
  const before = promoted === undefined ? messages.automatic(candidate) : { ...promoted, bytes: models.content(promoted)?.model };
  const ours = models.content(candidate)?.model;
  if (before?.bytes === undefined) return none("no model is in production to compare it with");
  if (ours === undefined) return none("its bytes are gone");
  const { watchdogIntervalMs: intervalMs = MINUTE_MS, rawRetentionMs } = options;
  const toMs = nowMs();
  const range = { fromMs: toMs - Math.min(rawRetentionMs, SERVICE_VECTORS_MAX * intervalMs), toMs, intervalMs };
  const { tenant, serviceId, environment, id: modelId } = candidate;
  const [wanted, judged] = [
    await inputs.of({ tenant, serviceId, environment, modelId, ...range }),
    await inputs.of({ tenant, serviceId, environment, ...range }),
  ];
  if (wanted?.columns !== candidate.columns) return none("its metrics are not those that the service sends today");
  if (judged?.columns !== before.columns)
    return none("the model in production is of other metrics than those that the service sends today");
  const computed = await computeFor(context, tenant, {
    kind: "comparison",
    request: {
      candidate: { model: ours, input: wanted.input },
      production: { model: before.bytes, input: judged.input },
      labels: labelledTimes(state, candidate, toMs),
    },
  });
  return computed.ok ? done({ comparison: computed.value.comparison }) : computed;
}
