// Events as the bytes that readers of the event stream are sent. They are made here and moved: as text each would be copied on its way to the front, and
// encoded there, in the thread that takes requests.
import type { EventChunk, StreamEvents } from "../../../core/protocol/query.ts";
import { ByteSink } from "../../../domain/codec/byte-sink.ts";

const sink = new ByteSink();

/** One chunk a tenant, its events in their order. */
export function eventChunks(events: StreamEvents["events"]): EventChunk[] {
  const tenants = new Set(events.map(({ tenant }) => tenant));
  return [...tenants].map((tenant) => chunkOf(tenant, events));
}

function chunkOf(tenant: string, events: StreamEvents["events"]): EventChunk {
  let count = 0;
  sink.at = 0;
  for (const one of events) {
    if (one.tenant !== tenant) continue;
    count++;
    sink.utf8(`event: ${one.event}\ndata: `);
    sink.utf8(one.data);
    sink.utf8("\n\n");
  }
  return { tenant, bytes: sink.bytes.slice(0, sink.at), count };
}
