import { z } from "zod";
import { COVERAGE_METRICS_MAX, COVERAGE_STREAMS_MAX, COVERAGE_TOP_ROWS } from "../../core/config/limits.ts";
import { COVERAGE_LAYERS, STREAM_LAYERS } from "../../core/protocol/coverage.ts";
import type { Endpoint } from "../endpoint.ts";
import { environmentParameter, textParameter } from "../parameters.ts";
import { COUNT, COUNTS } from "../shapes/scalars.ts";

const LAYER = z.strictObject({
  evaluated: COUNT,
  learning: COUNT.describe("too few values so far"),
  skipped: COUNTS.describe("by reason"),
});

function layers<const L extends string>(names: readonly L[]) {
  return z.strictObject(Object.fromEntries(names.map((name) => [name, LAYER])) as Record<L, typeof LAYER>);
}

const EVALUATED_EXAMPLE = { evaluated: 2, learning: 0, skipped: {} };
const METRIC = z.strictObject({ metric_name: z.string(), environment: z.string(), streams: COUNT, layers: layers(STREAM_LAYERS) });
const COVERAGE = z.strictObject({
  layers: layers(COVERAGE_LAYERS).describe("isolation_forest counts services, each environment for itself; the others count streams"),
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
  complete: z.boolean().describe("every stream in memory that could match was looked at"),
});

/** What detection looks at. */
export const COVERAGE_ENDPOINTS = [
  {
    name: "coverage",
    method: "GET",
    path: "/api/v1/coverage",
    access: "viewer",
    handledBy: "coordinator",
    query: z.strictObject({ service_id: textParameter("service_id").optional(), environment: environmentParameter().optional() }),
    responses: { 200: COVERAGE },
    examples: {
      response: {
        layers: {
          statistical: EVALUATED_EXAMPLE,
          adaptive: { evaluated: 1, learning: 1, skipped: {} },
          isolation_forest: { evaluated: 0, learning: 0, skipped: { too_few_metrics: 1 } },
          saturation: { evaluated: 0, learning: 0, skipped: { not_bounded: 2 } },
        },
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
        complete: true,
      },
    },
    summary: "What detection evaluates, what it is learning, what it skips and why; the largest contributors to cardinality",
  },
] as const satisfies readonly Endpoint[];
