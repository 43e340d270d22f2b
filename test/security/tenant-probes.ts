// What a second tenant asks of each endpoint with the first one's names, ids and page tokens, and how that has to be answered. An endpoint that is not
// here fails the test of isolation: whoever adds one says here what it must not give away.
import { compressSync } from "snappy";
import { encodeBody } from "../support/remote-write-body.ts";

/** What the first tenant has, and the second one knows of it. */
export interface Loot {
  /** Token of the second page of each list, by the endpoint's name. */
  readonly tokens: ReadonlyMap<string, string>;
  readonly anomalyId: string;
  readonly alertId: string;
  readonly deadLetterId: string;
  readonly inhibitionId: string;
  readonly ruleId: string;
  readonly webhookName: string;
  readonly runbookId: string;
  readonly executionId: string;
  readonly jobId: string;
  readonly trainingId: string;
  readonly keyId: string;
  readonly userId: string;
}

/** One request of the second tenant's administrator. */
export interface Attack {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  /** JSON, or bytes with their type. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** One of these is right. */
  readonly statuses: readonly number[];
  /** The answer's lists are empty and its total is 0. */
  readonly isEmpty?: boolean;
}

type Probe = (loot: Loot) => readonly Attack[];

/** A service of the first tenant, which the second one names as well. */
export const SERVICE = "checkout";
export const METRIC = "latency_ms";
/** A group of rules of the first tenant: that the second one has one of its name changes nothing of it. */
const RULE_GROUP = "held-1";
/** One that the second tenant never sends. */
const UNSENT = "cart";

const record = (fields: object = {}) => ({
  service_id: SERVICE,
  metric_name: METRIC,
  value: 1,
  timestamp: new Date().toISOString(),
  ...fields,
});
const OTLP = { "Content-Type": "application/json" };
const attributes = [{ key: "service.name", value: { stringValue: SERVICE } }];
const nano = () => `${Date.now()}000000`;

/** Nothing of anybody's: what everybody sees. */
const everybodys: Probe = () => [{ statuses: [200] }];
/** For roles above those of one tenant. */
const above =
  (attack: Omit<Attack, "statuses">): Probe =>
  () => [{ ...attack, statuses: [403] }];
const list =
  (name: string, query: Readonly<Record<string, string>> = {}): Probe =>
  ({ tokens }) => [
    { query, statuses: [200], isEmpty: true },
    { query: { ...query, limit: "1", page_token: tokens.get(name) as string }, statuses: [400] },
  ];
/** One thing by its id: for the second tenant there is none, and nothing happens to it. */
const byId =
  (parameter: string, id: (loot: Loot) => string, body?: unknown): Probe =>
  (loot) => [{ path: { [parameter]: id(loot) }, body, statuses: [404] }];
const telemetry =
  (body: () => unknown, headers: Readonly<Record<string, string>> = {}): Probe =>
  () => [{ body: body(), headers, statuses: [200, 204] }];
/** A call of Prometheus' API that has to find nothing; forms come once the second tenant has sent something of its own. */
const promql =
  (query: Readonly<Record<string, string>>): Probe =>
  () => [{ query, statuses: [200], isEmpty: true }];
const form =
  (parameters: Readonly<Record<string, string>>): Probe =>
  () => [
    {
      body: Buffer.from(new URLSearchParams(parameters).toString()),
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      statuses: [200],
    },
  ];
const ANY_SERIES = '{__name__!=""}';
const EVERYTHING = { query: ANY_SERIES, lookback_delta: "1h" };
const RANGE = { start: String(Date.now() / 1_000 - 3_600), end: String(Date.now() / 1_000 + 3_600), step: "60" };
const remoteWrite = telemetry(
  () => {
    const labels = [["__name__", METRIC] as const, ["job", SERVICE] as const];
    return compressSync(Buffer.from(encodeBody([{ labels, samples: [{ value: 1, time: Date.now() }] }])));
  },
  { "Content-Type": "application/x-protobuf", "Content-Encoding": "snappy" },
);
const otlpMetrics = telemetry(() => {
  const metrics = [{ name: METRIC, gauge: { dataPoints: [{ timeUnixNano: nano(), asDouble: 1 }] } }];
  return { resourceMetrics: [{ resource: { attributes }, scopeMetrics: [{ metrics }] }] };
}, OTLP);
const otlpTraces = telemetry(() => {
  const span = { traceId: "1".repeat(32), spanId: "2".repeat(16), name: "pay", startTimeUnixNano: nano(), endTimeUnixNano: nano() };
  return { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans: [span] }] }] };
}, OTLP);
const otlpLogs = telemetry(() => {
  return {
    resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords: [{ timeUnixNano: nano(), body: { stringValue: "x" } }] }] }],
  };
}, OTLP);
const rotate = byId("key_id", ({ keyId }) => keyId);

/** By the endpoint's name. */
export const PROBES: Readonly<Record<string, Probe>> = {
  telemetry: telemetry(record),
  telemetryBatch: telemetry(() => [record(), record({ type: "log", body: "theirs" })]),
  remoteWrite,
  remoteWriteOtherSpelling: remoteWrite,
  otlpMetrics,
  otlpTraces,
  otlpLogs,
  otlpMetricsOfBase: otlpMetrics,
  otlpTracesOfBase: otlpTraces,
  otlpLogsOfBase: otlpLogs,
  telemetryTypes: everybodys,
  importHistory: telemetry(
    () =>
      Buffer.from(
        `service_id,metric_name,timestamp,value\n${SERVICE},${METRIC},${new Date(Date.now() - 86_400_000 * 2).toISOString()},1\n`,
      ),
    { "Content-Type": "text/csv" },
  ),
  web: everybodys,
  webFile: () => [{ path: { file: "none.js" }, statuses: [404] }],
  startSession: () => [],
  endSession: () => [],
  services: list("services"),
  graph: () => [{ query: { service_id: UNSENT }, statuses: [200, 404] }],
  healthz: everybodys,
  readyz: everybodys,
  metrics: everybodys,
  openapi: everybodys,
  docs: everybodys,
  stream: () => [], // read all the time: isolation.test.ts
  status: () => [{ statuses: [200] }],
  dataFaults: above({}),
  acknowledgeDataFaults: above({}),
  signIn: () => [{ query: { token: "0".repeat(64) }, statuses: [401, 403, 404, 410] }],

  dlqStats: () => [{ statuses: [200] }],
  deadLetters: list("deadLetters"),
  deadLetter: byId("id", ({ deadLetterId }) => deadLetterId),
  correctDeadLetter: byId("id", ({ deadLetterId }) => deadLetterId, { payload: record() }),
  deleteDeadLetter: byId("id", ({ deadLetterId }) => deadLetterId),
  replayDeadLetters: ({ deadLetterId }) => [
    { body: { ids: [deadLetterId], dry_run: true }, statuses: [200, 404] },
    { body: { ids: [deadLetterId] }, statuses: [202, 404] },
    { body: { filter: {} }, statuses: [202] },
  ],
  replayJob: byId("id", ({ jobId }) => jobId),

  anomalies: list("anomalies"),
  anomaly: byId("id", ({ anomalyId }) => anomalyId),
  changeAnomaly: byId("id", ({ anomalyId }) => anomalyId, { resolved: true, feedback: "false_positive" }),
  declareAnomaly: () => [{ body: { service_id: SERVICE, metric_name: METRIC, severity: "high", explanation: "theirs" }, statuses: [201] }],
  rcaReports: list("rcaReports"),
  similarReports: ({ anomalyId }) => [{ query: { anomaly_id: anomalyId }, statuses: [404] }],
  scorecard: () => [{ statuses: [200] }],
  correlations: () => [{ query: { service_id: UNSENT }, statuses: [404] }],
  blastRadius: () => [{ query: { service_id: UNSENT }, statuses: [404] }],
  predict: () => [{ query: { service_id: UNSENT }, statuses: [404] }],
  degradation: () => [{ query: { service_id: UNSENT }, statuses: [404] }],
  forecast: () => [{ query: { service_id: UNSENT, metric: METRIC }, statuses: [404] }],
  causal: () => [{ query: { service_id: UNSENT }, statuses: [404] }],
  validateCausality: () => [
    { body: { service_id: UNSENT, cause_metric: METRIC, effect_metric: UNSENT, lookback_hours: 1 }, statuses: [404] },
  ],
  trainModel: () => [{ body: { service_id: UNSENT, training_window_days: 1, model_type: "isolation_forest" }, statuses: [404] }],
  trainings: list("trainings"),
  training: byId("id", ({ trainingId }) => trainingId),
  cancelTraining: byId("id", ({ trainingId }) => trainingId),
  models: () => [{ statuses: [200], isEmpty: true }],
  promoteModel: () => [{ body: { model_id: "0".repeat(32), service_id: SERVICE }, statuses: [404] }],
  rollBackModel: () => [{ body: { service_id: UNSENT }, statuses: [404] }],
  drift: () => [{ query: { service_id: UNSENT }, statuses: [404] }],
  analyze: ({ anomalyId }) => [
    { body: { anomaly_id: anomalyId }, statuses: [404] },
    { body: { service_id: UNSENT, metric_name: METRIC, timestamp: new Date().toISOString() }, statuses: [404] },
  ],
  resolutionWebhook: ({ anomalyId }) => [
    {
      body: { incident_id: anomalyId, service_id: SERVICE, resolution: "theirs", resolved_by: "them", time_to_recovery_minutes: 1 },
      statuses: [404],
    },
  ],
  alertWebhook: () => [{ body: { alerts: [{ labels: { alertname: "theirs", service: SERVICE } }] }, statuses: [200] }],
  alerts: list("alerts"),
  alert: byId("alert_id", ({ alertId }) => alertId),
  acknowledgeAlert: byId("alert_id", ({ alertId }) => alertId, { note: "theirs" }),
  assignAlert: byId("alert_id", ({ alertId }) => alertId, { assignee: "theirs" }),
  unacknowledgeAlert: byId("alert_id", ({ alertId }) => alertId, {}),
  acceptAlert: byId("alert_id", ({ alertId }) => alertId, { comment: "theirs" }),
  resolveAlert: byId("alert_id", ({ alertId }) => alertId, { comment: "theirs" }),
  snoozeAlert: byId("alert_id", ({ alertId }) => alertId, { until: null }),
  commentAlert: byId("alert_id", ({ alertId }) => alertId, { text: "theirs" }),
  alertTimeline: byId("alert_id", ({ alertId }) => alertId),
  alertChart: ({ alertId }) => [
    { path: { alert_id: alertId }, statuses: [404] },
    { path: { alert_id: alertId }, query: { expires: "4102444800", signature: "0".repeat(64), tenant_id: "acme" }, statuses: [403, 404] },
  ],
  retireService: ({ alertId }) => [{ path: { id: `unknown ${alertId}` }, body: {}, statuses: [404] }],
  actOnAlerts: ({ alertId }) => [{ body: { alert_ids: [alertId], action: "resolve" }, statuses: [200] }],
  series: list("series"),
  seriesData: () => [{ query: { service_id: SERVICE, metric_name: METRIC }, statuses: [404] }],
  records: list("records"),

  promqlQuery: promql(EVERYTHING),
  promqlQueryForm: form(EVERYTHING),
  promqlQueryRange: promql({ ...EVERYTHING, ...RANGE }),
  promqlQueryRangeForm: form({ ...EVERYTHING, ...RANGE }),
  promqlLabels: promql({}),
  promqlLabelsForm: form({ "match[]": ANY_SERIES }),
  promqlLabelValues: () => ["__name__", "service_id", "environment"].map((name) => ({ path: { name }, statuses: [200], isEmpty: true })),
  promqlSeries: promql({ "match[]": ANY_SERIES }),
  promqlSeriesForm: form({ "match[]": `{service_id="${SERVICE}"}` }),
  promqlMetadata: promql({}),
  promqlExemplars: promql({ query: ANY_SERIES }),
  promqlExemplarsForm: form({ query: ANY_SERIES }),
  promqlRules: promql({}),
  promqlAlerts: promql({}),
  promqlBuildInfo: everybodys,
  promqlRuntimeInfo: everybodys,
  promqlHealthy: everybodys,
  promqlReady: everybodys,
  callGraph: () => [{ statuses: [200], isEmpty: true }],

  permissions: () => [{ statuses: [200] }],
  createKey: () => [{ body: { name: "theirs", scope: "readonly" }, statuses: [201] }],
  keys: list("keys"),
  revokeKey: rotate,
  rotateKey: rotate,
  rotateKeyOtherSpelling: rotate,
  createUser: ({ userId }) => [{ body: { user_id: userId, role: "viewer" }, statuses: [201] }],
  users: list("users"),
  putUser: ({ userId }) => [{ path: { user_id: userId }, body: { role: "viewer", disabled: true }, statuses: [200, 201] }],
  patchUser: ({ userId }) => [{ path: { user_id: userId }, body: { disabled: true }, statuses: [200, 404] }],
  deleteUser: ({ userId }) => [{ path: { user_id: userId }, statuses: [204, 404] }],

  createTenant: above({ body: { tenant_id: "third", name: "Third" } }),
  tenants: above({}),
  changeTenant: above({ path: { id: "acme" }, body: { plan: "free" } }),
  billingUsage: above({}),
  backups: above({}),
  startBackup: above({ body: {} }),

  setLabel: () => [{ body: { service_id: SERVICE, key: "team", value: "theirs" }, statuses: [200, 201] }],
  labels: list("labels"),
  deleteLabel: () => [{ query: { service_id: SERVICE, key: "team" }, statuses: [204, 404] }],
  importCatalog: () => [
    {
      body: { apiVersion: "backstage.io/v1alpha1", kind: "Component", metadata: { name: SERVICE }, spec: { owner: "group:theirs" } },
      statuses: [200],
    },
  ],
  declareLimit: () => [{ body: { service_id: SERVICE, metric: METRIC, limit_value: 5, unit: "theirs" }, statuses: [200, 201] }],
  limits: list("limits"),
  createSilence: () => [
    { body: { matchers: [{ name: "service_id", operator: "=", value: SERVICE }], ends_at: "2099-01-01T00:00:00Z" }, statuses: [201] },
  ],
  silences: ({ tokens }) => [{ statuses: [200] }, { query: { limit: "1", page_token: tokens.get("silences") as string }, statuses: [400] }],
  silence: byId("id", () => "1".repeat(32)),
  deleteSilence: byId("id", () => "1".repeat(32)),
  createInhibition: () => {
    const matchers = [{ name: "service_id", operator: "=", value: SERVICE }];
    return [{ body: { source_matchers: matchers, target_matchers: matchers, comment: "theirs" }, statuses: [201] }];
  },
  inhibitions: list("inhibitions"),
  inhibition: byId("id", ({ inhibitionId }) => inhibitionId),
  deleteInhibition: byId("id", ({ inhibitionId }) => inhibitionId),
  createRoutingRule: () => [{ body: { name: "theirs", priority: 1, channels: ["chat:theirs"] }, statuses: [201] }],
  routingRules: ({ tokens }) => [
    { statuses: [200] },
    { query: { limit: "1", page_token: tokens.get("routingRules") as string }, statuses: [400] },
  ],
  channels: () => [{ statuses: [200] }],
  testChannels: ({ ruleId }) => [
    { body: { rule_id: ruleId }, statuses: [404] },
    { body: { channel: "chat:none" }, statuses: [200] },
  ],
  changeRoutingRule: byId("id", ({ ruleId }) => ruleId, { name: "theirs", priority: 1, channels: ["chat:theirs"] }),
  deleteRoutingRule: byId("id", ({ ruleId }) => ruleId),
  testRouting: ({ alertId }) => [
    { body: { alert_id: alertId }, statuses: [404] },
    { body: { service_id: SERVICE }, statuses: [200] },
  ],
  drill: () => [{ body: {}, statuses: [200] }],
  createWebhook: () => [{ body: { name: "theirs", url: "https://example.com/theirs" }, statuses: [201] }],
  webhooks: ({ tokens }) => [{ statuses: [200] }, { query: { limit: "1", page_token: tokens.get("webhooks") as string }, statuses: [400] }],
  testWebhook: ({ webhookName }) => [{ body: { webhook_name: webhookName }, statuses: [404] }],
  webhookKey: everybodys,
  webhook: byId("name", ({ webhookName }) => webhookName),
  changeWebhook: byId("name", ({ webhookName }) => webhookName, { name: "theirs-2", url: "https://example.com/" }),
  deleteWebhook: byId("name", ({ webhookName }) => webhookName),
  webhookDeliveries: byId("name", ({ webhookName }) => webhookName),
  setPageBudget: () => [{ path: { team: "theirs" }, body: { pages_per_week: 3 }, statuses: [200] }],
  pageReport: () => [{ statuses: [200], isEmpty: true }],
  ruleGroups: list("ruleGroups"),
  ruleGroup: byId("name", () => RULE_GROUP),
  setRuleGroup: () => [
    {
      path: { name: RULE_GROUP },
      body: Buffer.from(JSON.stringify({ groups: [{ name: RULE_GROUP, rules: [{ record: "theirs", expr: "absent_metric" }] }] })),
      headers: { "Content-Type": "application/json" },
      statuses: [201],
    },
  ],
  tryRuleGroup: () => [
    {
      body: {
        group: JSON.stringify({ groups: [{ name: RULE_GROUP, rules: [{ alert: "Theirs", expr: "absent_metric" }] }] }),
        since: "2026-01-01T00:00:00Z",
        until: "2026-01-01T01:00:00Z",
      },
      statuses: [200],
    },
  ],
  deleteRuleGroup: () => [
    { path: { name: RULE_GROUP }, statuses: [204] },
    { path: { name: RULE_GROUP }, statuses: [404] },
  ],
  createRunbook: () => [{ body: { name: "theirs", steps: [{ type: "wait", seconds: 1 }] }, statuses: [201] }],
  runbooks: ({ tokens }) => [{ statuses: [200] }, { query: { limit: "1", page_token: tokens.get("runbooks") as string }, statuses: [400] }],
  runbook: byId("id", ({ runbookId }) => runbookId),
  changeRunbook: byId("id", ({ runbookId }) => runbookId, { name: "theirs", steps: [{ type: "wait", seconds: 1 }] }),
  deleteRunbook: byId("id", ({ runbookId }) => runbookId),
  executeRunbook: byId("id", ({ runbookId }) => runbookId, {}),
  executions: ({ tokens }) => [
    { statuses: [200] },
    { query: { limit: "1", page_token: tokens.get("executions") as string }, statuses: [400] },
  ],
  execution: byId("id", ({ executionId }) => executionId),
  approveStep: byId("id", ({ executionId }) => executionId, { step: "a" }),
  rejectStep: byId("id", ({ executionId }) => executionId, { step: "a" }),
  cancelExecution: byId("id", ({ executionId }) => executionId, {}),
  alertLedger: () => [
    { query: { service_id: SERVICE }, statuses: [200] },
    { query: { service_id: SERVICE, metric_name: METRIC, at: new Date().toISOString() }, statuses: [200] },
  ],
  saturationFires: () => [
    { statuses: [200], isEmpty: true },
    { query: { service_id: SERVICE }, statuses: [200], isEmpty: true },
  ],
  coverage: () => [
    { statuses: [200], isEmpty: true },
    { query: { service_id: SERVICE }, statuses: [200], isEmpty: true },
  ],
  deleteLimit: () => [{ query: { service: SERVICE, metric: METRIC }, statuses: [204, 404] }],
  setWatchdogSettings: () => [{ body: { service_id: SERVICE, metric_name: METRIC, z_threshold: 7 }, statuses: [200, 201] }],
  exportConfiguration: everybodys,
  importConfiguration: () => [
    { body: { format: 1, tenant_id: "default", labels: [{ service_id: SERVICE, key: "team", value: "theirs" }] }, statuses: [200] },
  ],
  watchdogSettings: ({ tokens }) => [
    { statuses: [200] },
    { query: { service_id: SERVICE }, statuses: [200] },
    { query: { limit: "1", page_token: tokens.get("watchdogSettings") as string }, statuses: [400] },
  ],
  deleteWatchdogSettings: () => [{ query: { service_id: SERVICE, metric_name: METRIC }, statuses: [204, 404] }],
  setCalendar: () => [{ body: { days: [{ date: "2026-12-24", name: "theirs", like: "unusual" }] }, statuses: [200] }],
  calendar: () => [{ statuses: [200] }],
  backtest: () => [
    { body: { since: "2026-01-01T00:00:00Z", until: "2100-01-01T00:00:00Z", settings: { z_threshold: 5 } }, statuses: [200] },
  ],
  audit: ({ tokens }) => [{ statuses: [200] }, { query: { limit: "1", page_token: tokens.get("audit") as string }, statuses: [400] }],
  setServiceMap: () => [
    { body: { entries: [{ service_id: SERVICE, tenant_id: "t", product_id: "theirs", custom_keys: {} }] }, statuses: [200] },
  ],
  serviceMap: list("serviceMap"),
  pillarScores: () => [{ statuses: [200], isEmpty: true }],
};
