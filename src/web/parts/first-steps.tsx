// What to do where nothing has come yet: three ways to send, each a line to copy.
import { useAnswer } from "../client/answers.ts";
import { link } from "../state/place.ts";
import { plural } from "../view/number-text.ts";
import type { Status } from "../view/shapes.ts";
import { CopyButton, Panel } from "./basics.tsx";

/** Lines with the address of this server. */
function ways(needsKey: boolean): ReadonlyArray<{ readonly title: string; readonly about: string; readonly text: string }> {
  const base = `${location.origin}${location.pathname}`.replace(/\/$/, "");
  const sample = '{"service_id":"checkout","metric_name":"queue.depth","value":17,"timestamp":"\'$(date -u +%FT%TZ)\'"}';
  const header = needsKey ? ` -H 'X-API-Key: YOUR_KEY' \\\n ` : "";
  return [
    {
      title: "A value",
      about: "With curl, from anywhere.",
      text: `curl${header} -H 'Content-Type: application/json' \\\n  -d '${sample}' \\\n  ${base}/api/v1/telemetry`,
    },
    {
      title: "Prometheus",
      about: "In prometheus.yml; every series is judged as it comes.",
      text: `remote_write:\n  - url: ${base}/api/v1/rwmetrics/write${needsKey ? "\n    authorization:\n      credentials: YOUR_KEY" : ""}`,
    },
    {
      title: "OpenTelemetry",
      about: "Collector or SDK: metrics, traces and logs.",
      text: `export OTEL_EXPORTER_OTLP_ENDPOINT=${base}\nexport OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf${needsKey ? "\nexport OTEL_EXPORTER_OTLP_HEADERS=X-API-Key=YOUR_KEY" : ""}`,
    },
  ];
}

export function FirstSteps() {
  const status = useAnswer<Status>("GET /api/v1/status", {}, 5_000).data;
  const series = status?.watchdog.metrics_monitored ?? 0;
  const needsKey = status?.ingest_auth === "required";
  return (
    <Panel title="Send something, or watch a demonstration">
      {status !== undefined && (
        <p class={series > 0 ? "note good" : "note"} role="status">
          {series > 0 ? (
            <>
              Something has come: {plural(series, "series", "series")}. <a href={link(["services"])}>Look at it</a>
            </>
          ) : (
            "Nothing has come so far; this line says so once it has."
          )}
        </p>
      )}
      {needsKey && (
        <p class="note">
          Senders need a key here: <a href={link(["keys"], { new: "1" })}>make one</a> of scope ingestion and put it in place of YOUR_KEY.
        </p>
      )}
      <ol class="steps">
        {ways(needsKey).map(({ title, about, text }) => (
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
          <pre>vedette demo</pre>
          <CopyButton text="vedette demo" />
          <p class="faint">
            From a checkout: <code>make demo</code>
          </p>
        </li>
      </ol>
    </Panel>
  );
}
