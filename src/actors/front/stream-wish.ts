// What a request for the event stream asks for.
import type { HttpRequest } from "../../adapters/http/http-server.ts";
import { parseQuery, splitQuery } from "../../api/query-parsing.ts";
import { done, type Outcome } from "../../api/refusal.ts";
import type { StreamWish } from "./event-streams.ts";

/** A browser that connects again by itself says in a header what it had last; a page that opens another stream says it in the query. */
export function streamWish(head: HttpRequest): Outcome<StreamWish> {
  const split = splitQuery(head.query);
  const parsed = split.ok ? parseQuery("stream", split.value) : split;
  if (!parsed.ok) return parsed;
  const { types, last_event_id } = parsed.value;
  return done({ names: types, lastEventId: head.header("last-event-id") ?? last_event_id });
}
