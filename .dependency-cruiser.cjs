// The floors of the tree (docs/ARCHITECTURE.md). A floor imports only floors below it; a room imports only rooms before it in its floor's row.
// An unlisted folder under src/ may import nothing: give it a place here first. Order and independence are all there is to edit.

/** Top floor first. `ordered`: a room may import the rooms before it. `apart`: rooms may not import each other, save `shared` ones. */
const floors = [
  { name: "main", path: "^src/(main|vedette|commands)\\.ts$", rooms: [] },
  {
    name: "actors",
    path: "^src/(actors|cli)/",
    apart: [
      "actors/front",
      "actors/engine",
      "actors/coordinator",
      "actors/training",
      "actors/notifier",
      "actors/backup",
      "actors/query",
      "cli",
    ],
    shared: [],
  },
  { name: "server", path: "^src/server/", rooms: [] },
  {
    name: "modules",
    path: "^src/modules/",
    // What all modules use, then the modules, each after those that it imports.
    // biome-ignore format: one row reads as an order
    ordered: [
      "state", "engines", "queries",
      "usage", "access", "labels", "silences", "dead-letters", "series", "records", "calls", "alerts", "anomalies", "alert-actions", "services", "pillars", "watchdog", "saturation", "prediction", "analysis", "models", "deliveries", "notification", "backtest", "ledger", "webhooks", "runbooks", "rules", "configuration", "backup", "status",
    ],
  },
  { name: "web", path: "^src/web/", rooms: [] },
  { name: "api", path: "^src/api/", rooms: [] },
  {
    name: "adapters",
    path: "^src/adapters/",
    apart: [
      "platform",
      "shared-memory",
      "threads",
      "http-client",
      "log",
      "storage",
      "picture",
      "http",
      "credentials",
      "telemetry",
      "notify",
      "webhooks",
      "sandbox",
      "rules",
    ],
    shared: ["platform", "shared-memory", "threads", "http-client"],
  },
  {
    name: "domain",
    path: "^src/domain/",
    // biome-ignore format: one row reads as an order
    ordered: ["calendar", "codec", "picture", "rollup", "kernel", "placement", "series", "access", "labels", "catalog", "otlp", "remote-write", "promql", "series-index", "rules", "distribution", "history", "window", "trace", "logs", "detection", "saturation", "forecast", "causality", "drift", "models", "prediction", "anomaly", "topology", "correlation", "rca", "alerting", "delivery", "notification", "webhooks", "runbooks", "pillars", "backtest"],
  },
  {
    name: "core",
    path: "^src/core/",
    ordered: ["time", "text", "hashing", "collections", "fairness", "faults", "telemetry", "layout", "protocol", "config"],
  },
];

/** Rooms inside an actor: a room imports the rooms before it; files beside the rooms come last. No two rooms import each other. */
const inside = [
  {
    name: "coordinator",
    path: "src/actors/coordinator/",
    // What puts the modules together, then what commits and steps them all.
    ordered: ["nouns", "commits", "loop"],
    known: [],
  },
  {
    name: "engine",
    path: "src/actors/engine/",
    // What all use, the shard and what steps beside it, a room for each way in, and the lane that takes them.
    // biome-ignore format: one row reads as an order
    ordered: [
      "report", "unit", "streams", "cold", "shard", "recovery", "queries", "watchdog",
      "spans", "logs", "distributions", "json", "remote-write", "otlp", "history",
      "ingest",
    ],
    known: [],
  },
  // What parts and pages share, then parts, pages, and what puts them together.
  { name: "web", path: "src/web/", ordered: ["view", "state", "client", "live", "parts", "pages", "app"], known: [] },
  { name: "engine-watchdog", path: "src/actors/engine/watchdog/", ordered: ["cycle", "passes", "pairs"], known: [] },
];

/** Things outside the project that one folder owns. */
const owned = [
  { name: "lmdb", to: "node_modules/lmdb/", owner: "^src/adapters/storage/" },
  { name: "uwebsockets", to: "node_modules/uWebSockets\\.js/", owner: "^src/adapters/http/" },
  { name: "koffi", to: "node_modules/koffi/", owner: "^src/adapters/platform/" },
  { name: "interpreters", to: "node_modules/(jq-wasm|quickjs-emscripten-core|@jitl|@pydantic)/", owner: "^src/adapters/sandbox/child/" },
  { name: "re2js", to: "node_modules/re2js/", owner: "^src/domain/(alerting/pattern|promql/labels)/" },
  { name: "yaml", to: "node_modules/yaml/", owner: "^src/domain/(catalog|rules/file)/" },
  { name: "pino", to: "node_modules/pino/", owner: "^src/adapters/telemetry/" },
  { name: "prom-client", to: "node_modules/prom-client/", owner: "^src/adapters/telemetry/" },
  { name: "thi-buffers", to: "node_modules/@thi[.]ng/", owner: "^src/core/collections/" },
  { name: "ml-matrix", to: "node_modules/ml-matrix/", owner: "^src/domain/detection/multivariate/" },
  { name: "protobufjs", to: "node_modules/protobufjs/", owner: "^src/(api|domain/remote-write|modules/state)/generated/" },
  { name: "flatbuffers", to: "node_modules/flatbuffers/", owner: "^src/domain/detection/multivariate/" },
  { name: "node-http", to: "^(node:)?(http|https|http2)$", owner: "^src/adapters/(http|notify)/" },
  { name: "undici", to: "node_modules/undici/", owner: "^src/adapters/http-client/" },
  { name: "nodemailer", to: "node_modules/nodemailer/", owner: "^src/adapters/notify/" },
  { name: "jose", to: "node_modules/jose/", owner: "^src/adapters/credentials/" },
  { name: "worker-threads", to: "^(node:)?worker_threads$", owner: "^src/adapters/threads/" },
];

/** Files that a process or a thread starts with: what none of them reaches only tests use. */
const entries = [
  "^src/(main|vedette)[.]ts$",
  "^src/actors/[^/]+/(worker|backup-process)[.]ts$",
  "^src/adapters/storage/store-scan-process[.]ts$",
  "^src/adapters/sandbox/child/runner[.]ts$",
  "^src/web/(main[.]tsx|live/stream-worker[.]ts)$",
];

const error = (name, comment, from, to) => ({ name, severity: "error", comment, from, to });
const roomPath = (floor, room) => (room.includes("/") || room === "cli" ? `^src/${room}/` : `^src/${floor.name}/${room}/`);

/** No floor imports one above it. */
function upward() {
  return floors.flatMap((floor, index) => {
    const above = floors.slice(0, index).map(({ path }) => path);
    if (above.length === 0) return [];
    return error(`upward-from-${floor.name}`, `${floor.name} imports only floors below it`, { path: floor.path }, { path: above });
  });
}

/** Inside an ordered floor nothing imports a later room; inside a floor of rooms apart nothing imports a neighbour. */
function sideways() {
  return floors.flatMap((floor) => {
    const rooms = floor.ordered ?? floor.apart ?? [];
    return rooms.flatMap((room, index) => {
      const barred = floor.ordered ? rooms.slice(index + 1) : rooms.filter((other) => other !== room && !floor.shared.includes(other));
      if (barred.length === 0) return [];
      const comment = floor.ordered ? `order in ${floor.name}: ${rooms.join(" < ")}` : `rooms of ${floor.name} do not import each other`;
      const to = { path: barred.map((other) => roomPath(floor, other)) };
      return error(`sideways-from-${room.replace("/", "-")}`, comment, { path: roomPath(floor, room) }, to);
    });
  });
}

/** The order of the rooms inside an actor, with what is known to stand against it. */
function insideActors() {
  return inside.flatMap(({ name, path, ordered, known }) => {
    const files = (pattern) => `^${path}(${pattern})[.]ts$`;
    const rooms = [...ordered.map((room) => `^${path}${room}/`), files("[^/]+")];
    const comment = `order in ${name}: ${ordered.join(" < ")} < files beside them`;
    const backward = ordered.map((room, index) => {
      const from = { path: rooms[index], pathNot: known.map((one) => files(one.from)) };
      return error(`backward-in-${name}-from-${room}`, comment, from, { path: rooms.slice(index + 1) });
    });
    const beyondKnown = known.map(({ from, to }) => {
      const room = ordered.indexOf(from.split("/")[0]);
      const barred = { path: rooms.slice(room + 1), pathNot: files(to) };
      return error(`backward-in-${name}-from-${from.replace("/", "-")}`, comment, { path: files(from) }, barred);
    });
    const unlistedRoom = error(`unlisted-room-in-${name}`, comment, {}, { path: `^${path}`, pathNot: rooms });
    return [...backward, ...beyondKnown, unlistedRoom];
  });
}

/** Every file stands in a listed room (`api` may have any), else the rules above would not see it. */
function unlisted() {
  const known = floors.flatMap((floor) => {
    const rooms = floor.ordered ?? floor.apart;
    return rooms ? rooms.map((room) => roomPath(floor, room)) : [floor.path];
  });
  const comment = "this folder has no floor yet: list it in .dependency-cruiser.cjs";
  return [
    error("unlisted-folder", comment, { path: "^src/", pathNot: known }, {}),
    error("unlisted-folder-imported", comment, {}, { path: "^src/", pathNot: known }),
  ];
}

module.exports = {
  forbidden: [
    ...upward(),
    ...sideways(),
    ...insideActors(),
    ...unlisted(),
    ...owned.map(({ name, to, owner }) =>
      error(`only-owner-of-${name}`, `only ${owner} imports ${name}`, { path: "^src/", pathNot: owner }, { path: to }),
    ),
    error("no-circle", "no circles, types included", {}, { circular: true }),
    error("pure-domain", "domain is pure: no node: built-ins", { path: "^src/domain/" }, { dependencyTypes: ["core"] }),
    error(
      "quiet-core",
      "core does no I/O",
      { path: "^src/core/", pathNot: "^src/core/hashing/crc32[.]ts$" }, // zlib's checksum: a pure function
      { dependencyTypes: ["core"], pathNot: "^(node:)?(assert|buffer|util)$" },
    ),
    error(
      "web-knows-shapes",
      "the user interface imports types of the API's shapes, and nothing else of the server",
      { path: "^src/web/" },
      { path: "^src/", pathNot: "^src/(web|api/shapes)/" },
    ),
    error(
      "only-web-is-web",
      "the server does not import the user interface",
      { path: "^src/", pathNot: "^src/web/" },
      { path: "^src/web/" },
    ),
    error("no-test-in-src", "src does not know its tests", { path: "^src/" }, { path: "^(test|scripts|native-bench)/" }),
    error(
      "no-dev-dependency",
      "src runs without devDependencies; the user interface is bundled",
      { path: "^src/", pathNot: "^src/web/" },
      { dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"], pathNot: "^node_modules/@types/" },
    ),
    error(
      "part-of-the-product",
      "every file is reached from an entry of the product: what tests alone import stands in test/",
      { path: entries },
      { path: "^src/", pathNot: [...entries, "[.]d[.]ts$"], reachable: false },
    ),
    error("resolvable", "every import leads somewhere", {}, { couldNotResolve: true }),
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: ["^src/domain/kernel/assembly/"] },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "types", "default"],
      extensions: [".ts", ".tsx", ".js", ".mjs", ".json"],
    },
  },
};
