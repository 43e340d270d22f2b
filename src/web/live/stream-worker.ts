// One event stream for all tabs of a browser: browsers open six connections to a server, and a seventh tab with a stream of its own would never load. A shared
// worker holds the stream while a tab is there and passes on what comes, many events at once.
import { wallMs } from "../state/clock.ts";
import type { StreamMessage } from "./stream-message.ts";

/** Events are gathered for so long: a tab is woken some twenty times a second at most. */
const GATHER_MS = 40;
/** Events of a burst, at most; what is beyond is sent as a number, and tabs ask the lists. */
const GATHERED_MAX = 500;
const TABS_PING_MS = 30_000;

interface Tab {
  postMessage(message: StreamMessage): void;
}

interface WorkerScope {
  onconnect: ((event: MessageEvent) => void) | null;
  readonly location: { readonly href: string };
}

const scope = globalThis as unknown as WorkerScope;
const tabs = new Set<Tab>();
let source: EventSource | undefined;
let state: "connecting" | "live" | "offline" = "connecting";
let waiting: Array<{ event: string; data: string }> = [];
let dropped = 0;
/** Id of the last event that came: a stream that is opened anew begins with what was missed since. */
let lastId = "";
let isDue = false;

function post(message: StreamMessage): void {
  for (const tab of tabs) tab.postMessage(message);
}

function flush(): void {
  isDue = false;
  post({ type: "events", events: waiting, dropped });
  waiting = [];
  dropped = 0;
}

function take(event: string, { data, lastEventId }: MessageEvent<string>): void {
  lastId = lastEventId;
  if (waiting.length < GATHERED_MAX) waiting.push({ event, data });
  else dropped++;
  if (isDue) return;
  isDue = true;
  setTimeout(flush, GATHER_MS);
}

function setState(next: typeof state): void {
  if (next === state) return;
  state = next;
  post({ type: "state", state });
}

function open(): void {
  source = new EventSource(new URL(`../api/v1/stream${lastId === "" ? "" : `?last_event_id=${lastId}`}`, scope.location.href));
  source.onopen = () => setState("live");
  source.onerror = () => {
    setState(source?.readyState === EventSource.CLOSED ? "offline" : "connecting");
    if (source?.readyState === EventSource.CLOSED) setTimeout(reopen, 5_000);
  };
  for (const name of ["anomaly", "alert", "job", "status", "missed"]) {
    source.addEventListener(name, (event) => take(name, event as MessageEvent<string>));
  }
}

function reopen(): void {
  if (tabs.size === 0 || source?.readyState !== EventSource.CLOSED) return;
  open();
}

scope.onconnect = (event) => {
  const port = event.ports[0] as MessagePort;
  let lastMs = wallMs();
  tabs.add(port);
  const check = setInterval(() => {
    if (wallMs() - lastMs > 3 * TABS_PING_MS) leave();
  }, TABS_PING_MS);
  const leave = () => {
    clearInterval(check);
    tabs.delete(port);
    if (tabs.size > 0) return;
    source?.close();
    source = undefined;
    lastId = "";
    state = "connecting";
  };
  port.onmessage = ({ data }) => {
    lastMs = wallMs();
    if (data === "bye") leave();
    else if (data === "again") {
      source?.close();
      open();
    }
  };
  port.postMessage({ type: "state", state } satisfies StreamMessage);
  if (source === undefined) open();
};
