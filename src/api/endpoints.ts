// All endpoints, each declared once, in groups as the documentation shows them. Handlers are keyed by name where the actor that answers lives.
import type { z } from "zod";
import type { Endpoint } from "./endpoint.ts";
import { ACCESS_ENDPOINTS } from "./endpoints/access.ts";
import { ALERTS_ENDPOINTS } from "./endpoints/alerts.ts";
import { ANALYSIS_ENDPOINTS } from "./endpoints/analysis.ts";
import { ANOMALIES_ENDPOINTS } from "./endpoints/anomalies.ts";
import { AUDIT_ENDPOINTS } from "./endpoints/audit.ts";
import { BACKTEST_ENDPOINTS } from "./endpoints/backtest.ts";
import { BACKUP_ENDPOINTS } from "./endpoints/backup.ts";
import { CONFIGURATION_ENDPOINTS } from "./endpoints/configuration.ts";
import { COVERAGE_ENDPOINTS } from "./endpoints/coverage.ts";
import { DEAD_LETTERS_ENDPOINTS } from "./endpoints/dead-letters.ts";
import { DRILL_ENDPOINTS } from "./endpoints/drill.ts";
import { INHIBITIONS_ENDPOINTS } from "./endpoints/inhibitions.ts";
import { LABELS_ENDPOINTS } from "./endpoints/labels.ts";
import { MODELS_ENDPOINTS } from "./endpoints/models.ts";
import { PILLARS_ENDPOINTS } from "./endpoints/pillars.ts";
import { PREDICTION_ENDPOINTS } from "./endpoints/prediction.ts";
import { PROMETHEUS_ENDPOINTS } from "./endpoints/prometheus.ts";
import { ROUTING_ENDPOINTS } from "./endpoints/routing.ts";
import { RULES_ENDPOINTS } from "./endpoints/rules.ts";
import { RUNBOOKS_ENDPOINTS } from "./endpoints/runbooks.ts";
import { SATURATION_ENDPOINTS } from "./endpoints/saturation.ts";
import { SERIES_ENDPOINTS } from "./endpoints/series.ts";
import { SERVICES_ENDPOINTS } from "./endpoints/services.ts";
import { SILENCES_ENDPOINTS } from "./endpoints/silences.ts";
import { SYSTEM_ENDPOINTS } from "./endpoints/system.ts";
import { TELEMETRY_ENDPOINTS } from "./endpoints/telemetry.ts";
import { TENANTS_ENDPOINTS } from "./endpoints/tenants.ts";
import { WATCHDOG_SETTINGS_ENDPOINTS } from "./endpoints/watchdog-settings.ts";
import { WEBHOOKS_ENDPOINTS } from "./endpoints/webhooks.ts";

/** Endpoints that belong together; the tag of the OpenAPI document. */
export interface EndpointGroup {
  readonly title: string;
  readonly about: string;
  readonly endpoints: readonly Endpoint[];
}

/** In the order of the documentation. */
export const ENDPOINT_GROUPS = [
  { title: "Telemetry", about: "What comes in.", endpoints: TELEMETRY_ENDPOINTS },
  { title: "Server", about: "The server itself.", endpoints: SYSTEM_ENDPOINTS },
  { title: "Keys and users", about: "Credentials, users and what one may do.", endpoints: ACCESS_ENDPOINTS },
  { title: "Tenants", about: "Who shares the server, and what each has sent.", endpoints: TENANTS_ENDPOINTS },
  { title: "Dead letters", about: "What could not be taken, and its way in after all.", endpoints: DEAD_LETTERS_ENDPOINTS },
  { title: "Anomalies", about: "What was found.", endpoints: ANOMALIES_ENDPOINTS },
  { title: "Alerts", about: "What people are informed of, and what they do about it.", endpoints: ALERTS_ENDPOINTS },
  { title: "Routing", about: "Which channels people are told through.", endpoints: [...ROUTING_ENDPOINTS, ...DRILL_ENDPOINTS] as const },
  { title: "Webhooks", about: "Events for other systems.", endpoints: WEBHOOKS_ENDPOINTS },
  { title: "Runbooks", about: "What is done about findings, by itself or after an approval.", endpoints: RUNBOOKS_ENDPOINTS },
  { title: "Analysis", about: "Why it broke, what else breaks, and what helped before.", endpoints: ANALYSIS_ENDPOINTS },
  { title: "Prediction", about: "What comes next, what gets worse, and what leads to what.", endpoints: PREDICTION_ENDPOINTS },
  {
    title: "Models",
    about: "What a service's metrics do together: trained, scored as shadows, promoted and taken back.",
    endpoints: MODELS_ENDPOINTS,
  },
  { title: "Coverage", about: "What detection looks at, and what it does not.", endpoints: COVERAGE_ENDPOINTS },
  { title: "Series and records", about: "What is stored.", endpoints: SERIES_ENDPOINTS },
  {
    title: "Prometheus",
    about: "PromQL over what is stored, as Prometheus answers it: give BASE/prometheus to Grafana and others as its address.",
    endpoints: PROMETHEUS_ENDPOINTS,
  },
  { title: "Rules", about: "Alerting and recording rules of Prometheus, evaluated here.", endpoints: RULES_ENDPOINTS },
  { title: "Services", about: "Who has sent something, and who calls whom.", endpoints: SERVICES_ENDPOINTS },
  {
    title: "Pillars",
    about: "Which tenant, product and custom dimensions services belong to, and how these do.",
    endpoints: PILLARS_ENDPOINTS,
  },
  {
    title: "Labels and catalog",
    about: "What a service is labelled with: by telemetry, by the catalog, by hand.",
    endpoints: LABELS_ENDPOINTS,
  },
  {
    title: "Saturation",
    about: "What a metric can rise to before the service is full, and what runs full.",
    endpoints: SATURATION_ENDPOINTS,
  },
  { title: "Silences", about: "What is kept and not told.", endpoints: SILENCES_ENDPOINTS },
  { title: "Inhibitions", about: "Which alerts keep others quiet while they fire.", endpoints: INHIBITIONS_ENDPOINTS },
  {
    title: "Settings of detection",
    about: "How sensitive detection and paging are for a tenant, a service or a metric, and what other settings would do.",
    endpoints: [...WATCHDOG_SETTINGS_ENDPOINTS, ...BACKTEST_ENDPOINTS] as const,
  },
  {
    title: "Configuration",
    about: "What people have set, as one document.",
    endpoints: CONFIGURATION_ENDPOINTS,
  },
  { title: "Backup", about: "Copies of the data folder, made while the server runs.", endpoints: BACKUP_ENDPOINTS },
  { title: "Audit log", about: "Who changed what.", endpoints: AUDIT_ENDPOINTS },
] as const satisfies readonly EndpointGroup[];

export const ENDPOINTS = ENDPOINT_GROUPS.flatMap(({ endpoints }): ReadonlyArray<DeclaredEndpoint> => endpoints);

type DeclaredEndpoint = (typeof ENDPOINT_GROUPS)[number]["endpoints"][number];

export type EndpointName = DeclaredEndpoint["name"];
type EndpointOf<N extends EndpointName> = Extract<DeclaredEndpoint, { name: N }>;

/** The query of an endpoint after parsing. */
export type QueryOf<N extends EndpointName> = z.output<EndpointOf<N>["query"]>;

/** The body of an endpoint after parsing; null where it takes none. */
export type BodyOf<N extends EndpointName> = EndpointOf<N> extends { readonly body: infer B extends z.ZodType } ? z.output<B> : null;

/** Names of the endpoints that the coordinator answers. */
export type CoordinatorEndpoint = Extract<DeclaredEndpoint, { handledBy: "coordinator" }>["name"];

/** Names of the endpoints that the front answers by itself, but for those under Prometheus' path. */
export type FrontEndpoint = Exclude<Extract<DeclaredEndpoint, { handledBy: "front" }>, { envelope: "prometheus" }>["name"];

const BY_NAME: ReadonlyMap<string, Endpoint> = new Map(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint]));

/** Whether queries of that name wait for others' turns; of no endpoint they do not. */
export function isPatientEndpoint(name: string): boolean {
  return BY_NAME.get(name)?.isPatient === true;
}

/** The endpoint of that name, which must exist. */
export function endpointNamed(name: string): Endpoint {
  const endpoint = BY_NAME.get(name);
  if (endpoint === undefined) throw new RangeError(`no endpoint is named ${name}`);
  return endpoint;
}
