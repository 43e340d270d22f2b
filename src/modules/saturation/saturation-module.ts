// What the coordinator aggregates of limits and saturation.
// GET /api/v1/saturation/fires: findings of saturation, the open ones first, the newest of each ahead.
import { openPage } from "../../api/page-token.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { FireBook, type SaturationFire } from "./fire-book.ts";
import { LimitBook } from "./limit-book.ts";
import { declareLimit, deleteLimit, listLimits } from "./limit-handlers.ts";
import type { SaturationBooks, SaturationContext } from "./saturation-context.ts";

export const SATURATION = {
  tables: {
    control: {
      saturation_limits: { key: "tenant, metric, u16 0 or 1, service", value: "SaturationLimit: of the tenant, or of a service" },
      saturation_fires: { key: "tenant, fire id", value: "SaturationFire: a finding, open or ended" },
    },
  },
  configured: ({ share }: BookSources) => ({ saturation: new LimitBook(share("saturation_limits")), fires: new FireBook() }),
  gauges: ({ configured }: { readonly configured: SaturationBooks }) => ({ saturationLimits: configured.saturation.limits.size }),
  handlers: {
    declareLimit,
    limits: listLimits,
    deleteLimit,
    saturationFires,
  },
} as const satisfies NounModule;

/** A page of findings. One that has ended meanwhile has left its place: the page goes on behind those that are still ahead of it. */
function saturationFires({ state }: SaturationContext, request: QueryRequest<"saturationFires">): Outcome<unknown> {
  const { principal, query } = request;
  const asked = openPage(state, request, "saturationFires");
  if (!asked.ok) return asked;
  const matching = state.configured.fires
    .listOf(principal.tenant)
    .filter((fire) => query.service_id === undefined || fire.serviceId === query.service_id)
    .filter((fire) => query.environment === undefined || fire.environment === query.environment)
    .filter((fire) => query.state === undefined || (fire.endedAtMs === null) === (query.state === "firing"));
  const after = asked.value.after as PageKey | undefined;
  const rows = after === undefined ? matching : matching.filter((fire) => isBehind(pageKeyOf(fire), after));
  const { page, page_token } = asked.value.cut(rows, pageKeyOf);
  return done({ fires: page.map(fireView), total: matching.length, page_token });
}

type PageKey = readonly [isEnded: boolean, timeMs: number, id: string];

function pageKeyOf({ endedAtMs, startedAtMs, id }: SaturationFire): PageKey {
  return [endedAtMs !== null, endedAtMs ?? startedAtMs, id];
}

function isBehind([isEnded, timeMs, id]: PageKey, [afterEnded, afterMs, afterId]: PageKey): boolean {
  if (isEnded !== afterEnded) return isEnded;
  return timeMs === afterMs ? id > afterId : timeMs < afterMs;
}

function fireView({ id, serviceId, environment, metricName, attributes, finding, startedAtMs, updatedAtMs, endedAtMs }: SaturationFire) {
  const { value, limit, unit, exhaustedAtMs } = finding;
  return {
    fire_id: id,
    state: endedAtMs === null ? "firing" : "resolved",
    service_id: serviceId,
    environment,
    metric_name: metricName,
    attributes,
    instance: finding.instance,
    tier: finding.tier,
    rule: finding.rule,
    kind: finding.kind,
    value,
    limit,
    unit,
    headroom: Math.max(0, finding.kind === "remaining" ? value : limit - value),
    projected_at: exhaustedAtMs === null ? null : formatRfc3339(exhaustedAtMs),
    started_at: formatRfc3339(startedAtMs),
    updated_at: formatRfc3339(updatedAtMs),
    resolved_at: endedAtMs === null ? null : formatRfc3339(endedAtMs),
    explanation: finding.text,
  };
}
