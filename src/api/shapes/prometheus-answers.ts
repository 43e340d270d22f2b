// Shapes of Prometheus' HTTP API (web/api/v1/api.go).
import { z } from "zod";

const REMARKS = {
  warnings: z.array(z.string()).optional().meta({ description: "what makes the result other than asked" }),
  infos: z.array(z.string()).optional().meta({ description: "what may be meant otherwise, with its place in the query" }),
};

function success(data: z.ZodType) {
  return z.strictObject({ status: z.literal("success"), data, ...REMARKS });
}

const METRIC = z.record(z.string(), z.string()).meta({ description: "labels; __name__ is the metric's name" });
const POINT = z.tuple([z.number(), z.string()]).meta({ description: "seconds since 1970, and the value as text" });

const VECTOR = z.strictObject({
  resultType: z.literal("vector"),
  result: z.array(z.strictObject({ metric: METRIC, value: POINT })),
  stats: z.looseObject({}).optional(),
});
const MATRIX = z.strictObject({
  resultType: z.literal("matrix"),
  result: z.array(z.strictObject({ metric: METRIC, values: z.array(POINT) })),
  stats: z.looseObject({}).optional(),
});
const SINGLE = z.strictObject({ resultType: z.enum(["scalar", "string"]), result: POINT, stats: z.looseObject({}).optional() });

/** Result of a query at a moment. */
export const PROMETHEUS_RESULT = success(z.union([VECTOR, MATRIX, SINGLE])).meta({ id: "PrometheusResult" });
/** Result of a query over a range. */
export const PROMETHEUS_RANGE = success(MATRIX).meta({ id: "PrometheusRange" });
/** Names of labels, or values of one. */
export const PROMETHEUS_TEXTS = success(z.array(z.string())).meta({ id: "PrometheusTexts" });
/** The labels of each series that was found. */
export const PROMETHEUS_SERIES = success(z.array(METRIC)).meta({ id: "PrometheusSeries" });
/** Types, units and helps by metric. */
export const PROMETHEUS_METADATA = success(
  z.record(z.string(), z.array(z.strictObject({ type: z.string(), help: z.string(), unit: z.string() }))),
).meta({ id: "PrometheusMetadata" });
/** A list that is empty here. */
export const PROMETHEUS_EXEMPLARS = success(z.array(z.never())).meta({ id: "PrometheusExemplars" });
/** Groups of rules as clients list them. */
export const PROMETHEUS_RULES = success(
  z.strictObject({ groups: z.array(z.looseObject({})), groupNextToken: z.string().optional().describe("absent where no more follow") }),
).meta({ id: "PrometheusRules" });
/** Alerts that rules have raised. */
export const PROMETHEUS_ALERTS = success(z.strictObject({ alerts: z.array(z.looseObject({})) })).meta({ id: "PrometheusAlerts" });
/** Facts of the server, by name. */
export const PROMETHEUS_FACTS = success(z.record(z.string(), z.unknown())).meta({ id: "PrometheusFacts" });
/** An answer that is an error. */
export const PROMETHEUS_FAILURE = z
  .strictObject({ status: z.literal("error"), errorType: z.string(), error: z.string() })
  .meta({ id: "PrometheusError" });
