// Writes the tables of README.md that are made from the source: settings (load-config.ts) and endpoints (endpoints.ts), as built in dist/.
// usage: node scripts/readme-sections.mjs [--check], after `make build`; with --check it writes nothing and exits with 1 when README.md is stale
import { existsSync, readFileSync, writeFileSync } from "node:fs";

const readmePath = "README.md";
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

function endpointsTable(endpoints) {
  const rows = endpoints.map(({ method, path, access: who, query, summary }) => {
    const parameters = Object.keys(query.shape).map((name) => `\`${name}\``);
    return [`\`${method} ${path}\``, access[who], parameters.join(", ") || "-", summary];
  });
  return table(["Endpoint", "Open to", "Query parameters", "What it does"], rows);
}

/** Puts `text` between the markers of a section. */
function replaceSection(readme, name, text) {
  const [begin, end] = [`<!-- ${name}: begin, made by scripts/readme-sections.mjs -->`, `<!-- ${name}: end -->`];
  const from = readme.indexOf(begin);
  const to = readme.indexOf(end);
  if (from < 0 || to < from) throw new Error(`${readmePath} has no section between "${begin}" and "${end}"`);
  return `${readme.slice(0, from + begin.length)}\n${text}\n${readme.slice(to)}`;
}

async function main() {
  const config = new URL("../dist/core/config/load-config.js", import.meta.url);
  const api = new URL("../dist/api/endpoints.js", import.meta.url);
  if (!existsSync(config) || !existsSync(api)) throw new Error("dist/ is not built: run `make build` first");
  const [{ SETTINGS }, { ENDPOINTS }] = await Promise.all([import(config.href), import(api.href)]);
  const before = readFileSync(readmePath, "utf8");
  const withSettings = replaceSection(before, "settings", settingsTable(SETTINGS));
  const after = replaceSection(withSettings, "endpoints", endpointsTable(ENDPOINTS));
  const isStale = before !== after;
  if (!process.argv.includes("--check")) writeFileSync(readmePath, after);
  else if (isStale) {
    console.log(`${readmePath} is stale: run node scripts/readme-sections.mjs`);
    process.exitCode = 1;
  }
}

await main().catch((error) => {
  console.log(error.message);
  process.exitCode = 1;
});
