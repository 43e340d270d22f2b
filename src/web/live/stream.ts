// The event stream as a tab sees it: through the shared worker, or where there is none by a connection of its own, which a hidden tab gives up.

import { signal } from "@preact/signals";
import { noteChange } from "../client/answers.ts";
import { wallMs } from "../state/clock.ts";
import type { StreamMessage } from "./stream-message.ts";

/** Events that pages may listen to. A gap: events may be missing from this moment (RFC 3339) on, and the lists have them. */
export interface StreamListener {
  onEvent(event: string, data: string): void;
  onGap(since: string): void;
}

export const streamState = signal<"connecting" | "live" | "offline">("connecting");
/** Paused by the reader: events are kept back by pages, not lost. */
export const isPaused = signal(false);

const PING_MS = 30_000;
/** Events may be a little older than the moment at which they were told. */
const SINCE_MARGIN_MS = 5_000;
const listeners = new Set<StreamListener>();
let port: MessagePort | undefined;

/** Listens until the returned function is called. */
export function listen(listener: StreamListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Opens the stream anew, with the credential that counts now. */
export function reopenStream(): void {
  if (port !== undefined) port.postMessage("again");
  else window.dispatchEvent(new Event("vedette-stream-again"));
}

/** Connects this tab; to be called once. */
export function connectStream(): void {
  const address = document.documentElement.dataset.stream ?? "";
  try {
    connectWorker(address);
  } catch {
    connectAlone();
  }
}

function connectWorker(address: string): void {
  const worker = new SharedWorker(trusted(address) as string, { name: "vedette-stream", type: "module" });
  worker.onerror = () => {
    port = undefined;
    connectAlone();
  };
  port = worker.port;
  port.onmessage = ({ data }: MessageEvent<StreamMessage>) => take(data);
  port.start();
  setInterval(() => port?.postMessage("here"), PING_MS);
  window.addEventListener("pagehide", () => port?.postMessage("bye"));
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) location.reload();
  });
}

interface Policies {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): { createScriptURL(url: string): unknown };
}

/** The one policy of Trusted Types: the worker's address as the page names it. */
function trusted(address: string): unknown {
  const policies = (window as unknown as { trustedTypes?: Policies }).trustedTypes;
  const rule = (url: string) => {
    if (!/^ui\/stream-[A-Z0-9]+\.js$/.test(url)) throw new TypeError("not the worker's address");
    return url;
  };
  return policies === undefined ? rule(address) : policies.createPolicy("vedette", { createScriptURL: rule }).createScriptURL(address);
}

function connectAlone(): void {
  let source: EventSource | undefined;
  let lastId = "";
  const open = () => {
    source?.close();
    source = new EventSource(`api/v1/stream${lastId === "" ? "" : `?last_event_id=${lastId}`}`);
    source.onopen = () => take({ type: "state", state: "live" });
    source.onerror = () => take({ type: "state", state: source?.readyState === EventSource.CLOSED ? "offline" : "connecting" });
    for (const name of ["anomaly", "alert", "job", "status", "missed"]) {
      source.addEventListener(name, (event) => {
        const { data, lastEventId } = event as MessageEvent<string>;
        lastId = lastEventId;
        take({ type: "events", events: [{ event: name, data }], dropped: 0 });
      });
    }
  };
  const follow = () => {
    if (!document.hidden) open();
    else {
      source?.close();
      take({ type: "state", state: "connecting" });
    }
  };
  document.addEventListener("visibilitychange", follow);
  window.addEventListener("vedette-stream-again", follow);
  follow();
}

function take(message: StreamMessage): void {
  if (message.type === "state") setState(message.state);
  else {
    for (const { event, data } of message.events) {
      if (event === "missed") reportGap(Date.parse((JSON.parse(data) as { since: string }).since));
      else for (const listener of listeners) listener.onEvent(event, data);
    }
    if (message.dropped > 0) reportGap(wallMs());
  }
}

/** Where the stream breaks off, what is on the page is asked again: it says then that the server is away, and how old it is. */
function setState(state: typeof streamState.value): void {
  const isLost = streamState.peek() === "live" && state !== "live" && !document.hidden;
  streamState.value = state;
  if (isLost) noteChange();
}

function reportGap(sinceMs: number): void {
  const since = new Date(sinceMs - SINCE_MARGIN_MS).toISOString();
  for (const listener of listeners) listener.onGap(since);
}
