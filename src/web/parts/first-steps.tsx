// What to do where nothing has come yet: three ways to send, each a line to copy.
import { CopyButton, Panel } from "./basics.tsx";

/** Lines with the address of this server. */
function ways(): ReadonlyArray<{ readonly title: string; readonly about: string; readonly text: string }> {
  const base = `${location.origin}${location.pathname}`.replace(/\/$/, "");
  const sample = '{"service_id":"checkout","metric_name":"queue.depth","value":17,"timestamp":"\'$(date -u +%FT%TZ)\'"}';
  return [
    {
      title: "A value",
      about: "With curl, from anywhere.",
      text: `curl -H 'Content-Type: application/json' \\\n  -d '${sample}' \\\n  ${base}/api/v1/telemetry`,
    },
    {
      title: "Prometheus",
      about: "In prometheus.yml; every series is judged as it comes.",
      text: `remote_write:\n  - url: ${base}/api/v1/rwmetrics/write`,
    },
    {
      title: "OpenTelemetry",
      about: "Collector or SDK: metrics, traces and logs.",
      text: `export OTEL_EXPORTER_OTLP_ENDPOINT=${base}\nexport OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf`,
    },
  ];
}

export function FirstSteps() {
  return (
    <Panel title="Send something, or watch a demonstration">
      <ol class="steps">
        {ways().map(({ title, about, text }) => (
          <li key={title}>
            <h3>{title}</h3>
            <p class="soft">{about}</p>
            <pre>{text}</pre>
            <CopyButton text={text} />
          </li>
        ))}
        <li>
          <h3>Demonstration</h3>
          <p class="soft">Made-up services with faults in them; the first anomaly appears here within seconds.</p>
          <pre>make demo</pre>
          <CopyButton text="make demo" />
        </li>
      </ol>
    </Panel>
  );
}
