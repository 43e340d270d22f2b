// GET /api/v1/coverage: the engines' scans over the tenant's streams, added up. One at a time: each takes the engines some time of the stream's.

import { done, type Outcome, refused } from "../../api/refusal.ts";
import { ownMember } from "../../core/collections/own-member.ts";
import { COVERAGE_KEYS_MAX, COVERAGE_METRICS_MAX, COVERAGE_STREAMS_MAX, COVERAGE_TOP_ROWS } from "../../core/config/limits.ts";
import { FairMutex } from "../../core/fairness/fair-mutex.ts";
import {
  COVERAGE_LAYERS,
  type CoverageAnswer,
  type CoverageQuery,
  type LayerCounts,
  type MetricCoverage,
} from "../../core/protocol/coverage.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { CoverageTally, EVALUATED } from "../../domain/detection/coverage.ts";
import { DistinctCount } from "../../domain/series/distinct-count.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { ownSharedLimits } from "./shared-limits.ts";
import type { StatusContext } from "./status-context.ts";

/** Most counts of one tenant, walking or waiting; the longest that one waits, which is before its caller gives up. */
const PER_TENANT_MAX = 4;
const WAIT_MS_MAX = 10_000;
/** By server: one scan at a time, since an engine keeps the place of one. */
const mutexes = new WeakMap<object, FairMutex>();

function mutexOf({ state, nowMs }: StatusContext): FairMutex {
  const mutex = mutexes.get(state) ?? new FairMutex({ perTenantMax: PER_TENANT_MAX, waitMsMax: WAIT_MS_MAX }, nowMs);
  mutexes.set(state, mutex);
  return mutex;
}

/** Number of the last scan, in one process. */
let scans = 0;

/** Findings of the scans so far. */
class Found {
  readonly layers = COVERAGE_LAYERS.map((layer) => ({ layer, tally: new CoverageTally() }));
  readonly services = new Map<string, number>();
  readonly metrics = new Map<string, number>();
  readonly ofService = new Map<string, MetricCoverage & { readonly tallies: Readonly<Record<string, CoverageTally>> }>();
  readonly attributes = new Map<string, { streams: number; readonly values: DistinctCount }>();
  streams = 0;
  lookedAt = 0;
  complete = true;

  take(answer: CoverageAnswer): void {
    this.streams += answer.streams;
    this.lookedAt += answer.lookedAt;
    for (const { layer, tally } of this.layers) tally.add(answer.layers[layer]);
    for (const [serviceId, streams] of answer.services) add(this.services, serviceId, streams);
    for (const metric of answer.metrics) this.#takeMetric(metric);
    for (const attribute of answer.attributes) this.#takeAttribute(attribute);
  }

  #takeMetric(metric: MetricCoverage): void {
    add(this.metrics, metric.metricName, metric.streams);
    if (metric.layers === null) return;
    const key = JSON.stringify([metric.metricName, metric.environment]);
    const known = this.ofService.get(key);
    const tallies = known?.tallies ?? Object.fromEntries(Object.keys(metric.layers).map((layer) => [layer, new CoverageTally()]));
    for (const [layer, counts] of Object.entries(metric.layers)) ownMember(tallies, layer)?.add(counts);
    this.ofService.set(key, { ...metric, streams: metric.streams + (known?.streams ?? 0), tallies });
  }

  #takeAttribute([key, streams, values]: CoverageAnswer["attributes"][number]): void {
    let known = this.attributes.get(key);
    if (known === undefined) {
      if (this.attributes.size >= COVERAGE_KEYS_MAX) return;
      known = { streams: 0, values: new DistinctCount() };
      this.attributes.set(key, known);
    }
    known.streams += streams;
    for (const value of values) known.values.add(value);
  }
}

export async function coverage(context: StatusContext, { principal, query, shares }: QueryRequest<"coverage">): Promise<Outcome<unknown>> {
  const { tenant } = principal;
  const counted = await mutexOf(context).run(tenant, () => count(context, tenant, query));
  if (counted === "full") return refused("overloaded", `${PER_TENANT_MAX} counts of coverage wait already; try again in a second`);
  if (counted === "late") return refused("overloaded", "others' coverage was counted first; try again in a second");
  const { found, streamsInMemory } = counted;
  const limits = await ownSharedLimits(context, tenant, shares);
  const of = { tenant, serviceId: query.service_id ?? null, environment: query.environment ?? null };
  return done(coverageView(found, streamsInMemory, limits, sloCoverage(context, of)));
}

async function count(context: StatusContext, tenant: string, query: QueryRequest<"coverage">["query"]) {
  const { engines } = context;
  const all = Array.from({ length: engines.count }, (_, engine) => engine);
  const asked = query.service_id === undefined ? all : [engines.ownerOf(tenant, query.service_id)];
  const found = new Found();
  const most = Math.ceil(COVERAGE_STREAMS_MAX / asked.length);
  const of = { scan: ++scans, tenant, serviceId: query.service_id ?? null, environment: query.environment ?? null };
  await Promise.all(asked.map((engine) => scan(context, engine, of, most, found)));
  const inMemory = await Promise.all(all.map((engine) => engines.streamCount(engine, tenant)));
  return { found, streamsInMemory: inMemory.reduce((sum, streams) => sum + streams, 0) };
}

async function scan(
  { engines }: StatusContext,
  engine: number,
  of: Omit<CoverageQuery, "type" | "id" | "most">,
  most: number,
  found: Found,
): Promise<void> {
  for (let left = most; left > 0; ) {
    const answer = await engines.coverage(engine, { ...of, most: left });
    found.take(answer);
    left -= answer.lookedAt;
    if (answer.done) return;
  }
  found.complete = false;
}

function coverageView(
  found: Found,
  streamsInMemory: number,
  sharedLimits: Awaited<ReturnType<typeof ownSharedLimits>>,
  { slo_burn, ...slos }: SloCoverage,
) {
  const attributes = [...found.attributes].map(([key, { streams, values }]) => ({ key, distinct_values: values.estimate(), streams }));
  const metrics = [...found.ofService.values()].sort(
    (a, b) => compareTexts(a.metricName, b.metricName) || compareTexts(a.environment, b.environment),
  );
  return {
    layers: { ...Object.fromEntries(found.layers.map(({ layer, tally }) => [layer, tally.counts()])), slo_burn },
    ...slos,
    metrics: metrics.slice(0, COVERAGE_METRICS_MAX).map(({ metricName, environment, streams, tallies }) => ({
      metric_name: metricName,
      environment,
      streams,
      layers: Object.fromEntries(Object.entries(tallies).map(([layer, tally]) => [layer, tally.counts()])),
    })),
    metrics_total: metrics.length,
    cardinality: {
      services: top([...found.services]).map(([service_id, streams]) => ({ service_id, streams })),
      metric_names: top([...found.metrics]).map(([metric_name, streams]) => ({ metric_name, streams })),
      attribute_keys: attributes
        .sort((a, b) => b.distinct_values - a.distinct_values || compareTexts(a.key, b.key))
        .slice(0, COVERAGE_TOP_ROWS),
    },
    streams: found.streams,
    streams_looked_at: found.lookedAt,
    streams_in_memory: streamsInMemory,
    shared_limits: sharedLimits,
    complete: found.complete,
  };
}

/** The largest first; of equals by name. */
function top(rows: Array<readonly [string, number]>): ReadonlyArray<readonly [string, number]> {
  return rows.sort((a, b) => b[1] - a[1] || compareTexts(a[0], b[0])).slice(0, COVERAGE_TOP_ROWS);
}

function add(counts: Map<string, number>, name: string, count: number): void {
  counts.set(name, (counts.get(name) ?? 0) + count);
}

// What coverage says about SLOs: those that are judged, and those whose senders give something else than a good ratio.

interface SloCoverage {
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
function sloCoverage(
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
