// `make check`: compares what the server says of its API with the snapshots in schemas/. `--write` renews them. Run with scripts/typescript-loader.mjs.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { openApiDocument } from "../src/api/openapi/document.ts";
import { SchemaCollector } from "../src/api/openapi/json-schema.ts";
import { STREAM_EVENTS } from "../src/api/shapes/stream-events.ts";

const root = join(import.meta.dirname, "..");
const command = "node --import ./scripts/typescript-loader.mjs scripts/schema-snapshots.mjs --write";

/** Contents by path. */
function snapshots() {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  return { "schemas/openapi.json": openApi(version), ...Object.fromEntries(Object.entries(STREAM_EVENTS).map(eventSchema)) };
}

function openApi(version) {
  const steps = openApiDocument(version);
  for (let step = steps.next(); ; step = steps.next()) if (step.done) return step.value;
}

/** A JSON Schema that stands alone: its own definitions beside it. */
function eventSchema([name, shape]) {
  const schemas = new SchemaCollector();
  const schema = schemas.output(shape);
  const about = { $schema: "https://json-schema.org/draft/2020-12/schema", title: `data of the event ${name} of /api/v1/stream` };
  const local = JSON.stringify({ ...about, ...schema, $defs: schemas.components }).replaceAll("#/components/schemas/", "#/$defs/");
  return [`schemas/events/${name}.schema.json`, JSON.parse(local)];
}

function read(path) {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

const { values } = parseArgs({ options: { write: { type: "boolean", default: false } } });
for (const [path, content] of Object.entries(snapshots())) {
  const text = `${JSON.stringify(content, null, 2)}\n`;
  const file = join(root, path);
  if (values.write) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } else if (read(file) !== text) {
    console.log(`${path} is not what the server says now. Where the change is wanted: ${command}`);
    process.exitCode = 1;
  }
}
