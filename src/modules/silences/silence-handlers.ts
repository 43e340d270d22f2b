// GET, POST /api/v1/silences and GET, DELETE /api/v1/silences/{id}.

import { listed } from "../../api/page-token.ts";
import { done, noContent, type Outcome, refused, shown } from "../../api/refusal.ts";
import { matcherFrom } from "../../api/shapes/matcher.ts";
import { SILENCES_PER_TENANT_MAX } from "../../core/config/limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { emptyMatchersProblem } from "../../domain/alerting/label-matcher.ts";
import { DAY_MINUTES, type RecurringWindow, windowProblem } from "../../domain/alerting/maintenance-window.ts";
import { type Silence, silenceState } from "../../domain/alerting/silence.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { newId } from "../state/tables.ts";
import { matchersProblem, patternCapacityProblem } from "./pattern-capacity.ts";
import { type StoredSilence, silenceOperation } from "./silence-book.ts";
import type { SilencesContext } from "./silences-context.ts";

const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] as const;

/** Makes a silence, or a window that comes again. */
export async function createSilence(context: SilencesContext, request: QueryRequest<"createSilence">): Promise<Outcome<unknown>> {
  const { configured } = context.state;
  const { silences } = configured;
  const { tenant, subject } = request.principal;
  const nowMs = context.nowMs();
  const when = readWhen(request.body, nowMs);
  if (!when.ok) return when;
  const matchers = request.body.matchers.map(matcherFrom);
  const problem = await matchersProblem(matchers, configured.patterns, context.yieldToLoop);
  const refusal = problem ?? emptyMatchersProblem(matchers, configured.patterns);
  if (refusal !== null) return refused("invalid_parameter", refusal, "matchers");
  const id = newId(context);
  const comment = commentOf(request.body, subject);
  return context.change(request, () => {
    const past = silences.pastOf(tenant, nowMs);
    const hasCapacity = silences.shares.available(tenant) + past.length >= 1;
    if (!hasCapacity) silences.shares.refuse(tenant);
    if (!hasCapacity || silences.listOf(tenant).length - past.length >= SILENCES_PER_TENANT_MAX) {
      return refused(
        "unprocessable",
        `there are ${silences.listOf(tenant).length} silences, and there is room for no more; delete some that are expired first`,
      );
    }
    const noCapacity = patternCapacityProblem(configured, tenant, matchers, nowMs);
    if (noCapacity !== null) return refused("unprocessable", noCapacity);
    const silence: StoredSilence = { id, tenant, matchers, when: when.value, comment, createdBy: subject, createdMs: nowMs };
    const after = silenceView(silence, nowMs);
    return {
      ok: true,
      note: { action: "silence.create", object: id, before: null, after },
      operations: [silenceOperation(silence, silence), ...past.map((one) => silenceOperation(one, undefined))],
      apply: () => {
        for (const one of past) silences.remove(tenant, one.id);
        silences.put(silence);
      },
      outcome: { ok: true, value: after, status: 201 },
    };
  });
}

/** Ends a silence at once. */
export function deleteSilence(context: SilencesContext, request: QueryRequest<"deleteSilence">): Promise<Outcome<unknown>> {
  const { silences } = context.state.configured;
  const { tenant } = request.principal;
  const id = request.path.id ?? "";
  return context.change(request, () => {
    const before = silences.find(tenant, id);
    if (before === undefined) return unknownSilence(id);
    return {
      ok: true,
      note: { action: "silence.delete", object: id, before: silenceView(before, context.nowMs()), after: null },
      operations: [silenceOperation(before, undefined)],
      apply: () => silences.remove(tenant, id),
      outcome: noContent(),
    };
  });
}

export function oneSilence({ state, nowMs }: SilencesContext, { principal, path }: QueryRequest<"silence">): Outcome<unknown> {
  const silence = state.configured.silences.find(principal.tenant, path.id ?? "");
  return silence === undefined ? unknownSilence(path.id ?? "") : done(silenceView(silence, nowMs()));
}

/** A page of the tenant's silences. */
export function listSilences({ state, nowMs }: SilencesContext, request: QueryRequest<"silences">): Outcome<unknown> {
  const { principal, query } = request;
  const now = nowMs();
  const matching = state.configured.silences
    .listOf(principal.tenant)
    .filter((silence) => query.state === undefined || silenceState(silence, now) === query.state);
  const list = { endpoint: "silences", newestFirst: true, positionOf: ({ createdMs, id }: (typeof matching)[number]) => [createdMs, id] };
  return listed(state, request, list, matching, (page) => ({
    silences: page.map((silence) => silenceView(silence, now)),
    total: matching.length,
  }));
}

function unknownSilence(id: string) {
  return refused("not_found", `no silence has the id ${shown(id)}; it was deleted, or is long expired`);
}

function readWhen(body: QueryRequest<"createSilence">["body"], nowMs: number): Outcome<Silence["when"]> {
  for (const [ours, alertmanagers] of [["starts_at", "startsAt"] as const, ["ends_at", "endsAt"] as const]) {
    if (body[ours] !== undefined && body[alertmanagers] !== undefined) {
      return refused("invalid_parameter", `give ${ours}, or ${alertmanagers} as Alertmanager has it, not both`, alertmanagers);
    }
  }
  const { recurring, starts_at: fromMs = body.startsAt, ends_at: endsAtMs = body.endsAt } = body;
  const startsAtMs = fromMs ?? nowMs;
  if ((endsAtMs === undefined) === (recurring === undefined)) {
    return refused("invalid_parameter", "give either ends_at, for one silence, or recurring, for a window that comes again", "ends_at");
  }
  if (endsAtMs !== undefined) {
    if (endsAtMs <= startsAtMs || endsAtMs <= nowMs) {
      const times = `it ends at ${formatRfc3339(endsAtMs)}, starts at ${formatRfc3339(startsAtMs)}, and now is ${formatRfc3339(nowMs)}`;
      return refused("invalid_parameter", `a silence must end after its start and after now: ${times}`, "ends_at");
    }
    return done({ kind: "once", startsAtMs, endsAtMs });
  }
  const { days, from, to, timezone, until = null } = recurring as NonNullable<typeof recurring>;
  const window: RecurringWindow = {
    timeZone: timezone,
    weekdays: days.map((day) => DAYS.indexOf(day)),
    startMinute: minuteOf(from),
    durationMinutes: ((minuteOf(to) - minuteOf(from) + DAY_MINUTES - 1) % DAY_MINUTES) + 1,
    fromMs: fromMs ?? null,
    untilMs: until,
  };
  const problem = windowProblem(window);
  return problem === null ? done({ kind: "recurring", window }) : refused("invalid_parameter", problem, "recurring");
}

/** With who made it by Alertmanager's form, where that is somebody else than who asks. */
function commentOf({ comment, createdBy = "" }: QueryRequest<"createSilence">["body"], subject: string): string {
  if (createdBy === "" || createdBy === subject) return comment;
  return comment === "" ? `by ${createdBy}` : `${comment} (by ${createdBy})`;
}

/** Minute of the day of a time such as 22:30. */
function minuteOf(time: string): number {
  return 60 * Number(time.slice(0, 2)) + Number(time.slice(3));
}

function timeOf(minute: number): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(Math.floor(minute / 60) % 24)}:${two(minute % 60)}`;
}

function silenceView(silence: StoredSilence, nowMs: number) {
  const { id, matchers, when, comment, createdBy, createdMs } = silence;
  const isOnce = when.kind === "once";
  const startsAtMs = isOnce ? when.startsAtMs : when.window.fromMs;
  return {
    silence_id: id,
    state: silenceState(silence, nowMs),
    matchers,
    starts_at: startsAtMs === null ? null : formatRfc3339(startsAtMs),
    ends_at: isOnce ? formatRfc3339(when.endsAtMs) : null,
    recurring: isOnce ? null : windowView(when.window),
    comment,
    created_by: createdBy,
    created_at: formatRfc3339(createdMs),
  };
}

function windowView({ weekdays, startMinute, durationMinutes, timeZone, untilMs }: RecurringWindow) {
  return {
    days: weekdays.map((day) => DAYS[day]),
    from: timeOf(startMinute),
    to: timeOf(startMinute + durationMinutes),
    timezone: timeZone,
    until: untilMs === null ? null : formatRfc3339(untilMs),
  };
}
