// What the coordinator folds of pillars and the service map.
// GET /api/v1/pillars/scores: the newest score of each pillar value, by pillar and value.
import { openPage } from "../../api/page-token.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { maturityOf } from "../../domain/detection/gates/baseline-maturity.ts";
import type { PillarValue } from "../../domain/pillars/pillar-value.ts";
import { FAMILIES } from "../../domain/series/metric-family.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { inSlices, mapInSlices } from "../state/slices.ts";
import { ServiceMapBook } from "./service-map-book.ts";
import { listServiceMap, type PillarsContext, setServiceMap } from "./service-map-handlers.ts";

export const PILLARS = {
  tables: {
    control: {
      service_map: { key: "tenant, service", value: "ServiceEntry without its service" },
      pillar_history: { key: "tenant, pillar, value", value: "MagnitudeHistory (domain/pillars)" },
    },
  },
  configured: ({ share }: BookSources) => ({ serviceMap: new ServiceMapBook(share("mapped_services"), share("pillar_values")) }),
  handlers: {
    setServiceMap,
    serviceMap: listServiceMap,
    pillarScores,
  },
} as const satisfies NounModule;

/** A page of scores. */
async function pillarScores(context: PillarsContext, request: QueryRequest<"pillarScores">): Promise<Outcome<unknown>> {
  const { principal, query } = request;
  const { state } = context;
  const asked = openPage(state, request, "pillarScores");
  if (!asked.ok) return asked;
  const { after } = asked.value;
  const values = await inSlices(state.configured.serviceMap.pillars.valuesOf(principal.tenant), context.pause);
  const isRest = after === undefined ? () => true : isBehind(after as [string, string]);
  const rest: PillarValue[] = [];
  let total = 0;
  const take = (value: PillarValue) => {
    if (!isChosen(value, query)) return;
    total++;
    if (isRest(value)) rest.push(value);
  };
  await mapInSlices(values, take, context.pause);
  const { page, page_token } = asked.value.cut(rest, ({ pillar, value }) => [pillar, value]);
  const scores = await mapInSlices(page, (value) => scoreView(value, context.nowMs()), context.pause);
  return done({ scores, total, page_token });
}

function isChosen({ pillar, value, scoreNumber }: PillarValue, query: QueryRequest<"pillarScores">["query"]): boolean {
  if (query.pillar !== undefined && pillar !== query.pillar) return false;
  if (query.value !== undefined && value !== query.value) return false;
  return query.min_score === undefined || (scoreNumber ?? Number.NEGATIVE_INFINITY) >= query.min_score;
}

function isBehind([pillar, value]: readonly [string, string]): (one: PillarValue) => boolean {
  return (one) => one.pillar > pillar || (one.pillar === pillar && one.value > value);
}

/** A value that no tick has seen yet has members and nothing else. */
function scoreView({ pillar, value, members, score, history }: PillarValue, nowMs: number) {
  return {
    pillar,
    value,
    score: score?.score ?? null,
    p_value: score?.pValue ?? null,
    magnitude: score?.magnitude ?? 0,
    deviations: deviationsView(score?.deviations ?? []),
    members,
    evaluated: score?.evaluated ?? 0,
    drivers: (score?.drivers ?? []).map(({ serviceId, contribution, deviations }) => ({
      service_id: serviceId,
      contribution,
      deviations: deviationsView(deviations),
    })),
    maturity: maturityOf(history.firstMs > 0 ? history.firstMs : nowMs, nowMs),
    history_minutes: history.observations(nowMs),
    updated_at: score === undefined ? null : formatRfc3339(score.updatedMs),
  };
}

function deviationsView(deviations: ReadonlyArray<number | null>) {
  return Object.fromEntries(FAMILIES.map((family, i) => [family, deviations[i] ?? null]));
}
