// PUT, GET and DELETE /api/v1/service-labels. A page of the list looks at RECORDS_SCANNED_MAX rows at most: it may then be shorter than `limit`, and its
// token goes on.
import type { BodyOf } from "../../api/endpoints.ts";
import { openPage } from "../../api/page-token.ts";
import { done, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { RECORDS_SCANNED_MAX } from "../../core/config/limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { KeyBuilder, prefixEnd } from "../../domain/codec/key.ts";
import { LABEL_SOURCES as ORDER } from "../../domain/labels/service-label.ts";
import type { ChangeNote } from "../access/audit-log.ts";
import type { ChangePlan } from "../access/changes.ts";
import type { ChangeRequest, QueryRequest } from "../queries/query-context.ts";
import { ROWS_PER_READ } from "../state/scan.ts";
import { mapInSlices } from "../state/slices.ts";
import { TABLE_END } from "../state/tables.ts";
import { type LabelScope, labelKey, readLabel, type ServiceLabel } from "./label-book.ts";
import { LabelDraft } from "./label-draft.ts";
import type { LabelsContext } from "./labels-context.ts";

/** Sets a label by hand. */
export async function setLabel(context: LabelsContext, request: QueryRequest<"setLabel">): Promise<Outcome<unknown>> {
  const [outcome] = await setLabels(context, request, [request.body]);
  return outcome as Outcome<unknown>;
}

/** Sets labels of different places by hand, in one transaction; an outcome of each. */
export async function setLabels(
  context: LabelsContext,
  request: ChangeRequest,
  bodies: ReadonlyArray<BodyOf<"setLabel">>,
): Promise<Array<Outcome<unknown>>> {
  const { labels } = context.state.configured;
  const plan: ChangePlan<Array<Outcome<unknown>>> = async (pause) => {
    const draft = new LabelDraft(labels);
    const notes: ChangeNote[] = [];
    const outcomes = await mapInSlices(bodies, (body) => setInto(draft, { context, request, notes }, body), pause);
    if (notes.length === 0) return { ok: "unchanged", outcome: done(outcomes) };
    return {
      ok: true,
      note: notes,
      operations: draft.operations(),
      apply: () => draft.apply(),
      outcome: done(outcomes),
    };
  };
  const changed = await context.changeBeside(request.principal.tenant, (change) => labels.changes.run(() => change(request, plan)));
  return changed.ok ? changed.value : bodies.map(() => changed);
}

interface LabelsSet {
  readonly context: LabelsContext;
  readonly request: ChangeRequest;
  /** Rows of the audit log. */
  readonly notes: ChangeNote[];
}

function setInto(
  draft: LabelDraft,
  { context, request, notes }: LabelsSet,
  { service_id: serviceId, key, value }: BodyOf<"setLabel">,
): Outcome<unknown> {
  const { labels } = context.state.configured;
  const scope: LabelScope = { tenant: request.principal.tenant, serviceId, key, source: "manual" };
  const before = labels.of(scope.tenant, serviceId).filter((label) => label.key === key);
  const isNew = labels.find(scope) === undefined;
  const label: ServiceLabel = { ...scope, value, updatedMs: context.nowMs() };
  const outcome = draft.set(label);
  if (outcome === "unchanged") return done(labelView(before));
  if (typeof outcome === "object") return refused("unprocessable", `${outcome.full}; remove others first`);
  const after = labelView([...before.filter(({ source }) => source !== "manual"), label]);
  notes.push({ action: "label.set", object: `${serviceId}/${key}`, before: before.length === 0 ? null : labelView(before), after });
  return isNew ? { ok: true, value: after, status: 201 } : done(after);
}

/** Removes what one source says. */
export function deleteLabel(context: LabelsContext, request: QueryRequest<"deleteLabel">): Promise<Outcome<unknown>> {
  const { labels } = context.state.configured;
  const { service_id: serviceId, key, source = "manual" } = request.query;
  const scope: LabelScope = { tenant: request.principal.tenant, serviceId, key, source };
  const plan: ChangePlan<null> = () => {
    const before = labels.of(scope.tenant, serviceId).filter((label) => label.key === key);
    const after = before.filter((label) => label.source !== source);
    if (after.length === before.length) return refused("not_found", absence(scope, before));
    const draft = new LabelDraft(labels);
    draft.remove(scope);
    return {
      ok: true,
      note: {
        action: "label.delete",
        object: `${serviceId}/${key}`,
        before: labelView(before),
        after: after.length === 0 ? null : labelView(after),
      },
      operations: draft.operations(),
      apply: () => draft.apply(),
      outcome: noContent(),
    };
  };
  return context.changeBeside(scope.tenant, (change) => labels.changes.run(() => change(request, plan)));
}

function absence({ serviceId, key, source }: LabelScope, others: readonly ServiceLabel[]): string {
  const what = `${shown(serviceId)} has no label ${shown(key)} of source ${source}`;
  const [other] = others;
  return other === undefined ? what : `${what}; add source=${other.source} to remove the one that there is`;
}

/** A page of the tenant's labels. */
export async function listLabels(context: LabelsContext, request: QueryRequest<"labels">): Promise<Outcome<unknown>> {
  const { principal, query } = request;
  const { limit } = query;
  const { tenant } = principal;
  const asked = openPage(context.state, request, "labels");
  if (!asked.ok) return asked;
  const { after } = asked.value;
  const prefix = new KeyBuilder().text(tenant);
  if (query.service_id !== undefined) prefix.text(query.service_id);
  const bounds = { from: prefix.finish(), to: prefixEnd(prefix.finish()) ?? TABLE_END };
  if (after !== undefined) bounds.from = behind(tenant, after[0] as string, after[1] as string);
  const { groups, endedAt } = await readGroups(context, bounds, query.key, limit + 1);
  const page = groups.slice(0, limit);
  const last = groups.length > limit ? page.at(-1)?.[0] : endedAt;
  return done({
    labels: page.map(labelView),
    total: context.state.configured.labels.count(tenant, query.service_id, query.key),
    page_token: asked.value.tokenOf(last && [last.serviceId, last.key]),
  });
}

/** Above all rows of a service's key. */
function behind(tenant: string, serviceId: string, key: string): Uint8Array {
  return prefixEnd(new KeyBuilder().text(tenant).text(serviceId).text(key).finish()) ?? TABLE_END;
}

/** The first `limit` groups of rows of one service and key; `endedAt` where the bound on what is looked at ended it. */
async function readGroups(
  context: LabelsContext,
  { from, to }: { readonly from: Uint8Array; readonly to: Uint8Array },
  key: string | undefined,
  limit: number,
): Promise<{ groups: ServiceLabel[][]; endedAt: ServiceLabel | undefined }> {
  const groups: ServiceLabel[][] = [];
  let group: ServiceLabel[] = [];
  let start = from;
  for (let scanned = 0; scanned < RECORDS_SCANNED_MAX; ) {
    const entries = context.state.control.range("service_labels", { from: start, to, limit: ROWS_PER_READ });
    for (const entry of entries) {
      const label = readLabel(entry.key, entry.value);
      if (group[0]?.serviceId !== label.serviceId || group[0].key !== label.key) {
        if (groups.length === limit) return { groups, endedAt: undefined };
        group = [];
        if (key === undefined || label.key === key) groups.push(group);
      }
      group.push(label);
    }
    const last = group.at(-1);
    if (last === undefined || entries.length < ROWS_PER_READ) return { groups, endedAt: undefined };
    scanned += entries.length;
    // A group goes on behind its last row: sources of one key lie together.
    start = new Uint8Array([...labelKey(last), 0]);
    await context.yieldToLoop();
  }
  return { groups, endedAt: group.at(-1) };
}

/** Values of all sources for one key of a service: the last is in force. */
function labelView(labels: readonly ServiceLabel[]) {
  const ordered = [...labels].sort((a, b) => ORDER.indexOf(b.source) - ORDER.indexOf(a.source));
  const [{ serviceId, key, ...inForce }, ...others] = ordered as [ServiceLabel, ...ServiceLabel[]];
  return { service_id: serviceId, key, ...sourceView(inForce), overrides: others.map(sourceView) };
}

function sourceView({ source, value, updatedMs }: Pick<ServiceLabel, "source" | "value" | "updatedMs">) {
  return { source, value, updated_at: formatRfc3339(updatedMs) };
}
