// POST /api/v1/alerts/{alert_id}/acknowledge, /unacknowledge, /assign, /resolve, /accept, /snooze, /comments, and /api/v1/alerts/actions for many at once.
import { alertFields } from "../../api/alert-view.ts";
import { created, done, ERROR_STATUS, type Outcome, type Refusal } from "../../api/refusal.ts";
import type { Alert } from "../../domain/alerting/paging/alert.ts";
import type { ChangeNote } from "../access/audit-log.ts";
import { unknownAlert } from "../alerts/alert-handlers.ts";
import { EndedAnomalies } from "../anomalies/ended-anomalies.ts";
import type { ChangeRequest, QueryRequest } from "../queries/query-context.ts";
import {
  type ActionScope,
  type AlertAction,
  accepting,
  acknowledging,
  assigning,
  commenting,
  resolving,
  snoozing,
  unacknowledging,
} from "./alert-actions.ts";
import type { AlertActionsContext } from "./level-acceptance.ts";
import { acceptedByEngines, type KnownLevels } from "./level-acceptance.ts";

/** A request about the one alert of its path. */
type OneAlertRequest = ChangeRequest & Pick<QueryRequest<"resolveAlert">, "path">;
type Handled = Promise<Outcome<unknown>>;

/** An action by its name in the audit log. */
interface NamedAction {
  readonly name: string;
  readonly act: AlertAction;
}

/** Acknowledges an alert. A name that was given besides stands beside who is signed in, and never in its place. */
export function acknowledgeAlert(context: AlertActionsContext, request: QueryRequest<"acknowledgeAlert">): Handled {
  const { by: input, note = null } = request.body;
  const { subject } = request.principal;
  const by = input === undefined || input === "" || input === subject ? subject : `${input} (${subject})`;
  return actOnOne(context, request, { name: "acknowledge", act: acknowledging(note) }, by);
}

/** Takes an acknowledgement back. */
export function unacknowledgeAlert(context: AlertActionsContext, request: QueryRequest<"unacknowledgeAlert">): Handled {
  return actOnOne(context, request, { name: "unacknowledge", act: unacknowledging(request.body.comment ?? null) });
}

/** Says who looks after an alert. */
export function assignAlert(context: AlertActionsContext, request: QueryRequest<"assignAlert">): Handled {
  return actOnOne(context, request, { name: "assign", act: assigning(request.body.assignee) });
}

/** Ends an alert. */
export function resolveAlert(context: AlertActionsContext, request: QueryRequest<"resolveAlert">): Handled {
  return actOnOne(context, request, { name: "resolve", act: resolving(request.body.comment ?? null) });
}

/** Takes the level that an alert tells of for the usual one. */
export async function acceptAlert(context: AlertActionsContext, request: QueryRequest<"acceptAlert">): Handled {
  const { known, refusal } = await acceptedByEngines(context, request.principal.tenant, [request.path.alert_id ?? ""]);
  if (refusal !== undefined) return { ok: false, refusal };
  return actOnOne(context, request, { name: "accept", act: accepting(known, request.body.comment ?? null) });
}

/** Calls nobody about an alert for a while. */
export function snoozeAlert(context: AlertActionsContext, request: QueryRequest<"snoozeAlert">): Handled {
  const { until, comment = null } = request.body;
  return actOnOne(context, request, { name: "snooze", act: snoozing(until, comment) });
}

/** Adds a comment. */
export async function commentAlert(context: AlertActionsContext, request: QueryRequest<"commentAlert">): Handled {
  const outcome = await actOnOne(context, request, { name: "comment", act: commenting(request.body.text) });
  return outcome.ok ? created(outcome.value) : outcome;
}

/** Does to each of several alerts what is asked, in one transaction; what cannot be done to one is said of that one. */
export async function actOnAlerts(context: AlertActionsContext, request: QueryRequest<"actOnAlerts">): Handled {
  const { body, principal } = request;
  const { known, refusal: failed } =
    body.action === "accept"
      ? await acceptedByEngines(context, principal.tenant, body.alert_ids)
      : { known: new Map(), refusal: undefined };
  if (failed !== undefined) return { ok: false, refusal: failed };
  const action = actionOf(body, known);
  return context.change(request, () => {
    const changes = changesOf(context, request, action.name, principal.subject);
    const results = request.body.alert_ids.map((id) => {
      const { refusal } = changes.act(id, action);
      const status = refusal === undefined ? (action.name === "comment" ? 201 : 200) : ERROR_STATUS[refusal.code];
      return { alert_id: id, status, error: refusal?.code ?? null };
    });
    return changes.close(done({ results }));
  });
}

function actionOf(body: QueryRequest<"actOnAlerts">["body"], known: KnownLevels): NamedAction {
  const { action: name } = body;
  switch (name) {
    case "acknowledge":
      return { name, act: acknowledging(body.note ?? null) };
    case "unacknowledge":
      return { name, act: unacknowledging(body.comment ?? null) };
    case "resolve":
      return { name, act: resolving(body.comment ?? null) };
    case "accept":
      return { name, act: accepting(known, body.comment ?? null) };
    case "snooze":
      return { name, act: snoozing(body.until, body.comment ?? null) };
    case "comment":
      return { name, act: commenting(body.text) };
    case "assign":
      return { name, act: assigning(body.assignee) };
  }
}

function actOnOne(context: AlertActionsContext, request: OneAlertRequest, action: NamedAction, by = request.principal.subject): Handled {
  return context.change(request, () => {
    const changes = changesOf(context, request, action.name, by);
    const { refusal, after } = changes.act(request.path.alert_id ?? "", action);
    if (refusal !== undefined) return { ok: false, refusal };
    return changes.close(done(context.state.alerts.view(after as Alert)));
  });
}

/** Changes of one request: they are stored together, with a row of the audit log for each. */
function changesOf(context: AlertActionsContext, { principal }: ChangeRequest, action: string, by: string) {
  const { tenant, subject } = principal;
  const scope: ActionScope = {
    ended: new EndedAnomalies(context, tenant, { reason: action === "accept" ? "accepted" : "person", person: subject }),
    by,
    atMs: context.nowMs(),
  };
  const { ended } = scope;
  const notes: ChangeNote[] = [];
  return {
    act(id: string, { name, act }: NamedAction): { readonly refusal?: Refusal | undefined; readonly after?: Alert } {
      const before = ended.alerts.find(tenant, id);
      if (before === undefined) return { refusal: unknownAlert(id).refusal };
      const refusal = act(before, scope);
      if (refusal !== undefined) return { refusal };
      const after = ended.alerts.find(tenant, id) ?? before;
      if (after !== before || name === "comment") {
        notes.push({ action: `alert.${name}`, object: id, before: byHand(before), after: byHand(after) });
      }
      return { after };
    },
    close(outcome: Outcome<unknown>) {
      if (ended.isEmpty) return { ok: "unchanged", outcome } as const;
      return { ok: true, note: notes, operations: ended.operations(), apply: () => ended.apply(), outcome } as const;
    },
  };
}

/** Fields of an alert that people change. */
function byHand(alert: Alert) {
  const { state, acknowledged_by, note, assignee, snoozed_until, resolved_by } = alertFields(alert);
  return { state, acknowledged_by, note, assignee, snoozed_until, resolved_by };
}
