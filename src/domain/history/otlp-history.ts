// History from an OTLP metrics file in JSON: gauges and sums. Histograms and summaries are named among what was left out.
import type { Attributes, AttributeValue } from "../../core/protocol/coordinator-frame.ts";
import type { HistoryCollector } from "./history-collector.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** Resource attributes that tell series apart: the environment, and the first of those that name an instance. */
const ENVIRONMENT_NAMES = ["deployment.environment.name", "deployment.environment", "environment", "env"];
const INSTANCE_NAMES = ["instance", "service.instance.id", "host.name", "k8s.pod.name", "pod"];
const DELTA: ReadonlySet<unknown> = new Set([1, "AGGREGATION_TEMPORALITY_DELTA"]);
/** Data point flag: no recorded value. */
const NO_VALUE = 1;
/** Depth of arrays and maps in an attribute. */
const DEPTH_MAX = 16;

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const objectOf = (value: unknown): JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};

/** Reads the resourceMetrics of a document. */
export function readOtlpHistory(resourceMetrics: readonly unknown[], collector: HistoryCollector): void {
  resourceMetrics.forEach((given, r) => {
    const resource = readAttributes(objectOf(objectOf(given).resource).attributes);
    const serviceId = resource["service.name"];
    const scope = {
      serviceId: typeof serviceId === "string" && serviceId !== "" ? serviceId : "unknown_service",
      attributes: identifying(resource),
    };
    listOf(objectOf(given).scopeMetrics).forEach((metrics, s) => {
      listOf(objectOf(metrics).metrics).forEach((metric, m) => {
        readMetric(objectOf(metric), scope, `resourceMetrics ${r}, scopeMetrics ${s}, metric ${m}`, collector);
      });
    });
  });
}

function identifying(resource: Attributes): Attributes {
  const instance = INSTANCE_NAMES.find((name) => Object.hasOwn(resource, name));
  const names = [...ENVIRONMENT_NAMES.filter((name) => Object.hasOwn(resource, name)), ...(instance === undefined ? [] : [instance])];
  return Object.fromEntries(names.map((name) => [name, resource[name] as AttributeValue]));
}

function readMetric(
  metric: JsonObject,
  scope: { readonly serviceId: string; readonly attributes: Attributes },
  place: string,
  collector: HistoryCollector,
): void {
  const { gauge, sum } = metric;
  if (gauge === undefined && sum === undefined) {
    const kind = ["histogram", "exponentialHistogram", "summary"].find((name) => metric[name] !== undefined) ?? "no known kind";
    const points = listOf(objectOf(metric[kind]).dataPoints).length;
    collector.refuse(
      () => place,
      "unprocessable",
      `${String(metric.name)} is of ${kind}; gauges and sums are imported`,
      Math.max(1, points),
    );
    return;
  }
  const { dataPoints, isMonotonic, aggregationTemporality } = objectOf(sum ?? gauge);
  const isCounter = sum !== undefined && isMonotonic === true && !DELTA.has(aggregationTemporality);
  listOf(dataPoints).forEach((point, index) =>
    readPoint(objectOf(point), metric.name as string, isCounter, scope, `${place}, point ${index}`, collector),
  );
}

function readPoint(
  point: JsonObject,
  metricName: string,
  isCounter: boolean,
  scope: { readonly serviceId: string; readonly attributes: Attributes },
  place: string,
  collector: HistoryCollector,
): void {
  const at = () => place;
  if ((Number(point.flags ?? 0) & NO_VALUE) !== 0) return;
  const attributes = { ...scope.attributes, ...readAttributes(point.attributes), ...(isCounter && { metric_type: "counter" }) };
  const series = collector.find({ serviceId: scope.serviceId, metricName, attributes }, at, 1);
  if (series === undefined) return;
  const value = point.asDouble ?? point.asInt;
  const nanos = point.timeUnixNano;
  if ((typeof value !== "number" && typeof value !== "string") || value === "")
    collector.refuse(at, "missing_value", "the point has neither asDouble nor asInt");
  else if ((typeof nanos !== "string" || !/^\d{1,20}$/.test(nanos)) && typeof nanos !== "number") {
    collector.refuse(at, "invalid_timestamp", "the point has no timeUnixNano");
  } else collector.add(series, Math.floor(Number(nanos) / 1e6), Number(value), at);
}

function readAttributes(given: unknown): Attributes {
  const entries = listOf(given)
    .map(objectOf)
    .filter(({ key }) => typeof key === "string");
  return Object.fromEntries(entries.map(({ key, value }) => [key as string, readValue(objectOf(value), DEPTH_MAX)]));
}

/** AnyValue of OTLP. */
function readValue(value: JsonObject, depth: number): AttributeValue {
  if (typeof value.stringValue === "string") return value.stringValue;
  if (typeof value.boolValue === "boolean") return value.boolValue;
  if (value.intValue !== undefined) return Number(value.intValue);
  if (value.doubleValue !== undefined) return Number(value.doubleValue);
  if (depth === 0) return null;
  if (value.arrayValue !== undefined) return listOf(objectOf(value.arrayValue).values).map((one) => readValue(objectOf(one), depth - 1));
  if (value.kvlistValue === undefined) return null;
  const entries = listOf(objectOf(value.kvlistValue).values).map(objectOf);
  return Object.fromEntries(entries.map(({ key, value: one }) => [String(key), readValue(objectOf(one), depth - 1)]));
}
