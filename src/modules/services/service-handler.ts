// GET /api/v1/services: services that have sent something, with what is open at each.
import { openPage, type PagePosition } from "../../api/page-token.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import type { ListedService } from "../../core/protocol/service-list.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { maturityOf } from "../../domain/detection/gates/baseline-maturity.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { servicesOf } from "./service-list.ts";
import { keyKey, type OpenState, openStates, openView, rankOf } from "./service-state.ts";
import type { ServicesContext } from "./services-context.ts";

interface Row {
  readonly service: ListedService;
  readonly state: OpenState | undefined;
  /** Numbers and names that order the list, ascending. */
  readonly position: PagePosition;
}

type Query = QueryRequest<"services">["query"];

/** A page of services. */
export async function listServices(context: ServicesContext, request: QueryRequest<"services">): Promise<Outcome<unknown>> {
  const { principal, query } = request;
  const { tenant } = principal;
  const asked = openPage(context.state, request, "services");
  if (!asked.ok) return asked;
  const services = await servicesOf(context, tenant);
  const states = openStates(context.state.anomalies.index(tenant));
  const rows = services.flatMap((service) => rowOf(context, tenant, service, states, query) ?? []);
  if ((query.sort ?? "name") !== "name") rows.sort((a, b) => comparePositions(a.position, b.position));
  const { after } = asked.value;
  const rest = after === undefined ? rows : rows.filter(({ position }) => comparePositions(position, after) > 0);
  const { page, page_token } = asked.value.cut(rest, ({ position }) => position);
  return done({ services: page.map((row) => view(context, tenant, row)), total: rows.length, page_token });
}

function rowOf(
  context: ServicesContext,
  tenant: string,
  service: ListedService,
  states: ReadonlyMap<string, OpenState>,
  { q, service_id, environment, team, state: wanted, sort }: Query,
): Row | undefined {
  const [serviceId, of, , , lastMs] = service;
  const state = states.get(keyKey(serviceId, of));
  const fits =
    (q === undefined || serviceId.toLowerCase().includes(q.toLowerCase())) &&
    (service_id === undefined || serviceId === service_id) &&
    (environment === undefined || of === environment) &&
    (wanted === undefined || (wanted === "open") === (state !== undefined)) &&
    (team === undefined || teamOf(context, tenant, serviceId) === team);
  if (!fits) return undefined;
  const position =
    sort === "worst"
      ? [-rankOf(state), -(state?.open ?? 0), serviceId, of]
      : sort === "latest"
        ? [-lastMs, serviceId, of]
        : [serviceId, of];
  return { service, state, position };
}

function comparePositions(a: PagePosition, b: PagePosition): number {
  for (const [index, part] of a.entries()) {
    const other = b[index] as typeof part;
    if (part !== other) return part < other ? -1 : 1;
  }
  return 0;
}

function teamOf({ state }: ServicesContext, tenant: string, serviceId: string): string | null {
  return state.configured.labels.inForce(tenant, serviceId, "team")?.value ?? null;
}

function view(context: ServicesContext, tenant: string, { service, state }: Row) {
  const [serviceId, environment, streams, firstMs, lastMs] = service;
  return {
    service_id: serviceId,
    environment,
    team: teamOf(context, tenant, serviceId),
    maturity: maturityOf(firstMs || context.nowMs(), context.nowMs()),
    streams,
    ...openView(state),
    last_sample: lastMs === 0 ? null : formatRfc3339(lastMs),
  };
}
