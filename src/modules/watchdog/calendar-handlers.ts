// GET and PUT /api/v1/settings/calendar.
import { done, type Outcome } from "../../api/refusal.ts";
import type { KnownDay } from "../../core/protocol/watchdog-settings.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { calendarOperation, type StoredCalendar } from "./calendar-book.ts";
import type { WatchdogContext } from "./watchdog-context.ts";

/** The days that are set. */
export function readCalendar({ state }: WatchdogContext, { principal }: QueryRequest<"calendar">): Outcome<unknown> {
  return done(view(state.configured.watchdog.calendars.of(principal.tenant)));
}

/** Sets all days anew. */
export async function setCalendar(context: WatchdogContext, request: QueryRequest<"setCalendar">): Promise<Outcome<unknown>> {
  const book = context.state.configured.watchdog;
  const { tenant } = request.principal;
  const days = request.body.days
    .map(({ date, name, like, yearly }): KnownDay => ({ date, name, like, yearly: yearly ?? false }))
    .sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
  return context.change(request, () => {
    const before = book.calendars.of(tenant);
    if (JSON.stringify(before?.days ?? []) === JSON.stringify(days)) return { ok: "unchanged", outcome: done(view(before)) };
    const stored: StoredCalendar = { tenant, days, updatedMs: context.nowMs() };
    return {
      ok: true,
      note: { action: "calendar.set", object: "the tenant", before: before?.days ?? null, after: days },
      operations: [calendarOperation(stored)],
      apply: () => context.engines.reportAll(book.putCalendar(stored)),
      outcome: done(view(stored)),
    };
  });
}

function view(stored: StoredCalendar | undefined) {
  return { days: stored?.days ?? [], updated_at: stored === undefined ? null : formatRfc3339(stored.updatedMs) };
}
