// What one may ask of the coordinator that is legal and as large as its endpoints take: imports, maps, rules, definitions, alerts, replays and the lists of it all.
import { ENDPOINTS } from "../../src/api/endpoints.ts";

const json = "application/json";
const hourMs = 3_600_000;
const time = (agoMs) => new Date(Date.now() - agoMs).toISOString();
const many = (count, make) => Array.from({ length: count }, (_, index) => make(index));
const filler = (length) => "lorem ipsum ".repeat(Math.ceil(length / 12)).slice(0, length);

/** @typedef {{what: string, method: string, path: string, body?: string, type?: string}} Ask */

/** Telemetry for what follows to be about: services, series and letters. */
export function* telemetryAsks() {
  const ask = (what, records) => ({ what, method: "POST", path: "/api/v1/telemetry/batch", body: JSON.stringify(records), type: json });
  for (let round = 0; round < 4; round++) {
    const at = time((4 - round) * 60_000);
    const metric = (index) => ({
      service_id: `service-${index % 1_000}`,
      type: "metric",
      metric_name: `metric_${index % 7}`,
      value: index,
      timestamp: at,
    });
    yield ask("metrics", many(5_000, metric));
  }
  const log = (index) => ({
    service_id: `service-${index % 1_000}`,
    type: "log",
    severity: "info",
    body: filler(400),
    timestamp: time(index),
  });
  yield ask("logs", many(5_000, log));
  const wrong = (index) => ({
    service_id: `service-${index % 10}`,
    type: "metric",
    metric_name: "late",
    value: "none",
    timestamp: time(0),
    attributes: { index: String(index), text: filler(200) },
  });
  for (let round = 0; round < 4; round++) yield ask("letters", many(2_500, wrong));
}

/** In the order in which they build on each other. */
export function* largeAsks() {
  yield* mapAsks();
  yield* catalogAsks();
  yield* configurationAsks();
  yield* alertAsks();
  yield* ruleAsks();
  yield* definitionAsks();
  yield* letterAsks();
  yield* listAsks();
}

function ask(what, method, path, value) {
  const body = value === undefined || typeof value === "string" ? value : JSON.stringify(value);
  return { what, method, path, body, type: json };
}

function* mapAsks() {
  const entry = (index) => ({
    service_id: `service-${index}`,
    tenant_id: `tenant-${index % 50}`,
    product_id: `product-${index % 100}`,
    custom_keys: Object.fromEntries(many(10, (key) => [`key_${key}`, `value ${index} of ${key} ${filler(20)}`])),
  });
  const map = { entries: many(10_000, entry) };
  yield ask("10,000 entries of the map", "PUT", "/api/v1/pillars/service-map", map);
  yield ask("the same once more", "PUT", "/api/v1/pillars/service-map", map);
}

function* catalogAsks() {
  const entity = (index, pad) => ({
    apiVersion: "backstage.io/v1alpha1",
    kind: "Component",
    metadata: { name: `service-${index}`, description: filler(pad), tags: ["java", "go"], annotations: { a: "b" } },
    spec: { type: "service", lifecycle: "production", owner: `team-${index % 40}` },
  });
  const yamlOf = ({ metadata, spec }) =>
    `apiVersion: backstage.io/v1alpha1\nkind: Component\nmetadata:\n  name: ${metadata.name}\n  description: ${metadata.description}\n  tags:\n    - java\n    - go\n  annotations:\n    a: b\nspec:\n  type: service\n  lifecycle: production\n  owner: ${spec.owner}\n`;
  const path = "/api/v1/atlas/import/catalog";
  const yaml = many(10_000, (index) => yamlOf(entity(index, 150))).join("---\n");
  yield {
    what: "a catalog of 10,000 entities in YAML, dry run",
    method: "POST",
    path: `${path}?dry_run=true`,
    body: yaml,
    type: "application/yaml",
  };
  yield { what: "a catalog of 10,000 entities in YAML", method: "POST", path, body: yaml, type: "application/yaml" };
  yield { what: "the same once more", method: "POST", path, body: yaml, type: "application/yaml" };
  const moved = many(10_000, (index) => ({ ...entity(index, 100), spec: { type: "service", owner: `group-${index % 30}` } }));
  yield ask("a catalog of 10,000 entities in JSON", "POST", path, moved);
  const large = `kind: API\nmetadata:\n  name: large\nspec:\n  definition: |\n${many(40_000, (line) => `    line ${line}: ${filler(60)}`).join("\n")}\n`;
  yield { what: "one entity of 3 MB in YAML", method: "POST", path, body: large, type: "application/yaml" };
  const flow = `kind: Component\nmetadata: {name: large, annotations: {${many(60_000, (key) => `k${key}: v${key}`).join(", ")}}}\nspec: {owner: a}\n`;
  yield { what: "one entity with 60,000 annotations in YAML", method: "POST", path, body: flow, type: "application/yaml" };
  yield { what: "lists within lists in YAML", method: "POST", path, body: `a: ${"[".repeat(100_000)}`, type: "application/yaml" };
  yield {
    what: "anchors in YAML",
    method: "POST",
    path,
    body: `a: &a [1,2,3]\n${many(100_000, (key) => `k${key}: *a`).join("\n")}\n`,
    type: "application/yaml",
  };
  yield { what: "many documents of a letter in YAML", method: "POST", path, body: "a\n---\n".repeat(600_000), type: "application/yaml" };
  yield { what: "an escaped text in YAML", method: "POST", path, body: `a: "${"\\u0041".repeat(600_000)}"`, type: "application/yaml" };
  yield { what: "a text of many lines in YAML", method: "POST", path, body: `a: ${"x\n ".repeat(1_000_000)}`, type: "application/yaml" };
}

/** Sections of the configuration at their most. */
function sections() {
  return {
    labels: many(10_000, (index) => ({ service_id: `service-${index}`, key: "team", value: `team-${index % 30}` })),
    detection_settings: many(5_000, (index) => ({ service_id: `service-${index}`, z_threshold: 4, minimum_traffic: index })),
    saturation_limits: many(10_000, (index) => ({
      service_id: `service-${index}`,
      metric: "heap_used_bytes",
      limit_value: 1e9 + index,
      unit: "bytes",
    })),
    service_map: many(10_000, (index) => ({
      service_id: `mapped-${index}`,
      tenant_id: "a",
      product_id: "b",
      custom_keys: { region: "eu" },
    })),
    inhibitions: many(100, inhibition),
    routing_rules: many(500, routingRule),
    webhooks: many(100, webhook),
    runbooks: many(100, (index) => runbook(index, 1_000)),
    page_budgets: many(1_000, (index) => ({ team: `team-${index}`, pages_per_week: index })),
    calendar: many(700, (day) => ({
      date: new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
      name: `day ${day}`,
      like: "weekend",
      yearly: false,
    })),
  };
}

function* configurationAsks() {
  const path = "/api/v1/config";
  const all = sections();
  for (const [name, entries] of Object.entries(all)) {
    yield ask(`${entries.length} ${name}, dry run`, "POST", `${path}?dry_run=true`, { format: 1, [name]: entries });
    yield ask(`${entries.length} ${name}`, "POST", path, { format: 1, [name]: entries });
  }
  yield ask("all sections at their most, once more", "POST", path, { format: 1, ...all });
  const wrong = {
    format: 1,
    labels: many(10_000, () => ({ a: 1 })),
    webhooks: many(10_000, () => ({})),
    runbooks: many(10_000, () => ({ id: "x", name: "y", steps: many(20, () => ({})) })),
  };
  yield ask("30,000 wrong entries", "POST", path, wrong);
  const deep = { format: 1, labels: [{ service_id: "a", key: "b", value: many(1_000, () => many(30, () => ({ a: [1] }))) }] };
  yield ask("an entry with much in it", "POST", path, deep);
  yield ask("the whole configuration", "GET", path);
}

function* alertAsks() {
  const alert = (index, count, length) => ({
    status: "firing",
    labels: {
      alertname: `alert ${index}`,
      service: `service-${index % 500}`,
      severity: "critical",
      ...Object.fromEntries(many(count, (key) => [`label_${key}`, filler(length)])),
    },
    annotations: { summary: filler(200), description: filler(400) },
    startsAt: time(index),
  });
  const path = "/api/v1/alerts/webhook";
  yield ask("2,000 alerts", "POST", path, { alerts: many(2_000, (index) => alert(index, 20, 20)) });
  yield ask("the same once more", "POST", path, { alerts: many(2_000, (index) => alert(index, 20, 20)) });
  yield ask("the same resolved", "POST", path, { alerts: many(2_000, (index) => ({ ...alert(index, 20, 20), status: "resolved" })) });
  yield ask("alerts with 100 labels", "POST", path, { alerts: many(1_500, (index) => alert(index, 100, 20)) });
  yield ask("one alert with 900 labels of 8 KB", "POST", path, { alerts: [alert(1, 900, 8_000)] });
}

function inhibition(index) {
  const matchers = many(10, (place) => ({ name: `label_${place}`, operator: "=~", value: `(value|other)-${index}-[a-z]+` }));
  return { source_matchers: matchers, target_matchers: matchers, equal: ["environment"], comment: filler(200) };
}

function routingRule(index) {
  const labels = Object.fromEntries(many(16, (key) => [`label_${key}`, `value ${index} ${filler(50)}`]));
  const channels = many(20, (place) => `email:person-${place}-${index}@example.com`);
  return { name: `rule ${index}`, priority: index, label_matchers: labels, service_pattern: null, channels };
}

function webhook(index) {
  return {
    name: `hook-${index}`,
    url: `https://hooks.example.com/${index}`,
    headers: Object.fromEntries(many(30, (key) => [`X-Header-${key}`, filler(500)])),
    pattern: {
      service_id_regex: `service-(${many(100, (name) => `${name}`).join("|")})`,
      environments: many(20, (name) => `environment-${name}`),
    },
  };
}

function runbook(index, length) {
  const step = (place) => ({
    name: `step ${place}`,
    type: "http",
    method: "POST",
    url: "https://tools.example.com/run",
    body: filler(length),
    headers: Object.fromEntries(many(20, (key) => [`X-Header-${key}`, filler(200)])),
  });
  return {
    id: `runbook-${index}`,
    name: `runbook ${index}`,
    steps: many(20, step),
    secrets: Object.fromEntries(many(16, (key) => [`secret_${key}`, filler(2_000)])),
  };
}

function* ruleAsks() {
  const rules = many(100, inhibition);
  const silence = (index) => ({
    matchers: many(16, (place) => ({ name: `label_${place}`, operator: "=~", value: `(a|b)+-${index}-${filler(30)}` })),
    starts_at: time(hourMs),
    ends_at: time(0),
  });
  const backtest = {
    since: time(24 * hourMs),
    until: time(0),
    settings: { z_threshold: 5 },
    silences: { add: many(100, silence) },
    inhibitions: { add: rules },
    routing: { add: many(100, routingRule) },
    incidents: many(500, (index) => ({ service_id: `service-${index}`, starts_at: time(2 * hourMs), ends_at: time(hourMs) })),
  };
  yield ask("a backtest of everything", "POST", "/api/v1/backtest", backtest);
  const matchers = many(20, (place) => ({ name: `label_${place}`, operator: "=~", value: `(a|b|c)+${filler(200)}[a-z]{1,50}` }));
  yield ask("a silence of 20 patterns", "POST", "/api/v1/silences", {
    matchers,
    starts_at: time(0),
    ends_at: time(-hourMs),
    comment: "many",
  });
  yield ask("an inhibition of patterns", "POST", "/api/v1/inhibitions", {
    source_matchers: matchers,
    target_matchers: matchers,
    equal: [],
  });
  const classes = many(20, (place) => ({ name: `label_${place}`, operator: "=~", value: `([a-z]{1,60}[0-9]{1,60}){1,${10 + place}}` }));
  yield ask("a silence of repeated patterns", "POST", "/api/v1/silences", {
    matchers: classes,
    starts_at: time(0),
    ends_at: time(-hourMs),
    comment: "many",
  });
  const wide = many(20, (place) => ({ name: `label_${place}`, operator: "=~", value: `(.*a){${12 + place}}` }));
  yield ask("a silence of wide patterns", "POST", "/api/v1/silences", {
    matchers: wide,
    starts_at: time(0),
    ends_at: time(-hourMs),
    comment: "many",
  });
  yield ask("the way of a message by 500 rules", "POST", "/api/v1/routing/test", {
    service_id: "service-1",
    severity: "high",
    environment: "production",
    labels: Object.fromEntries(many(60, (key) => [`label_${key}`, filler(200)])),
  });
}

function* definitionAsks() {
  yield ask("a runbook of 1 MB", "PUT", "/api/v1/runbooks/runbook-1", runbook(1, 16_000));
  const code = filler(60_000).replaceAll(" ", "_");
  yield ask("a webhook with a long transform", "POST", "/api/v1/webhooks", {
    ...webhook(1_000),
    name: "long",
    transform: { type: "jq", expression: `. as $${code} | .` },
  });
  const days = many(732, (day) => ({
    date: new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
    name: filler(60),
    like: "weekend",
  }));
  yield ask("732 known days", "PUT", "/api/v1/settings/calendar", { days });
}

function* letterAsks() {
  yield ask("a rehearsal of all letters", "POST", "/api/v1/dlq/replay", { filter: {}, dry_run: true });
  yield ask("a replay of all letters", "POST", "/api/v1/dlq/replay", { filter: {} });
  yield ask("a correction of 1 MB", "PUT", `/api/v1/dlq/${"0".repeat(44)}`, {
    service_id: "a",
    attributes: Object.fromEntries(many(1_000, (key) => [`key_${key}`, filler(1_000)])),
  });
}

/** Values of query parameters that ask for as much as there is. */
const WIDEST = {
  limit: "1000",
  service_id: "service-1",
  metric_name: "metric_1",
  metric: "metric_1",
  anomaly_id: "none",
};

/** Each list at its longest, and each other question. */
function* listAsks() {
  for (const endpoint of ENDPOINTS) {
    if (endpoint.method !== "GET" || endpoint.handledBy !== "coordinator") continue;
    const path = endpoint.path.replaceAll(/\{\w+\}/g, "none");
    for (const limit of ["1000", "100", undefined]) {
      const parameters = Object.entries(endpoint.query.def.shape).filter(
        ([name, shape]) => (name === "limit" && limit !== undefined) || !shape.isOptional(),
      );
      const query = new URLSearchParams(parameters.map(([name]) => [name, name === "limit" ? limit : (WIDEST[name] ?? "service-1")]));
      yield ask(`${endpoint.name}, ${limit ?? "no"} limit`, "GET", query.size === 0 ? path : `${path}?${query}`);
      if (!Object.hasOwn(endpoint.query.def.shape, "limit")) break;
    }
  }
  yield ask("calls of everything", "GET", "/api/v1/graph?depth=5&nodes=500");
  yield ask("services that match", "GET", "/api/v1/services?q=service&sort=name&limit=1000");
  yield ask("anomalies in buckets", "GET", `/api/v1/anomalies?buckets=100&since=${time(720 * hourMs)}&limit=1000`);
  yield ask("alerts in buckets", "GET", `/api/v1/alerts?buckets=100&since=${time(720 * hourMs)}&limit=1000`);
  yield ask("a backup", "POST", "/api/v1/backup", {});
}
