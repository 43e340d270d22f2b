// Server-sent events (WHATWG HTML 9.2.6) out of pieces of bytes: names and JSON data; comments, ids and retry times are left out.

/** One event. */
export interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Keeps what a piece leaves unfinished: at most one event. */
export class EventLines {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** The events that a piece completes; one whose data is no JSON is left out. */
  push(piece: Uint8Array): ServerEvent[] {
    const parts = (this.#rest + this.#decoder.decode(piece, { stream: true })).split(/\r?\n\r?\n/);
    this.#rest = parts.pop() ?? "";
    return parts.flatMap(parseEvent);
  }
}

function parseEvent(text: string): ServerEvent[] {
  const lines = text.split(/\r?\n/);
  const values = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ""));
  const data = values("data").join("\n");
  if (data === "") return [];
  try {
    return [{ event: values("event").at(-1) ?? "message", data: JSON.parse(data) as unknown }];
  } catch {
    return [];
  }
}
