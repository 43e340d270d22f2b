// Writes the tables of docs/reference that are made from the source: settings (load-config.ts), commands (command-table.ts), endpoints (endpoints.ts) and metrics (core/telemetry), as built in dist/.
// usage: node scripts/reference.mjs [--check], after `make build`; with --check it writes nothing and exits with 1 when a page is stale
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const access = {
  public: "anyone",
  viewer: "viewer",
  ingest: "`INGEST_AUTH`",
  operator: "operator",
  admin: "admin",
  super_admin: "super-admin",
  system: "system",
};

/** One line of a Markdown table. */
function row(cells) {
  return `| ${cells.map((cell) => String(cell).replaceAll("|", "\\|")).join(" | ")} |`;
}

function table(heads, rows) {
  return [row(heads), row(heads.map(() => "---")), ...rows.map(row)].join("\n");
}

function values(setting) {
  if (setting.kind === "number") return `${setting.whole ? "" : "real, "}${setting.least} to ${setting.most}`;
  if (setting.kind === "secret") return `(secret; also \`${setting.name}_FILE\`)`;
  return setting.choices === undefined ? "text" : setting.choices.map((choice) => `\`${choice}\``).join(", ");
}

function settingsTable(settings) {
  const rows = settings.map((setting) => [`\`${setting.name}\``, `\`${setting.initial}\``, values(setting), setting.meaning]);
  return table(["Variable", "Default", "Values", "Meaning"], rows);
}

/** Bytes that a body may have, as people say them. */
function bytesText({ body, takes, bodyBytesMax }, { BODY_BYTES_MAX, OBJECT_BODY_BYTES_MAX }) {
  if (body === undefined && takes === undefined) return "-";
  const kib = (bodyBytesMax ?? (takes === undefined ? OBJECT_BODY_BYTES_MAX : BODY_BYTES_MAX)) / 1024;
  return kib % 1024 === 0 ? `${kib / 1024} MiB` : `${kib} KiB`;
}

function endpointsTable(endpoints, limits) {
  const rows = endpoints.map((endpoint) => {
    const { method, path, access: who, query, summary } = endpoint;
    const parameters = Object.keys(query.shape).map((name) => `\`${name}\``);
    return [`\`${method} ${path}\``, access[who], parameters.join(", ") || "-", bytesText(endpoint, limits), summary];
  });
  return table(["Endpoint", "Open to", "Query parameters", "Body up to", "What it does"], rows);
}

/** Base units that the end of a name may say, before `_total`. */
const UNITS = ["seconds", "bytes", "ratio"];

/** Returns the unit of a metric; undefined where it counts things. */
function unitOf({ name }) {
  const bare = name.replace(/_total$/, "");
  return UNITS.find((unit) => bare.endsWith(`_${unit}`));
}

function metricsTable({ ENGINE_METRICS, COORDINATOR_METRICS, FRONT_METRICS, CONTRACT_METRICS, LABELLED_METRICS, HISTOGRAMS, partsOf }) {
  const slots = [ENGINE_METRICS, COORDINATOR_METRICS].flatMap((table) =>
    Object.values(table).flatMap((slot) => partsOf(slot).map(({ metric }) => metric)),
  );
  const others = [FRONT_METRICS, CONTRACT_METRICS, LABELLED_METRICS, HISTOGRAMS].flatMap((each) => Object.values(each));
  const alerts = alertsByMetric();
  const metrics = [...new Set([...slots, ...others])].sort((a, b) => (a.name < b.name ? -1 : 1));
  const rows = metrics.map((metric) => {
    const labels = metric.labels.map((label) => `\`${label}\``).join(", ");
    return [
      `\`${metric.name}\``,
      metric.type,
      unitOf(metric) ?? "-",
      labels || "-",
      metric.help,
      alerts.get(metric.name)?.join(", ") ?? "-",
    ];
  });
  return table(["Metric", "Type", "Unit", "Labels", "What it is", "Alert"], rows);
}

/** Names of the alerts of packaging/prometheus/vedette-rules.yml by the metrics that they look at. */
function alertsByMetric() {
  const alerts = new Map();
  for (const [, alert, expression] of readFileSync("packaging/prometheus/vedette-rules.yml", "utf8").matchAll(
    /- alert: (\w+)\n\s+expr: (.*)/g,
  )) {
    for (const name of new Set(expression.match(/\b(?:vedette|svc)_\w+/g) ?? [])) {
      const metric = name.replace(/_bucket$/, "");
      alerts.set(metric, [...(alerts.get(metric) ?? []), alert]);
    }
  }
  return alerts;
}

/** A section a command: what it does and its options. */
function commandSections({ COMMAND_TABLE, COMMON_OPTIONS, optionForm, synopsis }) {
  const options = (list) =>
    table(
      ["Option", "Meaning"],
      list.map((option) => [`\`${optionForm(option)}\``, option.meaning]),
    );
  const sections = COMMAND_TABLE.map((entry) => {
    const own = entry.options.length === 0 ? "" : `\n\n${options(entry.options)}`;
    return `### ${entry.name}\n\n\`${synopsis(entry)}\`\n\n${entry.summary}.${own}`;
  });
  return [...sections, `### Options of every command\n\n${options(COMMON_OPTIONS)}`].join("\n\n");
}

/** Modules of dist/ that the tables are made from. */
const SOURCES = [
  "core/config/load-config",
  "core/config/limits",
  "core/config/body-limits",
  "api/endpoints",
  "cli/command-table",
  "cli/help",
  ...["metric", "engine-metrics", "coordinator-metrics", "front-metrics"].map((name) => `core/telemetry/${name}`),
];

/** The pages and what is made of each. */
const PAGES = [
  ["docs/reference/settings.md", ({ SETTINGS }) => settingsTable(SETTINGS)],
  ["docs/reference/endpoints.md", ({ ENDPOINTS, ...limits }) => endpointsTable(ENDPOINTS, limits)],
  ["docs/reference/metrics.md", metricsTable],
  ["docs/reference/commands.md", commandSections],
];
const BEGIN = "<!-- begin, made by scripts/reference.mjs -->";
const END = "<!-- end -->";

/** The page with `text` between its markers. */
function replaceTable(path, page, text) {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error(`${path} has nothing between "${BEGIN}" and "${END}"`);
  return `${page.slice(0, from + BEGIN.length)}\n${text}\n${page.slice(to)}`;
}

async function main() {
  const sources = SOURCES.map((path) => new URL(`../dist/${path}.js`, import.meta.url));
  if (!sources.every((source) => existsSync(source))) throw new Error("dist/ is not built: run `make build` first");
  const modules = Object.assign({}, ...(await Promise.all(sources.map((source) => import(source.href)))));
  for (const [path, make] of PAGES) {
    const before = readFileSync(path, "utf8");
    const after = replaceTable(path, before, make(modules));
    if (before === after) continue;
    if (!process.argv.includes("--check")) writeFileSync(path, after);
    else {
      console.log(`${path} is stale: run node scripts/reference.mjs`);
      process.exitCode = 1;
    }
  }
}

await main().catch((error) => {
  console.log(error.message);
  process.exitCode = 1;
});
