// PUT and GET /api/v1/pillars/service-map. One PUT is stored as a whole or not at all; only entries that say something new are written.
import { openPage } from "../../api/page-token.ts";
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { SERVICE_MAP_TENANT_ENTRIES_MAX } from "../../core/config/declaration-limits.ts";
import { isSameEntry, type ServiceEntry } from "../../domain/pillars/service-entry.ts";
import type { Changing, ChangingBeside } from "../access/changes.ts";
import type { QueryRequest, Using } from "../queries/query-context.ts";
import { mapInSlices } from "../state/slices.ts";
import { entryRow, type ServiceMapBook, storedEntries, storedEntry } from "./service-map-book.ts";

type SetRequest = QueryRequest<"setServiceMap">;
type EntryInput = SetRequest["body"]["entries"][number];

/** Entries that one row of the audit log shows; the others are counted. */
const SAMPLE = 10;

interface EntryChange {
  readonly before: ServiceEntry | undefined;
  readonly after: ServiceEntry;
}

export function setServiceMap(context: PillarsContext, request: SetRequest): Promise<Outcome<unknown>> {
  // The last entry of a service wins.
  const input = new Map(request.body.entries.map((entry) => [entry.service_id, entry]));
  const { changes } = context.state.configured.serviceMap;
  const set = (change: Changing["change"]) => setEntries({ ...context, change }, request, [...input.values()]);
  return context.changeBeside(request.principal.tenant, (change) => changes.run(() => set(change)));
}

/** Reads and encodes beside others' transactions: no other change of the map begins before this one has ended. */
async function setEntries(context: PillarsContext, request: SetRequest, input: readonly EntryInput[]): Promise<Outcome<unknown>> {
  const { tenant } = request.principal;
  const book = context.state.configured.serviceMap;
  const read = (entry: EntryInput): EntryChange[] => {
    const before = storedEntry(context.state.control, tenant, entry.service_id);
    const after = entryOf(entry, before);
    return before === undefined || !isSameEntry(before, after) ? [{ before, after }] : [];
  };
  const changes = (await mapInSlices(input, read, context.pause)).flat();
  const created = changes.filter(({ before }) => before === undefined).length;
  const operations = await mapInSlices(changes, ({ after }) => entryRow(tenant, after), context.pause);
  return context.change(request, () => {
    const capacity = capacityFor(book, tenant, created);
    if (!capacity.ok) return capacity;
    const counts = { created, updated: changes.length - created, unchanged: input.length - changes.length };
    const outcome = done({ status: "ok", upserted: input.length, ...counts });
    if (changes.length === 0) return { ok: "unchanged", outcome };
    return {
      ok: true,
      note: { action: "service_map.set", object: "service-map", ...auditViews(changes, created) },
      operations,
      takeOver: (pause) => mapInSlices(changes, ({ before, after }) => book.set(tenant, after, before === undefined), pause),
      outcome,
    };
  });
}

/** A page of the map, by service. */
export function listServiceMap({ state }: PillarsContext, request: QueryRequest<"serviceMap">): Outcome<unknown> {
  const { tenant } = request.principal;
  const asked = openPage(state, request, "serviceMap");
  if (!asked.ok) return asked;
  const entries = storedEntries(state.control, tenant, asked.value.after?.[0] as string | undefined, request.query.limit + 1);
  const { page, page_token } = asked.value.cut(entries, ({ serviceId }) => [serviceId]);
  return done({ entries: page.map(entryView), total: state.configured.serviceMap.sizeOf(tenant), page_token });
}

/** Without `custom_keys` those that are stored stay; {} takes them away. */
function entryOf({ service_id, tenant_id = "", product_id = "", custom_keys }: EntryInput, before: ServiceEntry | undefined): ServiceEntry {
  const customKeys =
    custom_keys === undefined ? (before?.customKeys ?? []) : Object.entries(custom_keys).sort(([a], [b]) => (a < b ? -1 : 1));
  return { serviceId: service_id, tenantId: tenant_id, productId: product_id, customKeys };
}

function entryView({ serviceId, tenantId, productId, customKeys }: ServiceEntry) {
  return { service_id: serviceId, tenant_id: tenantId, product_id: productId, custom_keys: Object.fromEntries(customKeys) };
}

function capacityFor(book: ServiceMapBook, tenant: string, created: number): Outcome<null> {
  const hasCapacity = book.shares.admits(tenant, created);
  const bounds = [
    ["the tenant", book.sizeOf(tenant), SERVICE_MAP_TENANT_ENTRIES_MAX, book.sizeOf(tenant) + created <= SERVICE_MAP_TENANT_ENTRIES_MAX],
    ["the server", book.size, book.shares.most, hasCapacity],
  ] as const;
  for (const [whose, used, most, fits] of bounds) {
    if (fits) continue;
    return refused(
      "unprocessable",
      `${created} new services do not fit: ${whose} has ${used} of ${most} mapped; nothing was stored`,
      "entries",
    );
  }
  return done(null);
}

/** Counts and a sample: ten thousand objects would be no use to a reader. */
function auditViews(changes: readonly EntryChange[], created: number) {
  const shown = changes.slice(0, SAMPLE);
  return {
    before: { entries: shown.flatMap(({ before }) => (before === undefined ? [] : entryView(before))) },
    after: { created, updated: changes.length - created, entries: shown.map(({ after }) => entryView(after)) },
  };
}

// What the handlers of pillars and the service map use.

interface PillarBooks {
  readonly serviceMap: ServiceMapBook;
}

export type PillarsContext = Using<"nowMs" | "pause", unknown, PillarBooks> & Changing & ChangingBeside;
