// Keys: / searches, j and k walk over rows, Enter opens, a and s do what the row offers, g and a letter goes somewhere, ? lists them. Rows are elements with
// data-row, whose first link is what Enter opens; what a key presses has data-key.
import { signal } from "@preact/signals";
import { go } from "../state/route.ts";

export const isPaletteOpen = signal(false);
export const isHelpOpen = signal(false);

/** Where g and a letter goes. */
export const JUMPS: Readonly<Record<string, { readonly path: string; readonly label: string }>> = {
  n: { path: "now", label: "Overview" },
  f: { path: "anomalies", label: "Anomalies" },
  a: { path: "alerts", label: "Alerts" },
  s: { path: "services", label: "Services" },
  m: { path: "graph", label: "Service map" },
  u: { path: "saturation", label: "Capacity" },
  d: { path: "dead-letters", label: "Rejected telemetry" },
  t: { path: "settings", label: "Settings" },
  p: { path: "pillars", label: "Business view" },
  y: { path: "system", label: "System" },
};
const JUMP_MS = 1_500;
let jumpUntil = 0;

/** Takes keys that no field wants. */
export function connectKeyboard(): void {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey) {
      if (event.key !== "k") return;
      event.preventDefault();
      isPaletteOpen.value = true;
      return;
    }
    const target = event.target as HTMLElement;
    if (event.altKey || target.closest("input, textarea, select, dialog, [contenteditable]") !== null) return;
    if (take(event.key, event.timeStamp)) event.preventDefault();
  });
}

function take(key: string, atMs: number): boolean {
  if (atMs < jumpUntil) {
    jumpUntil = 0;
    const jump = JUMPS[key];
    if (jump === undefined) return false;
    go([jump.path]);
    return true;
  }
  if (key === "g") jumpUntil = atMs + JUMP_MS;
  else if (key === "/") isPaletteOpen.value = true;
  else if (key === "?") isHelpOpen.value = true;
  else if (key === "j" || key === "k") moveFocus(key === "j" ? 1 : -1);
  else return press(key);
  return true;
}

function moveFocus(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main [data-row]")];
  const at = rows.findIndex((row) => row.contains(document.activeElement));
  const next = rows[at < 0 ? 0 : Math.min(rows.length - 1, Math.max(0, at + step))];
  const focused = next?.querySelector<HTMLElement>("a, button") ?? next;
  focused?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** The row at hand goes first, then the page. */
function press(key: string): boolean {
  if (!/^[a-z]$/.test(key)) return false;
  const row = document.activeElement?.closest("[data-row]");
  const target = row?.querySelector<HTMLElement>(`[data-key="${key}"]`) ?? document.querySelector<HTMLElement>(`main [data-key="${key}"]`);
  target?.click();
  return target !== null && target !== undefined;
}
