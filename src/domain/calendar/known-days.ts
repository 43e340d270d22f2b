// Days on which a tenant's telemetry is other than usual, and known to be: holidays that go as weekends do, and sales or migrations that go as no day does.

import type { DayKind, KnownDay } from "../../core/protocol/watchdog-settings.ts";
import { DAY_MS } from "../../core/time/durations.ts";

/** Whether it is a day that there is. */
export function isDate(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const ms = Date.parse(`${text}T00:00:00Z`);
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(text);
}

/** Looks days up by a local time. A date of its own goes before one that comes back. */
export class KnownDays {
  readonly #kinds = new Map<string, DayKind>();
  #day = Number.NaN;
  #kind: DayKind | null = null;

  constructor(days: readonly KnownDay[]) {
    for (const { date, like, yearly } of days) this.#kinds.set(yearly ? date.slice(5) : date, like);
  }

  /** The kind of the day at a local time; null for one like all others. */
  kindAt(localMs: number): DayKind | null {
    const day = Math.floor(localMs / DAY_MS);
    if (day !== this.#day) {
      const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
      this.#kind = this.#kinds.get(date) ?? this.#kinds.get(date.slice(5)) ?? null;
      this.#day = day;
    }
    return this.#kind;
  }
}

/** The end of the local day that a local time is in. */
export function endOfDay(localMs: number): number {
  return (Math.floor(localMs / DAY_MS) + 1) * DAY_MS;
}
