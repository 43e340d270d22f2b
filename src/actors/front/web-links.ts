// What GET / tells a client that shows no pages: where everything is, in lines that can be copied.
import type { HttpHeaders } from "../../adapters/http/http-server.ts";

const TEXT = `Vedette, anomaly detection and incident analysis. Open this address in a browser for the user interface.

/docs                       the API, for people
/openapi.json               the API, for machines
/healthz  /readyz           the process
/metrics                    self-telemetry for Prometheus
/api/v1/status              what runs and what does not
/api/v1/anomalies           what was found, newest first
/api/v1/alerts              what people are notified of
/api/v1/stream              both as server-sent events, as they come

Send a value:  curl -H 'Content-Type: application/json' -d '{"service_id":"checkout","metric_name":"queue.depth","value":17,"timestamp":"2026-01-31T12:00:00Z"}' <this address>/api/v1/telemetry
`;

const HEADERS: HttpHeaders = [
  ["Content-Type", "text/plain; charset=utf-8"],
  ["Vary", "Accept"],
];

/** The page of links. */
export const LINKS = { headers: HEADERS, body: TEXT } as const;
