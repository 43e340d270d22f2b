// Events as the bytes that readers of the event stream are sent. They are made here and moved: as text each would be copied on its way to the front, and
// encoded there, in the thread that takes requests.
import type { EventChunk, StreamEvents } from "../../../core/protocol/query.ts";
import { ByteWriter } from "../../../domain/codec/byte-writer.ts";

type Events = StreamEvents["events"];

const writer = new ByteWriter();

/** Ids of events, ascending: the wall time in ms of their commit, and their place in it. */
export class EventIds {
  #ms = 0;
  #index = 0;

  next(nowMs: number): string {
    this.#index = nowMs > this.#ms ? 0 : this.#index + 1;
    this.#ms = Math.max(nowMs, this.#ms);
    return `${this.#ms}-${this.#index}`;
  }
}

/** A tenant's events in their order, in a chunk for each run of one name. */
export function eventChunks(events: Events, ids: EventIds, nowMs: number): EventChunk[] {
  const tenants = new Set(events.map(({ tenant }) => tenant));
  return [...tenants].flatMap((tenant) => runsOf(events.filter((event) => event.tenant === tenant)).map((run) => chunkOf(run, ids, nowMs)));
}

function runsOf(events: Events): Events[] {
  const begins = events.flatMap(({ event }, at) => (at === 0 || events[at - 1]?.event !== event ? [at] : []));
  return begins.map((begin, run) => events.slice(begin, begins[run + 1]));
}

function chunkOf(run: Events, ids: EventIds, nowMs: number): EventChunk {
  const [{ event, tenant }] = run as [Events[number]];
  writer.at = 0;
  for (const { data } of run) {
    writer.utf8(`event: ${event}\nid: ${ids.next(nowMs)}\ndata: `);
    writer.utf8(data);
    writer.utf8("\n\n");
  }
  return { tenant, event, bytes: writer.bytes.slice(0, writer.at), count: run.length };
}
