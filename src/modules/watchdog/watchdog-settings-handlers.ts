// GET, PUT and DELETE /api/v1/settings/watchdog.
import type { BodyOf } from "../../api/endpoints.ts";
import { listed, type PagePosition, type WholeList } from "../../api/page-token.ts";
import { done, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { changedOverrides, effectiveView, SETTING_NAMES, settingsView } from "../../api/shapes/watchdog-settings.ts";
import { WATCHDOG_PLACES_PER_TENANT_MAX } from "../../core/config/limits.ts";
import { ShareDraft } from "../../core/fairness/share-ledger.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { THRESHOLDS_MAX } from "../../domain/detection/threshold-profiles.ts";
import type { ScopedOverrides, SettingsScope } from "../../domain/detection/watchdog-settings.ts";
import type { ChangeNote } from "../access/audit-log.ts";
import type { FeedbackEffect } from "../alerts/feedback-book.ts";
import type { ChangeRequest, QueryRequest } from "../queries/query-context.ts";
import { inSlices, mapInSlices } from "../state/slices.ts";
import { type SettingsChange, settingsOperation, type WatchdogBook } from "./watchdog-book.ts";
import type { WatchdogContext } from "./watchdog-context.ts";

const METRIC_NEEDS_SERVICE = "metric_name needs service_id: settings are of a tenant, a service, or a metric of a service";

/** Sets some members of a place. */
export async function setWatchdogSettings(
  context: WatchdogContext,
  request: QueryRequest<"setWatchdogSettings">,
): Promise<Outcome<unknown>> {
  const { service_id, metric_name } = request.body;
  const [made] = (await setSettings(context, request, [request.body])) as [Outcome<unknown>];
  const scope = scopeOf(request.principal.tenant, service_id, metric_name);
  return made.ok ? { ...made, value: scopeView(context.state.configured.watchdog, scope) } : made;
}

/** Sets members of different places, in one transaction; an outcome of each. */
export async function setSettings(
  context: WatchdogContext,
  request: ChangeRequest,
  bodies: ReadonlyArray<BodyOf<"setWatchdogSettings">>,
): Promise<Array<Outcome<unknown>>> {
  const book = context.state.configured.watchdog;
  const changed = await context.change<Array<Outcome<unknown>>>(request, async (pause) => {
    const draft: SettingsDraft = {
      book,
      tenant: request.principal.tenant,
      shares: new ShareDraft(book.table.shares),
      nowMs: context.nowMs(),
      changes: [],
      notes: [],
    };
    const outcomes = await mapInSlices(bodies, (body) => setInto(draft, body), pause);
    if (draft.changes.length === 0) return { ok: "unchanged", outcome: done(outcomes) };
    await inSlices(book.prepare(draft.changes), pause);
    return {
      ok: true,
      note: draft.notes,
      operations: draft.changes.map(({ scope, settings }) => settingsOperation(scope, settings)),
      apply: () => context.engines.reportAll(book.put(draft.changes)),
      outcome: done(outcomes),
    };
  });
  return changed.ok ? changed.value : bodies.map(() => changed);
}

interface SettingsDraft {
  readonly book: WatchdogBook;
  readonly tenant: string;
  readonly shares: ShareDraft;
  readonly nowMs: number;
  readonly changes: SettingsChange[];
  /** Rows of the audit log. */
  readonly notes: ChangeNote[];
}

function setInto(draft: SettingsDraft, { service_id, metric_name, ...members }: BodyOf<"setWatchdogSettings">): Outcome<unknown> {
  const { book, nowMs, changes, notes, tenant } = draft;
  if (metric_name !== undefined && service_id === undefined) return refused("bad_request", METRIC_NEEDS_SERVICE);
  if (Object.values(members).every((value) => value === undefined))
    return refused("bad_request", `nothing is set; give one of ${SETTING_NAMES.join(", ")}, null to take it away`);
  const scope = scopeOf(tenant, service_id, metric_name);
  const before = book.table.at(scope);
  const overrides = changedOverrides(before ?? {}, members);
  if (JSON.stringify(settingsView(overrides)) === JSON.stringify(settingsView(before ?? {}))) return done(null);
  const problem = problemOf(draft, { ...scope, overrides }, before === undefined);
  if (problem !== undefined) return refused("unprocessable", problem);
  const isEmpty = Object.keys(overrides).length === 0;
  changes.push({ scope, settings: isEmpty ? undefined : { ...scope, overrides, updatedMs: nowMs } });
  notes.push({ action: "settings.set", object: nameOf(scope), before: before && settingsView(before), after: settingsView(overrides) });
  return before === undefined ? { ok: true, value: null, status: 201 } : done(null);
}

/** Takes all away that is set at a place. */
export function deleteWatchdogSettings(
  context: WatchdogContext,
  request: QueryRequest<"deleteWatchdogSettings">,
): Promise<Outcome<unknown>> {
  const book = context.state.configured.watchdog;
  const { service_id, metric_name } = request.query;
  const scope = scopeOf(request.principal.tenant, service_id, metric_name);
  return context.change(request, () => {
    const before = book.table.at(scope);
    if (before === undefined) return refused("not_found", `nothing is set for ${nameOf(scope)} itself`);
    return {
      ok: true,
      note: { action: "settings.delete", object: nameOf(scope), before: settingsView(before), after: null },
      operations: [settingsOperation(scope, undefined)],
      apply: () => context.engines.reportAll(book.put([{ scope, settings: undefined }])),
      outcome: noContent(),
    };
  });
}

/** Settings in force in a scope, and a page of what is set there and below. */
export function listWatchdogSettings({ state, nowMs }: WatchdogContext, request: QueryRequest<"watchdogSettings">): Outcome<unknown> {
  const { principal, query } = request;
  if (query.metric_name !== undefined && query.service_id === undefined) return refused("invalid_parameter", METRIC_NEEDS_SERVICE);
  const book = state.configured.watchdog;
  const scope = scopeOf(principal.tenant, query.service_id, query.metric_name);
  const matching = book.table.listOf(principal.tenant).filter((each) => isWithin(each, scope));
  const feedback = scope.serviceId === null ? [] : state.alerts.feedback.effects(principal.tenant, scope.serviceId, nowMs());
  const inForce = book.settingsOf(principal.tenant, scope.serviceId ?? "", scope.metricName ?? "").zThreshold;
  const list: WholeList<ScopedOverrides> = { endpoint: "watchdogSettings", positionOf };
  return listed(state, request, list, matching, (page) => ({
    ...scopeView(book, scope),
    feedback: feedback.map((effect) => effectView(effect, inForce)),
    overrides: page.map((each) => ({ ...namesOf(each), set: settingsView(each.overrides), updated_at: updatedAt(book, each) })),
    total: matching.length,
  }));
}

/** What marks of people do to the threshold of a family. */
function effectView({ family, factor, falsePositives, truePositives, untilMs }: FeedbackEffect, zThreshold: number) {
  return {
    family,
    factor,
    z_threshold: zThreshold * factor,
    false_positives: falsePositives,
    true_positives: truePositives,
    until: formatRfc3339(untilMs),
  };
}

function problemOf({ book, shares, changes }: SettingsDraft, change: ScopedOverrides, isNew: boolean): string | undefined {
  const { tenant } = change;
  const places = book.table.sizeOf(tenant) + shares.added(tenant);
  const others = changes.map(({ scope, settings }) => ({ ...scope, overrides: settings?.overrides ?? {} }));
  if (!book.takes([...others, change]))
    return `z_threshold ${change.overrides.zThreshold} would be one more than the ${THRESHOLDS_MAX} thresholds that can be in use at once besides the environment's; use one of ${book.thresholds.join(", ")}, or take some away first`;
  if (isNew && (places >= WATCHDOG_PLACES_PER_TENANT_MAX || !shares.take(tenant)))
    return `settings are set at ${places} places, and there is room for no more; take some away first`;
  return undefined;
}

function isWithin(each: SettingsScope, { serviceId, metricName }: SettingsScope): boolean {
  return (serviceId === null || each.serviceId === serviceId) && (metricName === null || each.metricName === metricName);
}

function scopeOf(tenant: string, serviceId: string | undefined, metricName: string | undefined): SettingsScope {
  return { tenant, serviceId: serviceId ?? null, metricName: metricName ?? null };
}

function scopeView(book: WatchdogBook, scope: SettingsScope) {
  const { tenant, serviceId, metricName } = scope;
  const inForce = book.settingsOf(tenant, serviceId ?? "", metricName ?? "");
  return {
    ...namesOf(scope),
    settings: effectiveView(inForce, book.table.sourcesOf(scope)),
    set: settingsView(book.table.at(scope) ?? {}),
    updated_at: updatedAt(book, scope),
  };
}

function namesOf({ serviceId, metricName }: SettingsScope) {
  return { service_id: serviceId, metric_name: metricName };
}

function updatedAt(book: WatchdogBook, scope: SettingsScope): string | null {
  const updatedMs = book.updatedMs(scope);
  return updatedMs === null ? null : formatRfc3339(updatedMs);
}

function positionOf({ serviceId, metricName }: SettingsScope): PagePosition {
  return [serviceId ?? "", metricName ?? ""];
}

function nameOf({ serviceId, metricName }: SettingsScope): string {
  if (serviceId === null) return "the tenant";
  return metricName === null ? shown(serviceId) : `${shown(metricName)} of ${shown(serviceId)}`;
}
