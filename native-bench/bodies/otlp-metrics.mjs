// OTLP metrics bodies as a collector sends them: services of several instances, gauges and cumulative sums, four attributes a point.
import { encodeRequest } from "../../test/support/otlp-schema.ts";
import { seededRandom } from "./series-labels.mjs";

const pointsPerMetric = 20;
const metricsPerResource = 25;

/** A request of `points` number points at one time, as an object in OTLP's JSON form. */
export function otlpMetricsRequest({ points, timeMs, seed = 1 }) {
  const random = seededRandom(seed);
  const nanoseconds = (ms) => `${Math.floor(ms)}000000`;
  const text = (key, stringValue) => ({ key, value: { stringValue } });
  const resources = Math.ceil(points / (pointsPerMetric * metricsPerResource));
  let left = points;
  const resourceMetrics = Array.from({ length: resources }, (_, resource) => ({
    resource: {
      attributes: [
        text("service.name", `checkout-service-${resource % 7}`),
        text("service.version", "1.4.2"),
        text("service.instance.id", `checkout-7c9f-${resource}`),
        text("deployment.environment.name", "production"),
        text("host.name", `node-${resource}`),
        text("telemetry.sdk.name", "opentelemetry"),
        text("telemetry.sdk.language", "go"),
      ],
    },
    scopeMetrics: [
      {
        scope: { name: "go.opentelemetry.io/contrib/instrumentation", version: "0.61.0" },
        metrics: Array.from({ length: metricsPerResource }, (_, metric) => {
          const isSum = metric % 2 === 1;
          const dataPoints = Array.from({ length: Math.min(pointsPerMetric, left) }, (_, point) => ({
            attributes: [
              text("http.request.method", point % 2 === 0 ? "GET" : "POST"),
              text("http.route", `/api/v1/items/{id}/parts/${point}`),
              { key: "http.response.status_code", value: { intValue: "200" } },
              text("server.address", "shop.example.com"),
            ],
            startTimeUnixNano: nanoseconds(timeMs - 3_600_000),
            timeUnixNano: nanoseconds(timeMs),
            asDouble: Math.floor(random() * 1e6) / 8,
          }));
          left -= dataPoints.length;
          const name = `http.server.measurement.${String(metric).padStart(2, "0")}`;
          return isSum
            ? { name, unit: "1", sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints } }
            : { name, unit: "s", gauge: { dataPoints } };
        }),
      },
    ],
  }));
  return { resourceMetrics };
}

/** The same in protobuf. */
export function otlpMetricsBody(options) {
  return encodeRequest("metrics", otlpMetricsRequest(options));
}
