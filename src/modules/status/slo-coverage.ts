// What coverage says about SLOs: those that are judged, and those whose senders give something else than a good ratio.
import type { CoverageQuery, LayerCounts } from "../../core/protocol/coverage.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { CoverageTally, EVALUATED } from "../../domain/detection/coverage.ts";
import type { StatusContext } from "./status-context.ts";

export interface SloCoverage {
  readonly slo_burn: LayerCounts;
  readonly slos_outside: ReadonlyArray<{
    readonly service_id: string;
    readonly environment: string;
    readonly metric_name: string;
    readonly value: number;
    readonly at: string;
  }>;
}

/** SLO coverage of a tenant, or one of its services, or environments. */
export function sloCoverage(
  { state }: StatusContext,
  { tenant, serviceId, environment }: Pick<CoverageQuery, "tenant" | "serviceId" | "environment">,
): SloCoverage {
  const isAsked = (slo: { readonly tenant: string; readonly serviceId: string; readonly environment: string }) =>
    slo.tenant === tenant &&
    (serviceId === null || slo.serviceId === serviceId) &&
    (environment === null || slo.environment === environment);
  const outside = [...state.slo.outside(tenant)].filter(isAsked);
  const named = new Set(outside.map(nameOf));
  const tally = new CoverageTally();
  for (const _ of outside) tally.count("value_outside_0_to_1");
  for (const window of state.slo.windows) if (isAsked(window) && !named.has(nameOf(window))) tally.count(EVALUATED);
  const rows = outside.map((slo) => ({
    service_id: slo.serviceId,
    environment: slo.environment,
    metric_name: slo.metricName,
    value: slo.value,
    at: formatRfc3339(slo.atMs),
  }));
  rows.sort(
    (a, b) =>
      compareTexts(a.service_id, b.service_id) || compareTexts(a.metric_name, b.metric_name) || compareTexts(a.environment, b.environment),
  );
  return { slo_burn: tally.counts(), slos_outside: rows };
}

function nameOf({
  environment,
  serviceId,
  metricName,
}: {
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
}): string {
  return JSON.stringify([environment, serviceId, metricName]);
}
