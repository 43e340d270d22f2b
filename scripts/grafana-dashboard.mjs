// Writes packaging/grafana/vedette-dashboard.json, a Grafana dashboard on Vedette itself, from the table of panels below. With --check it writes nothing and exits with 1 where the file is another.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

const file = join(import.meta.dirname, "..", "packaging/grafana/vedette-dashboard.json");
const I = 'instance=~"$instance"';
const quantile = (q, metric) => `histogram_quantile(${q}, sum by (le) (rate(${metric}_bucket{${I}}[$__rate_interval])))`;
const rate = (metric, labels = "", by = "") => `sum${by === "" ? "" : ` by (${by})`} (rate(${metric}{${I}${labels}}[$__rate_interval]))`;
const last = (metric) => `${metric}{${I}}`;

/** Rows of panels: title, unit, and lines of legend and expression. */
const ROWS = [
  {
    title: "Is it well",
    panels: [
      [
        "Anomalies that are open",
        "none",
        [
          ["anomalies", last("vedette_anomalies_open")],
          ["alerts firing", last("vedette_alerts_firing")],
        ],
      ],
      [
        "Pages, an hour",
        "none",
        [
          ["pages", `sum (increase(vedette_pages_total{${I}}[1h]))`],
          ["held back", `sum (increase(vedette_pages_held_back_total{${I}}[1h]))`],
        ],
      ],
      [
        "Detection, bytes to stored anomaly",
        "s",
        [
          ["p50", quantile(0.5, "svc_detection_latency_seconds")],
          ["p99", quantile(0.99, "svc_detection_latency_seconds")],
        ],
      ],
      [
        "Cycles of the Watchdog, a minute",
        "none",
        [
          ["cycles", `60 * ${rate("vedette_watchdog_cycles_total")}`],
          ["failed", `60 * ${rate("vedette_watchdog_failures_total")}`],
        ],
      ],
    ],
  },
  {
    title: "What comes in",
    panels: [
      ["Records a second", "short", [["{{type}}, {{status}}", rate("svc_ingestion_events_total", "", "type, status")]]],
      ["Refused, by reason", "short", [["{{reason}}", rate("svc_validation_failures_total", "", "reason")]]],
      ["Dead letters", "short", [["held", last("svc_dlq_depth")]]],
      [
        "Requests, p99",
        "s",
        [
          [
            "{{endpoint}}",
            `histogram_quantile(0.99, sum by (le, endpoint) (rate(svc_http_request_duration_seconds_bucket{${I}}[$__rate_interval])))`,
          ],
        ],
      ],
    ],
  },
  {
    title: "Who is told",
    panels: [
      ["Messages, by outcome", "short", [["{{notifier}}, {{outcome}}", rate("vedette_notifications_total", "", "notifier, outcome")]]],
      ["Messages that wait", "short", [["messages", last("vedette_outbox_depth")]]],
      ["Webhook attempts", "short", [["{{outcome}}", rate("vedette_webhook_attempts_total", "", "outcome")]]],
    ],
  },
  {
    title: "The machine",
    panels: [
      ["CPU", "percentunit", [["cores", rate("process_cpu_seconds_total")]]],
      ["Resident memory", "bytes", [["resident", last("process_resident_memory_bytes")]]],
      [
        "Disk",
        "bytes",
        [
          ["{{store}}", last("vedette_store_used_bytes")],
          ["log", last("vedette_log_kept_bytes")],
          ["free", last("vedette_disk_free_bytes")],
        ],
      ],
      [
        "Store commits",
        "s",
        [
          ["longest since the start", last("vedette_store_commit_max_seconds")],
          ["time in commits, share", rate("vedette_store_commit_seconds_total")],
        ],
      ],
      [
        "Backup, age",
        "s",
        [["since the last", `time() - vedette_backup_timestamp_seconds{${I}} and vedette_backup_timestamp_seconds{${I}} > 0`]],
      ],
    ],
  },
];

const WIDTH = 24;
const HEIGHT = 8;
// A variable of the dashboard, which Grafana fills in.
const source = { type: "prometheus", uid: `$\{datasource}` };

function panelsOf() {
  const panels = [];
  let y = 0;
  for (const { title, panels: row } of ROWS) {
    panels.push({ type: "row", title, collapsed: false, gridPos: { x: 0, y: y++, w: WIDTH, h: 1 }, panels: [], id: panels.length + 1 });
    const w = Math.floor(WIDTH / Math.min(row.length, 4));
    for (const [place, [name, unit, lines]] of row.entries()) {
      panels.push({
        type: "timeseries",
        title: name,
        datasource: source,
        gridPos: { x: (place % 4) * w, y: y + HEIGHT * Math.floor(place / 4), w, h: HEIGHT },
        fieldConfig: { defaults: { unit, custom: { fillOpacity: 8, showPoints: "never" } }, overrides: [] },
        options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
        targets: lines.map(([legendFormat, expr], target) => ({
          refId: String.fromCharCode(65 + target),
          expr,
          legendFormat,
          datasource: source,
        })),
        id: panels.length + 1,
      });
    }
    y += HEIGHT * Math.ceil(row.length / 4);
  }
  return panels;
}

const dashboard = {
  title: "Vedette",
  uid: "vedette",
  tags: ["vedette"],
  schemaVersion: 39,
  editable: true,
  refresh: "30s",
  time: { from: "now-6h", to: "now" },
  templating: {
    list: [
      { type: "datasource", name: "datasource", query: "prometheus", label: "Prometheus" },
      {
        type: "query",
        name: "instance",
        label: "Server",
        datasource: source,
        query: { query: "label_values(vedette_build_info, instance)", refId: "instances" },
        includeAll: true,
        multi: true,
        refresh: 2,
      },
    ],
  },
  panels: panelsOf(),
};

const text = `${JSON.stringify(dashboard, null, 2)}\n`;
if (!process.argv.includes("--check")) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
} else if (!existsSync(file) || readFileSync(file, "utf8") !== text) {
  console.error("packaging/grafana/vedette-dashboard.json is stale: node scripts/grafana-dashboard.mjs");
  process.exitCode = 1;
}
