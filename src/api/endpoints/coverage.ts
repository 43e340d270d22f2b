import { z } from "zod";
import { COVERAGE_METRICS_MAX, COVERAGE_STREAMS_MAX, COVERAGE_TOP_ROWS, SLOS_OUTSIDE_MAX } from "../../core/config/limits.ts";
import { COVERAGE_LAYERS, STREAM_LAYERS } from "../../core/protocol/coverage.ts";
import { declared } from "../declared.ts";
import { environmentParameter, textParameter } from "../parameters.ts";
import { COUNT, COUNTS, EXAMPLE_TIME, TIMESTAMP } from "../shapes/scalars.ts";

const LAYER = z.strictObject({
  evaluated: COUNT,
  learning: COUNT.describe("too few values so far"),
  skipped: COUNTS.describe("by reason"),
});

function layers<const L extends string>(names: readonly L[]) {
  return z.strictObject(Object.fromEntries(names.map((name) => [name, LAYER])) as Record<L, typeof LAYER>);
}

const SHARED_LIMITS = z
  .array(
    z.strictObject({
      limit: z.string(),
      held: COUNT.describe("places that the tenant holds"),
      refused_total: COUNT.describe("places that it was refused since the start, each as often as it was asked for"),
    }),
  )
  .describe("limits that all tenants share, by name; each tenant has a sure share of every one");

const EVALUATED_EXAMPLE = { evaluated: 2, learning: 0, skipped: {} };
const METRIC = z.strictObject({ metric_name: z.string(), environment: z.string(), streams: COUNT, layers: layers(STREAM_LAYERS) });
const SLO_OUTSIDE = z.strictObject({
  service_id: z.string(),
  environment: z.string(),
  metric_name: z.string(),
  value: z.number().describe("of the newest record"),
  at: TIMESTAMP,
});
const COVERAGE = z.strictObject({
  layers: layers([...COVERAGE_LAYERS, "slo_burn"]).describe(
    "isolation_forest counts services, each environment for itself; slo_burn counts SLOs; the others count streams",
  ),
  slos_outside: z
    .array(SLO_OUTSIDE)
    .describe(`SLOs whose newest value is no good ratio (0 to 1): it is stored and not judged; at most ${SLOS_OUTSIDE_MAX}`),
  metrics: z.array(METRIC).describe(`of the service that is asked for, at most ${COVERAGE_METRICS_MAX} by name; else empty`),
  metrics_total: COUNT,
  cardinality: z
    .strictObject({
      services: z.array(z.strictObject({ service_id: z.string(), streams: COUNT })),
      metric_names: z.array(z.strictObject({ metric_name: z.string(), streams: COUNT })),
      attribute_keys: z.array(
        z.strictObject({ key: z.string(), distinct_values: COUNT.describe("estimated within some 3 %"), streams: COUNT }),
      ),
    })
    .describe(`the ${COVERAGE_TOP_ROWS} largest contributors of each kind, the largest first`),
  streams: COUNT.describe("of those looked at, streams that match"),
  streams_looked_at: COUNT.describe(`at most ${COVERAGE_STREAMS_MAX}`),
  streams_in_memory: COUNT.describe("of the tenant, whatever the filter; streams that left memory are not evaluated and not counted"),
  shared_limits: SHARED_LIMITS,
  complete: z.boolean().describe("every stream in memory that could match was looked at"),
});

/** Endpoints of detection coverage. */
export const COVERAGE_ENDPOINTS = declared([
  {
    name: "coverage",
    method: "GET",
    path: "/api/v1/coverage",
    access: "viewer",
    needsShares: "own",
    query: z.strictObject({ service_id: textParameter("service_id").optional(), environment: environmentParameter().optional() }),
    responses: { 200: COVERAGE },
    examples: {
      response: {
        layers: {
          statistical: EVALUATED_EXAMPLE,
          adaptive: { evaluated: 1, learning: 1, skipped: {} },
          isolation_forest: { evaluated: 0, learning: 0, skipped: { too_few_metrics: 1 } },
          saturation: { evaluated: 0, learning: 0, skipped: { not_bounded: 2 } },
          slo_burn: { evaluated: 1, learning: 0, skipped: { value_outside_0_to_1: 1 } },
        },
        slos_outside: [{ service_id: "checkout", environment: "", metric_name: "availability", value: 99.95, at: EXAMPLE_TIME }],
        metrics: [],
        metrics_total: 0,
        cardinality: {
          services: [{ service_id: "checkout", streams: 2 }],
          metric_names: [{ metric_name: "latency_ms", streams: 2 }],
          attribute_keys: [{ key: "route", distinct_values: 2, streams: 2 }],
        },
        streams: 2,
        streams_looked_at: 2,
        streams_in_memory: 2,
        shared_limits: [{ limit: "log_services", held: 1, refused_total: 0 }],
        complete: true,
      },
    },
    summary: "What detection evaluates, what it is learning, what it skips and why; the largest contributors to cardinality",
  },
]);
