// The route that the address names, and what holds everywhere: time zone, theme. Pages follow it.
import { computed, signal } from "@preact/signals";
import { parseRoute, type Route, routeLink } from "../view/location.ts";
import { isZone, UTC } from "../view/time-text.ts";
import { wallMs } from "./clock.ts";

export const route = signal<Route>(parseRoute(location.hash));
window.addEventListener("hashchange", () => {
  route.value = parseRoute(location.hash);
});

/** The zone of this computer. */
const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone || UTC;
const storedZone = signal(stored("vedette.zone"));

/** The zone of every time that is shown: the address's, else the one that was chosen, else this computer's. */
export const zone = computed(() => {
  const named = route.value.query.tz ?? storedZone.value ?? localZone;
  return isZone(named) ? named : localZone;
});

/** Now, in steps of a second, for ages and the ends of ranges. */
export const now = signal(wallMs());
setInterval(() => {
  if (!document.hidden) now.value = wallMs();
}, 1000);

export const theme = signal<"system" | "light" | "dark">((stored("vedette.theme") as "light" | "dark" | null) ?? "system");
applyTheme();

export function setTheme(next: "system" | "light" | "dark"): void {
  theme.value = next;
  keep("vedette.theme", next === "system" ? null : next);
  applyTheme();
}

function applyTheme(): void {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
}

export function setZone(next: string | null): void {
  storedZone.value = next;
  keep("vedette.zone", next);
  if (route.value.query.tz !== undefined) setQuery({ tz: undefined });
}

export const zoneChoices = [
  { label: `Local (${localZone})`, value: localZone },
  { label: "UTC", value: UTC },
];

/** Goes to a route; `replace` leaves no step for the back key. */
export function go(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}, replace = false): void {
  const link = routeLink(path, query);
  if (replace) {
    history.replaceState(null, "", link);
    route.value = parseRoute(link);
  } else location.hash = link.slice(1);
}

/** Changes parameters of the route; undefined takes one away. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>, replace = true): void {
  go(route.value.path, { ...route.value.query, ...changes }, replace);
}

/** A link that keeps the zone of the address. */
export function link(path: readonly string[], query: Readonly<Record<string, string | undefined>> = {}): string {
  return routeLink(path, { ...query, tz: route.value.query.tz });
}

function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null; // a browser that keeps nothing
  }
}

function keep(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(name);
    else localStorage.setItem(name, value);
  } catch {
    // a browser that keeps nothing: the choice holds for this tab
  }
}
