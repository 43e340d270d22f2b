// All endpoints, each declared once, in rooms by noun. Handlers are keyed by name where the actor that answers lives.
import type { z } from "zod";
import type { Endpoint } from "./endpoint.ts";
import { ACCESS_ENDPOINTS } from "./endpoints/access.ts";
import { ALERTS_ENDPOINTS } from "./endpoints/alerts.ts";
import { ANALYSIS_ENDPOINTS } from "./endpoints/analysis.ts";
import { ANOMALIES_ENDPOINTS } from "./endpoints/anomalies.ts";
import { AUDIT_ENDPOINTS } from "./endpoints/audit.ts";
import { BACKTEST_ENDPOINTS } from "./endpoints/backtest.ts";
import { COVERAGE_ENDPOINTS } from "./endpoints/coverage.ts";
import { DEAD_LETTERS_ENDPOINTS } from "./endpoints/dead-letters.ts";
import { INHIBITIONS_ENDPOINTS } from "./endpoints/inhibitions.ts";
import { LABELS_ENDPOINTS } from "./endpoints/labels.ts";
import { PILLARS_ENDPOINTS } from "./endpoints/pillars.ts";
import { SATURATION_ENDPOINTS } from "./endpoints/saturation.ts";
import { SERIES_ENDPOINTS } from "./endpoints/series.ts";
import { SILENCES_ENDPOINTS } from "./endpoints/silences.ts";
import { SYSTEM_ENDPOINTS } from "./endpoints/system.ts";
import { TELEMETRY_ENDPOINTS } from "./endpoints/telemetry.ts";
import { TENANTS_ENDPOINTS } from "./endpoints/tenants.ts";
import { WATCHDOG_SETTINGS_ENDPOINTS } from "./endpoints/watchdog-settings.ts";

/** In the order of the documentation. */
export const ENDPOINTS = [
  ...TELEMETRY_ENDPOINTS,
  ...SYSTEM_ENDPOINTS,
  ...ACCESS_ENDPOINTS,
  ...DEAD_LETTERS_ENDPOINTS,
  ...ANOMALIES_ENDPOINTS,
  ...ALERTS_ENDPOINTS,
  ...ANALYSIS_ENDPOINTS,
  ...COVERAGE_ENDPOINTS,
  ...SERIES_ENDPOINTS,
  ...TENANTS_ENDPOINTS,
  ...LABELS_ENDPOINTS,
  ...SATURATION_ENDPOINTS,
  ...SILENCES_ENDPOINTS,
  ...INHIBITIONS_ENDPOINTS,
  ...WATCHDOG_SETTINGS_ENDPOINTS,
  ...BACKTEST_ENDPOINTS,
  ...AUDIT_ENDPOINTS,
  ...PILLARS_ENDPOINTS,
] as const satisfies readonly Endpoint[];

/** Name of an endpoint. */
export type EndpointName = (typeof ENDPOINTS)[number]["name"];
type EndpointOf<N extends EndpointName> = Extract<(typeof ENDPOINTS)[number], { name: N }>;

/** The query of an endpoint after parsing. */
export type QueryOf<N extends EndpointName> = z.output<EndpointOf<N>["query"]>;

/** The body of an endpoint after parsing; null where it takes none. */
export type BodyOf<N extends EndpointName> = EndpointOf<N> extends { readonly body: infer B extends z.ZodType } ? z.output<B> : null;

/** Names of the endpoints that the coordinator answers. */
export type CoordinatorEndpoint = Extract<(typeof ENDPOINTS)[number], { handledBy: "coordinator" }>["name"];

const BY_NAME: ReadonlyMap<string, Endpoint> = new Map(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint]));

/** The endpoint of that name, which must exist. */
export function endpointNamed(name: string): Endpoint {
  const endpoint = BY_NAME.get(name);
  if (endpoint === undefined) throw new RangeError(`no endpoint is named ${name}`);
  return endpoint;
}
