// POST /api/v1/atlas/import/catalog: the owners of components become labels of the source `catalog`, all in one change. What a component said before goes: one
// that changes from a team to a person has no team any more. Components that the catalog does not name keep what they have.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { CATALOG_ENTITIES_MAX } from "../../core/config/declaration-limits.ts";
import type { ComponentLabel } from "../../domain/catalog/catalog-entity.ts";
import { CatalogError, isLabel, type PlacedEntity, readCatalog } from "../../domain/catalog/catalog-reader.ts";
import { ROUTING_KEYS } from "../../domain/labels/service-label.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { mapInSlices } from "../state/slices.ts";
import type { LabelBook, ServiceLabel } from "./label-book.ts";
import { LabelDraft, operationOf } from "./label-draft.ts";
import type { LabelsContext } from "./labels-context.ts";

/** Changes that the audit row of an import shows. */
const CHANGES_AUDITED = 100;

type ImportRequest = QueryRequest<"importCatalog">;

interface EntityResult {
  readonly index: number;
  readonly line: number | null;
  readonly kind: string | null;
  readonly service_id: string | null;
  readonly outcome: "set" | "unchanged" | "skipped";
  readonly key: string | null;
  readonly value: string | null;
  /** The source that is in force all the same. */
  readonly overridden_by: string | null;
  readonly reason: string | null;
  readonly message: string | null;
}

export async function importCatalog(context: LabelsContext, request: ImportRequest): Promise<Outcome<unknown>> {
  const read = await readEntities(context, request);
  if (!read.ok) return read;
  const { labels } = context.state.configured;
  if (request.query.dry_run === "true") return done(reportOf(true, await resultsOf(context, request, read.value, new LabelDraft(labels))));
  const imported = (change: LabelsContext["change"]) => importEntities({ ...context, change }, request, read.value);
  return context.changeBeside(request.principal.tenant, (change) => labels.changes.run(() => imported(change)));
}

/** Looks and encodes beside others' transactions: no other change of labels by people begins before this one has ended. */
async function importEntities(
  context: LabelsContext,
  request: ImportRequest,
  entities: readonly PlacedEntity[],
): Promise<Outcome<unknown>> {
  const { tenant } = request.principal;
  const { labels } = context.state.configured;
  const draft = new LabelDraft(labels);
  const results = await resultsOf(context, request, entities, draft);
  const report = reportOf(false, results);
  const operations = await mapInSlices(draft.changes, operationOf, context.pause);
  return context.change(request, () => {
    if (operations.length === 0) return { ok: "unchanged", outcome: done(report) };
    const { results: _results, ...counts } = report;
    const changed = results.filter(({ outcome }) => outcome === "set");
    const before = changed.slice(0, CHANGES_AUDITED).map(({ service_id }) => spoken(labels, tenant, service_id as string));
    const after = changed.slice(0, CHANGES_AUDITED).map(({ service_id, key, value }) => ({ service_id, key, value }));
    return {
      ok: true,
      note: { action: "catalog.import", object: "catalog", before: { labels: before.flat() }, after: { ...counts, labels: after } },
      operations,
      takeOver: (pause) => mapInSlices(draft.changes, (one) => draft.take(one), pause),
      outcome: done(report),
    };
  });
}

function resultsOf(context: LabelsContext, { principal }: ImportRequest, entities: readonly PlacedEntity[], draft: LabelDraft) {
  const scope = { tenant: principal.tenant, labels: context.state.configured.labels, draft, nowMs: context.nowMs() };
  return mapInSlices(entities, (entity) => resultOf(entity, scope), context.pause);
}

async function readEntities(context: LabelsContext, { body, mediaType }: ImportRequest): Promise<Outcome<PlacedEntity[]>> {
  const entities: PlacedEntity[] = [];
  try {
    for (const entity of readCatalog(body, mediaType === "application/json" ? "json" : "yaml")) {
      await context.pause();
      if (entity === null) continue;
      entities.push(entity);
      if (entities.length > CATALOG_ENTITIES_MAX)
        return refused("payload_too_large", `a catalog may have ${CATALOG_ENTITIES_MAX} entities, got more; send it in parts`);
    }
  } catch (error) {
    if (error instanceof CatalogError) return refused(error.isTooLarge ? "payload_too_large" : "invalid_json", error.message);
    throw error;
  }
  if (entities.length === 0) return refused("bad_request", "the body holds no entity; send Backstage entities in YAML or JSON");
  const [first] = entities;
  const nothing = entities.every(({ entity }) => !isLabel(entity) && (entity.reason === "unreadable" || entity.reason === "not_an_entity"));
  if (first !== undefined && !isLabel(first.entity) && nothing)
    return refused("unprocessable", `nothing in the body is an entity; the first document ${first.entity.message}`);
  return done(entities);
}

interface EntityPosition {
  readonly tenant: string;
  readonly labels: LabelBook;
  readonly draft: LabelDraft;
  readonly nowMs: number;
}

/** Puts the label of an entity into the draft and says what became of it. */
function resultOf({ index, line, entity }: PlacedEntity, { tenant, labels, draft, nowMs }: EntityPosition): EntityResult {
  if (!isLabel(entity)) {
    const { kind, name, reason, message } = entity;
    const nothing = { key: null, value: null, overridden_by: null };
    return { index, line, kind, service_id: name, outcome: "skipped", ...nothing, reason, message };
  }
  const { kind, name, key, value } = entity;
  const label = { index, line, kind, service_id: name, key, value };
  const set = setLabel(entity, tenant, draft, nowMs);
  if (typeof set === "object")
    return { ...label, outcome: "skipped", overridden_by: null, reason: "limit", message: `${set.full}; remove others first` };
  const manual = labels.find({ tenant, serviceId: name, key, source: "manual" });
  return { ...label, outcome: set, overridden_by: manual === undefined ? null : "manual", reason: null, message: null };
}

function setLabel({ name: serviceId, key, value }: ComponentLabel, tenant: string, draft: LabelDraft, nowMs: number) {
  const label: ServiceLabel = { tenant, serviceId, key, source: "catalog", value, updatedMs: nowMs };
  const outcome = draft.set(label);
  if (typeof outcome === "object") return outcome;
  let isChanged = outcome === "set";
  for (const other of ROUTING_KEYS) {
    const labelKey = { tenant, serviceId, key: other, source: "catalog" } as const;
    if (other === key || draft.find(labelKey) === undefined) continue;
    draft.remove(labelKey);
    isChanged = true;
  }
  return isChanged ? "set" : "unchanged";
}

function reportOf(isDry: boolean, results: readonly EntityResult[]) {
  const byReason = new Map<string, number>();
  for (const { reason } of results) if (reason !== null) byReason.set(reason, (byReason.get(reason) ?? 0) + 1);
  const count = (outcome: EntityResult["outcome"]) => results.filter((result) => result.outcome === outcome).length;
  return {
    dry_run: isDry,
    entities: results.length,
    set: count("set"),
    unchanged: count("unchanged"),
    skipped: count("skipped"),
    skipped_by_reason: Object.fromEntries(byReason),
    results,
  };
}

/** Labels of a service from the catalog until now. */
function spoken(labels: LabelBook, tenant: string, serviceId: string) {
  return labels
    .of(tenant, serviceId)
    .filter(({ source }) => source === "catalog")
    .map(({ key, value }) => ({ service_id: serviceId, key, value }));
}
