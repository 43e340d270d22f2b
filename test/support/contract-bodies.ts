// What the contract tests send by OTLP, and the service that all of it is about.
export const SERVICE = "contract";

const RESOURCE = { attributes: [{ key: "service.name", value: { stringValue: SERVICE } }] };
const nowNanos = () => `${Date.now()}000000`;
export const OTLP_METRICS = {
  resourceMetrics: [
    {
      resource: RESOURCE,
      scopeMetrics: [{ metrics: [{ name: "g", gauge: { dataPoints: [{ asDouble: 1, timeUnixNano: nowNanos() }] } }] }],
    },
  ],
};
export const REFUSED_METRICS = {
  resourceMetrics: [
    {
      resource: RESOURCE,
      scopeMetrics: [{ metrics: [{ name: "g", gauge: { dataPoints: [{ asDouble: 1, timeUnixNano: "1000000000000" }] } }] }],
    },
  ],
};
export const OTLP_SPANS = {
  resourceSpans: [
    {
      resource: RESOURCE,
      scopeSpans: [
        {
          spans: [
            {
              traceId: "0af7651916cd43dd8448eb211c80319c",
              spanId: "b7ad6b7169203331",
              name: "GET /",
              kind: 2,
              startTimeUnixNano: nowNanos(),
              endTimeUnixNano: nowNanos(),
            },
          ],
        },
      ],
    },
  ],
};
export const OTLP_LOGS = {
  resourceLogs: [
    { resource: RESOURCE, scopeLogs: [{ logRecords: [{ timeUnixNano: nowNanos(), body: { stringValue: "hello" }, severityNumber: 9 }] }] },
  ],
};
