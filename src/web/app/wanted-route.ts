// The route that was wanted without a session. Whoever signs in elsewhere (the link of the start, another tab) comes back to it, and the tab that waits goes on.
import { wallMs } from "../state/clock.ts";
import { go } from "../state/route.ts";
import { parseRoute } from "../view/location.ts";

const KEY = "vedette.wanted";
/** As long as a sign-in link is good. */
const RETAINED_MS = 15 * 60_000;

/** Keeps where the reader is until a session is there; the first page needs no way back. */
export function keepWanted(hash: string): void {
  if (parseRoute(hash).path.length > 0) write(JSON.stringify({ hash, atMs: wallMs() }));
}

/** There is a session: other tabs that wait hear of it. */
export function forgetWanted(): void {
  write(null);
}

/** Goes where the reader wanted to, where this tab names no place of its own. */
export function openWanted(): void {
  const retained = read();
  if (location.hash !== "" || retained === undefined || wallMs() - retained.atMs > RETAINED_MS) return;
  const { path, query } = parseRoute(retained.hash);
  forgetWanted();
  go(path, query, true);
}

/** Calls back once another tab has a session. */
export function onSignedInElsewhere(then: () => void): () => void {
  const listener = ({ key, newValue }: StorageEvent) => key === KEY && newValue === null && then();
  window.addEventListener("storage", listener);
  return () => window.removeEventListener("storage", listener);
}

function read(): { readonly hash: string; readonly atMs: number } | undefined {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "") as { hash: string; atMs: number };
  } catch {
    return undefined; // nothing is kept, or the browser keeps nothing
  }
}

function write(text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, text);
  } catch {
    // a browser that keeps nothing: the place stays in this tab
  }
}
