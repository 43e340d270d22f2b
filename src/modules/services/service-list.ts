// The services of a tenant as the engines know them, remembered for some seconds: pages, searches and sorts of one list then look at the same services, and a
// list of 10,000 is walked once for many readers.
import { BoundedMap } from "../../core/collections/bounded-map.ts";
import { SERVICE_LIST_MS_MAX, SERVICE_LISTS_RETAINED_MAX, SERVICES_LISTED_MAX } from "../../core/config/interface-limits.ts";
import { background, task } from "../../core/faults/guard.ts";
import type { ListedService } from "../../core/protocol/service-list.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import type { ServicesContext } from "./services-context.ts";

interface KnownList {
  readonly atMs: number;
  readonly services: Promise<readonly ListedService[]>;
}

/** By server, then by tenant. */
const lists = new WeakMap<object, BoundedMap<string, KnownList>>();

/** Services of a tenant by name and environment; at most SERVICE_LIST_MS_MAX old. */
export function servicesOf(context: ServicesContext, tenant: string): Promise<readonly ListedService[]> {
  const known = lists.get(context.state) ?? new BoundedMap<string, KnownList>(SERVICE_LISTS_RETAINED_MAX);
  lists.set(context.state, known);
  const list = known.get(tenant);
  if (list !== undefined && context.nowMs() - list.atMs < SERVICE_LIST_MS_MAX) return list.services;
  const services = ask(context, tenant);
  const made: KnownList = { atMs: context.nowMs(), services };
  known.set(tenant, made);
  // A list that did not come is not remembered.
  const forgotten = services.catch(() => known.get(tenant) === made && known.delete(tenant));
  background(task("the list of services"), Promise.resolve(forgotten));
  return services;
}

async function ask({ engines }: ServicesContext, tenant: string): Promise<ListedService[]> {
  const answers = await Promise.all(Array.from({ length: engines.count }, (_, engine) => engines.serviceList(engine, tenant)));
  return answers
    .flat()
    .sort(([a, environmentA], [b, environmentB]) => (a === b ? compareTexts(environmentA, environmentB) : compareTexts(a, b)))
    .slice(0, SERVICES_LISTED_MAX);
}
