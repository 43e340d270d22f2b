// What the coordinator folds of services.
// GET /api/v1/graph: services and who calls whom, with what is open at each; around one service as far as is asked.
import { done, type Outcome } from "../../api/refusal.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { neighbourhood } from "../../domain/trace/neighbourhood.ts";
import { callMinutes, edgeView, sumCalls } from "../calls/calls-module.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import type { BookSources, NounModule } from "../state/noun-module.ts";
import { expireRetired, retireService } from "./retire-handler.ts";
import { RetiredBook } from "./retired-book.ts";
import { listServices } from "./service-handler.ts";
import { keyKey, openStates, openView, rankOf } from "./service-state.ts";
import type { ServicesContext } from "./services-context.ts";

const DEPTH_DEFAULT = 2;
const NODES_DEFAULT = 150;

export const SERVICES = {
  tables: {
    control: {
      retired_services: { key: "tenant, service, environment", value: "retired-book.ts: a service that people have retired" },
    },
  },
  configured: ({ share }: BookSources) => ({ retired: new RetiredBook(share("retired_services")) }),
  expire: expireRetired,
  handlers: {
    retireService,
    services: listServices,
    graph: serviceGraph,
  },
} as const satisfies NounModule;

/** The graph; without `service_id` of all services that traces name. */
async function serviceGraph(context: ServicesContext, { principal, query }: QueryRequest<"graph">): Promise<Outcome<unknown>> {
  const minutes = callMinutes(context, query);
  if (!minutes.ok) return minutes;
  const { tenant } = principal;
  const sums = await sumCalls(context, tenant, minutes.value, { environment: query.environment, byMinute: false });
  const states = openStates(context.state.anomalies.index(tenant));
  const edges = sums.map((sum) => ({
    sum,
    from: keyKey(sum.edge.caller.serviceId, sum.edge.caller.environment),
    to: keyKey(sum.edge.callee.serviceId, sum.edge.callee.environment),
    calls: sum.calls,
  }));
  const roots = query.service_id === undefined ? undefined : (key: string) => key.slice(key.indexOf("\u0000") + 1) === query.service_id;
  const found = neighbourhood(edges, {
    roots,
    depth: query.depth ?? DEPTH_DEFAULT,
    most: query.nodes ?? NODES_DEFAULT,
    rankOf: (key) => rankOf(states.get(key)),
  });
  const retained = new Set(found.nodes.map(({ key }) => key));
  return done({
    nodes: found.nodes.map(({ key, depth, calls }) => {
      const at = key.indexOf("\u0000");
      return { service_id: key.slice(at + 1), environment: key.slice(0, at), depth, calls, ...openView(states.get(key)) };
    }),
    edges: edges.filter(({ from, to }) => retained.has(from) && retained.has(to)).map(({ sum }) => edgeView(sum, false)),
    nodes_total: found.total,
    since: formatRfc3339(minutes.value.from * 60_000),
    until: formatRfc3339(minutes.value.to * 60_000),
    complete: found.total === found.nodes.length,
  });
}
