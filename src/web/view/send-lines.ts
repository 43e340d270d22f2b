// Lines that send something to a server, to be copied.

/** A way to send, with its line. */
export interface SendLine {
  readonly title: string;
  readonly about: string;
  readonly text: string;
}

/** What stands in a line where the sender's key goes. */
export const KEY_TO_COME = "YOUR_KEY";

/** Ways to send to the server at `base`; with a key where senders need one. */
export function sendLines(base: string, needsKey: boolean): readonly SendLine[] {
  const sample = '{"service_id":"checkout","metric_name":"queue.depth","value":17,"timestamp":"\'$(date -u +%FT%TZ)\'"}';
  const header = needsKey ? ` -H 'X-API-Key: ${KEY_TO_COME}' \\\n ` : "";
  const credentials = needsKey ? `\n    authorization:\n      credentials: ${KEY_TO_COME}` : "";
  const headers = needsKey ? `\nexport OTEL_EXPORTER_OTLP_HEADERS=X-API-Key=${KEY_TO_COME}` : "";
  return [
    {
      title: "A value",
      about: "With curl, from anywhere.",
      text: `curl${header} -H 'Content-Type: application/json' \\\n  -d '${sample}' \\\n  ${base}/api/v1/telemetry`,
    },
    {
      title: "Prometheus",
      about: "In prometheus.yml; every series is judged as it comes.",
      text: `remote_write:\n  - url: ${base}/api/v1/rwmetrics/write${credentials}`,
    },
    {
      title: "OpenTelemetry",
      about: "Collector or SDK: metrics, traces and logs.",
      text: `export OTEL_EXPORTER_OTLP_ENDPOINT=${base}\nexport OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf${headers}`,
    },
  ];
}
