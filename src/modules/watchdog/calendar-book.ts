// Known days of tenants, as they are stored and as engines are informed of them.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { DAY_KINDS, type KnownDay, type TenantCalendar } from "../../core/protocol/watchdog-settings.ts";
import { KnownDays } from "../../domain/calendar/known-days.ts";
import { KeyBuilder } from "../../domain/codec/key.ts";
import { scan } from "../state/scan.ts";
import { flag, list, number, object, oneOf, StoredForm, text } from "../state/stored-json.ts";

/** A tenant's calendar as it is stored. */
export interface StoredCalendar extends TenantCalendar {
  readonly updatedMs: number;
}

const CALENDAR = new StoredForm<StoredCalendar>("calendars", {
  tenant: text,
  days: list(object<KnownDay>({ date: text, name: text, like: oneOf(DAY_KINDS), yearly: flag })),
  updatedMs: number,
});

/** Stores a tenant's days in place of those before; nothing where there are none. */
export function calendarOperation(calendar: StoredCalendar): StoreOperation {
  const key = new KeyBuilder().text(calendar.tenant).finish();
  return { table: "calendars", key, value: calendar.days.length === 0 ? undefined : CALENDAR.encode(calendar) };
}

/** The calendars of one server. */
export class CalendarBook {
  readonly #calendars = new Map<string, { readonly stored: StoredCalendar; readonly days: KnownDays }>();

  load(store: KeyValueStore): void {
    for (const { value } of scan(store, "calendars")) this.put(CALENDAR.decode(value));
  }

  of(tenant: string): StoredCalendar | undefined {
    return this.#calendars.get(tenant)?.stored;
  }

  /** Looks a tenant's days up; undefined for none. */
  knownDaysOf(tenant: string): KnownDays | undefined {
    return this.#calendars.get(tenant)?.days;
  }

  put(stored: StoredCalendar): void {
    if (stored.days.length === 0) this.#calendars.delete(stored.tenant);
    else this.#calendars.set(stored.tenant, { stored, days: new KnownDays(stored.days) });
  }

  /** All of them, for an engine that knows nothing yet. */
  get all(): TenantCalendar[] {
    return [...this.#calendars.values()].map(({ stored: { tenant, days } }) => ({ tenant, days }));
  }
}
