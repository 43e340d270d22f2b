// OTLP metrics bodies as a collector sends them: resources of seven attributes, gauges and cumulative sums in turn, 20 points a metric, four attributes a
// point, about 190 bytes each in protobuf.
import { attribute, double, fixed, message, string } from "./protobuf-fields.mjs";
import { seededRandom } from "./series-labels.mjs";

const pointsPerMetric = 20;
const metricsPerResource = 25;
const pointsPerResource = pointsPerMetric * metricsPerResource;

const text = (key, stringValue) => ({ key, value: { stringValue } });
/** Every second metric of a resource, of which each has as many gauges as sums but for the last. */
const isSum = (metric) => (metric % metricsPerResource) % 2 === 1;
/** Of the point in a round: a gauge's lies from 0 to 1,000, a sum grows by up to 2,000. */
const valueAt = (sum, round, random) => (sum ? round * 1000 : 0) + random() * 1000;
const nanoseconds = (ms) => `${Math.floor(ms)}000000`;

/** A request of `points` number points at one time, in OTLP's JSON form; resources are numbered from `firstResource`. */
export function otlpMetricsRequest({ points, timeMs, startMs = timeMs - 3_600_000, firstResource = 0, round = 0, seed = 1 }) {
  const random = seededRandom(seed);
  const resources = Math.ceil(points / pointsPerResource);
  let left = points;
  const point = (place, sum) => ({
    attributes: [
      text("http.request.method", place % 2 === 0 ? "GET" : "POST"),
      text("http.route", `/api/v1/items/{id}/parts/${place}`),
      { key: "http.response.status_code", value: { intValue: "200" } },
      text("server.address", "shop.example.com"),
    ],
    startTimeUnixNano: nanoseconds(startMs),
    timeUnixNano: nanoseconds(timeMs),
    asDouble: valueAt(sum, round, random),
  });
  const metric = (place) => {
    const dataPoints = Array.from({ length: Math.min(pointsPerMetric, left) }, (_, i) => point(i, isSum(place)));
    left -= dataPoints.length;
    const name = `http.server.measurement.${String(place).padStart(2, "0")}`;
    const data = isSum(place) ? { sum: { dataPoints, aggregationTemporality: 2, isMonotonic: true } } : { gauge: { dataPoints } };
    return { name, unit: "1", ...data };
  };
  const resource = (number) => ({
    attributes: [
      text("service.name", `checkout-service-${number % 7}`),
      text("service.version", "1.4.2"),
      text("service.instance.id", `checkout-7c9f-${number}`),
      text("deployment.environment.name", "production"),
      text("host.name", `node-${number}`),
      text("telemetry.sdk.name", "opentelemetry"),
      text("telemetry.sdk.language", "go"),
    ],
  });
  const scope = { name: "go.opentelemetry.io/contrib/instrumentation", version: "0.61.0" };
  const resourceMetrics = Array.from({ length: resources }, (_, i) => ({
    resource: resource(firstResource + i),
    scopeMetrics: [{ scope, metrics: Array.from({ length: metricsPerResource }, (_, place) => metric(place)) }],
  }));
  return { resourceMetrics };
}

/** Such requests in protobuf over 10,000 streams; a body always holds the same streams, one second after the body before. */
export function* otlpMetricsBodies({ points, perRequest = 2000, streams = 10_000, endMs }) {
  const shards = streams / perRequest;
  const rounds = Math.ceil(points / streams);
  const random = seededRandom(45);
  const templates = Array.from({ length: shards }, (_, shard) => {
    const firstResource = (shard * perRequest) / pointsPerResource;
    return findPoints(encodeMetrics(otlpMetricsRequest({ points: perRequest, timeMs: endMs, firstResource, seed: shard + 1 })));
  });
  for (let round = 0; round < rounds; round++) {
    const time = BigInt(endMs - (rounds - 1 - round) * 1000) * 1_000_000n;
    for (let shard = 0; shard < shards; shard++) {
      const { body, times, values } = templates[shard];
      const bytes = Buffer.from(body);
      for (const at of times) bytes.writeBigUInt64LE(time, at);
      for (const [place, at] of values.entries())
        bytes.writeDoubleLE(valueAt(isSum(Math.floor(place / pointsPerMetric)), round, random), at);
      yield { shard, samples: perRequest, bytes };
    }
  }
}

/** The same in JSON. */
export function* otlpMetricsJsonBodies({ points, perRequest = 2000, streams = 10_000, endMs }) {
  const shards = streams / perRequest;
  const rounds = Math.ceil(points / streams);
  for (let round = 0; round < rounds; round++) {
    const timeMs = endMs - (rounds - 1 - round) * 1000;
    for (let shard = 0; shard < shards; shard++) {
      const firstResource = (shard * perRequest) / pointsPerResource;
      const request = otlpMetricsRequest({
        points: perRequest,
        timeMs,
        startMs: endMs - 3_600_000,
        firstResource,
        round,
        seed: round * shards + shard + 1,
      });
      yield { shard, samples: perRequest, bytes: Buffer.from(JSON.stringify(request)) };
    }
  }
}

/** The request in protobuf, with fields in the order of their numbers. */
export function encodeMetrics({ resourceMetrics }) {
  return Buffer.concat(
    resourceMetrics.map(({ resource, scopeMetrics: [{ scope, metrics }] }) =>
      message(1, [
        message(
          1,
          resource.attributes.map((each) => attribute(1, each)),
        ),
        message(2, [message(1, [string(1, scope.name), string(2, scope.version)]), ...metrics.map(encodeMetric)]),
      ]),
    ),
  );
}

function encodeMetric({ name, unit, gauge, sum }) {
  const { dataPoints } = gauge ?? sum;
  const points = dataPoints.map((point) =>
    message(1, [
      fixed(2, BigInt(point.startTimeUnixNano)),
      fixed(3, BigInt(point.timeUnixNano)),
      double(4, point.asDouble),
      ...point.attributes.map((each) => attribute(7, each)),
    ]),
  );
  const flags = sum === undefined ? [] : [Buffer.from([0x10, sum.aggregationTemporality, 0x18, 1])];
  return message(2, [string(1, name), string(3, unit), message(sum === undefined ? 5 : 7, [...points, ...flags])]);
}

/** Where the times and values of a body's points stand: behind their tags, which follow the start time's eight bytes. */
function findPoints(body) {
  const times = [];
  const values = [];
  for (let at = 0; at + 27 <= body.length; at++) {
    if (body[at] !== 0x11 || body[at + 9] !== 0x19 || body[at + 18] !== 0x21) continue;
    times.push(at + 10);
    values.push(at + 19);
    at += 26;
  }
  return { body, times, values };
}
