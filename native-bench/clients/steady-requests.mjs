// What a tenant with ordinary services sends and asks, with something new now and then: a service with logs, one with spans.

/** Requests a second of the steady part. */
export const PLANNED = { telemetryPerSecond: 100, queriesPerSecond: 50 };
const services = 10;
const metrics = ["latency", "load"];
/** Of these requests one has the logs of a service that is new, one the spans of one. */
const newEvery = 50;
const records = "/api/v1/telemetry/batch";

/** Requests of one phase; services that are new in it bear its name. */
export function steadyRequests(/** @type {string} */ phase) {
  let [fresh, sent] = [0, 0];
  /** Times of a series never come twice: a repeated sample is cheaper. */
  const batch = () => {
    const timestamp = new Date(Date.now() + (sent++ % 50)).toISOString();
    const rows = Array.from({ length: services }, (_, service) =>
      metrics.map((metric_name) => ({ service_id: `acme-${service}`, metric_name, value: 100 + (sent % 7), timestamp })),
    );
    return { method: "POST", path: records, body: JSON.stringify(rows.flat()) };
  };
  const logs = () => {
    const row = { service_id: `acme-${phase}-logs-${fresh++}`, type: "log", body: "went well", timestamp: new Date().toISOString() };
    return { method: "POST", path: records, body: JSON.stringify([row]) };
  };
  const spans = () => ({ method: "POST", path: "/v1/traces", body: spansOf([`acme-${phase}-spans-${fresh++}`]) });
  const queries = [
    "/api/v1/series?limit=50",
    `/api/v1/series/data?service_id=acme-0&metric_name=${metrics[0]}`,
    "/api/v1/series?limit=50&service_id=acme-1",
    "/api/v1/anomalies?limit=50",
  ];
  return {
    telemetry: (i) => (i % newEvery === 7 ? logs() : i % newEvery === 31 ? spans() : batch()),
    more: batch,
    query: (i) => ({ method: "GET", path: queries[i % queries.length] }),
    /** Services that were new, each of which has to have its series. */
    series: () => fresh,
  };
}

/** OTLP JSON with a server span of each service. */
export function spansOf(/** @type {string[]} */ names) {
  const ns = (ms) => `${ms}000000`;
  const nowMs = Date.now();
  const hex = (length) => Array.from({ length }, () => Math.floor(Math.random() * 16).toString(16)).join("");
  const resourceSpans = names.map((name) => ({
    resource: { attributes: [{ key: "service.name", value: { stringValue: name } }] },
    scopeSpans: [
      {
        spans: [
          { traceId: hex(32), spanId: hex(16), name: "call", kind: 2, startTimeUnixNano: ns(nowMs - 10), endTimeUnixNano: ns(nowMs) },
        ],
      },
    ],
  }));
  return JSON.stringify({ resourceSpans });
}
