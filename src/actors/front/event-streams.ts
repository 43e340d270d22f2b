// Open `GET /api/v1/stream` answers. Events come as they were committed, many at once where many were, and leave as one buffer for all readers of a tenant: at
// once where none left a moment before, else with those that come until then. Nothing is kept for those who are away: a reader that lagged, or that comes back
// with the id of the last event it had, is told `missed` with the moment since when, and asks the lists.
import type { HttpStream } from "../../adapters/http/http-server.ts";
import type { Clock } from "../../adapters/platform/clock.ts";
import { ReaderCount } from "../../adapters/shared-memory/reader-count.ts";
import { EVENT_STREAM_LAG_BYTES_MAX } from "../../core/config/limits.ts";
import { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { after, connection, type Home, run, task } from "../../core/faults/guard.ts";
import { LATENCY_SLOTS, observeLatency } from "../../core/layout/counters.ts";
import type { EventChunk, StreamEventName } from "../../core/protocol/query.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";

/** Milliseconds between two buffers: the coordinator waits about as long between two commits. */
const GATHER_MS = 2;
/** A comment goes out after so long without an event, so that proxies keep the line. */
export const KEEP_ALIVE_MS = 15_000;
/** Longest wait of a timer, below the 2^31 ms at which they fire at once. */
const TIMER_MS_MAX = 24 * 86_400_000;

const FLUSH = task("the event streams");

interface Reader {
  readonly stream: HttpStream;
  /** A reader that cannot be written to, or whose credential cannot be looked at, is ended, and the others go on. */
  readonly home: Home;
  readonly tenant: string;
  readonly credential: StreamCredential;
  /** Null for all. */
  readonly names: ReadonlySet<StreamEventName> | null;
  missed: number;
  /** Wall time up to which it has what there was of events. */
  hasUntilMs: number;
  endTimer: NodeJS.Timeout | undefined;
}

/** The credential that a stream was opened with. */
export interface StreamCredential {
  /** Whether it counts still. */
  readonly isGood: () => boolean;
  /** Wall time at which it expires; infinite where it does not. */
  readonly endMs: number;
}

/** Request of a reader besides being one. */
export interface StreamWish {
  /** Absent: all. */
  readonly names?: readonly StreamEventName[] | undefined;
  /** Id of the last event that it had. */
  readonly lastEventId?: string | undefined;
}

/** An id is the wall time of its commit in ms, and a place in it. */
const EVENT_ID = /^(\d{1,15})-\d{1,9}$/;

const encoder = new TextEncoder();

/** All readers of the event stream. */
export class EventStreams {
  readonly #clock: Clock;
  readonly #shares: ShareLedger;
  readonly #readers = new Set<Reader>();
  #waiting: EventChunk[] = [];
  /** Arrival of the bytes behind each new anomaly among them. */
  #arrivalsMs: number[] = [];
  /** Histogram of detections, from the arrival of the bytes until their events leave; slots as those of observeLatency. */
  readonly streamed = new Float64Array(LATENCY_SLOTS);
  /** Tells other threads how many readers there are. */
  readonly readerCount = new ReaderCount();
  #isFlushDue = false;
  #nextFlushMs = 0;
  #isQuiet = true;
  missedTotal = 0;

  /** `shares` say who holds how many. */
  constructor(clock: Clock, shares = ShareLedger.alone()) {
    this.#clock = clock;
    this.#shares = shares;
  }

  get count(): number {
    return this.#readers.size;
  }

  /** Whether the tenant may have another reader; counts where not. */
  admits(tenant: string): boolean {
    const hasCapacity = this.#shares.available(tenant) >= 1;
    if (!hasCapacity) this.#shares.refuse(tenant);
    return hasCapacity;
  }

  add(tenant: string, stream: HttpStream, credential: StreamCredential, { names, lastEventId }: StreamWish = {}): void {
    const hasUntilMs = this.#clock.wallMs();
    const reader: Reader = {
      stream,
      home: connection("an event stream", () => this.#end(reader)),
      tenant,
      credential,
      names: names === undefined ? null : new Set(names),
      missed: 0,
      hasUntilMs,
      endTimer: undefined,
    };
    this.#readers.add(reader);
    this.#shares.add(tenant);
    this.#reportCount();
    stream.onClose(() => this.#remove(reader));
    stream.write(encoder.encode(`: vedette event stream\nretry: 2000\nid: ${hasUntilMs}-0\n\n`));
    const [, lastMs] = EVENT_ID.exec(lastEventId ?? "") ?? [];
    if (lastMs !== undefined) stream.write(missedEvent(null, Math.min(Number(lastMs), hasUntilMs), hasUntilMs));
    if (credential.endMs < Number.POSITIVE_INFINITY) this.#endInTime(reader);
  }

  /** Ends the stream at the end of its credential and not at the next review. Timers may come early, and cannot wait for longer than 24 days. */
  #endInTime(reader: Reader): void {
    const waitMs = reader.credential.endMs - this.#clock.wallMs();
    if (waitMs <= 0) this.#end(reader);
    else reader.endTimer = after(Math.min(Math.ceil(waitMs), TIMER_MS_MAX), reader.home, () => this.#endInTime(reader));
  }

  /** Keeps events until the next flush; those of tenants without a reader are dropped at once. */
  push(chunks: readonly EventChunk[], arrivalsMs: readonly number[] = []): void {
    for (const chunk of chunks) if (this.#isRead(chunk)) this.#waiting.push(chunk);
    if (this.#waiting.length === 0) return;
    this.#arrivalsMs.push(...arrivalsMs);
    if (this.#isFlushDue) return;
    const waitMs = this.#nextFlushMs - this.#clock.monotonicMs();
    if (waitMs <= 0) this.#flush();
    else this.#flushIn(waitMs);
  }

  #flushIn(waitMs: number): void {
    this.#isFlushDue = true;
    after(waitMs, FLUSH, () => this.#flush());
  }

  #isRead(chunk: EventChunk): boolean {
    for (const reader of this.#readers) if (reads(reader, chunk)) return true;
    return false;
  }

  /** Readers of the same tenant and names get the same bytes. */
  #flush(): void {
    this.#isFlushDue = false;
    this.#isQuiet = false;
    this.#nextFlushMs = this.#clock.monotonicMs() + GATHER_MS;
    const joinedOf = new Map<string, Joined>();
    for (const reader of this.#readers) {
      const key = `${[...(reader.names ?? [])].join()} ${reader.tenant}`;
      const chunk = joinedOf.get(key) ?? joined(this.#waiting.filter((one) => reads(reader, one)));
      joinedOf.set(key, chunk);
      if (chunk.count > 0) run(reader.home, () => this.#send(reader, chunk.bytes, chunk.count));
    }
    this.#waiting = [];
    const nowMs = this.#clock.monotonicMs();
    for (const arrivalMs of this.#arrivalsMs.splice(0)) observeLatency(this.streamed, 0, (nowMs - arrivalMs) / 1000);
  }

  #send(reader: Reader, bytes: Uint8Array, count: number): void {
    const nowMs = this.#clock.wallMs();
    if (reader.stream.bufferedBytes > EVENT_STREAM_LAG_BYTES_MAX) {
      reader.missed += count;
      this.missedTotal += count;
      return;
    }
    if (reader.missed > 0) {
      reader.stream.write(missedEvent(reader.missed, reader.hasUntilMs, nowMs));
      reader.missed = 0;
    }
    reader.hasUntilMs = nowMs;
    reader.stream.write(bytes);
  }

  /** Ends the streams whose credential counts no more; to be called when credentials change. A reader that may still read opens another after 2 s. */
  review(): void {
    for (const reader of this.#readers)
      run(reader.home, () => {
        if (!reader.credential.isGood()) this.#end(reader);
      });
  }

  #end(reader: Reader): void {
    this.#remove(reader);
    reader.stream.end();
  }

  /** To be called every KEEP_ALIVE_MS. */
  keepAlive(): void {
    this.review();
    const wasQuiet = this.#isQuiet;
    this.#isQuiet = true;
    if (!wasQuiet) return;
    const comment = encoder.encode(": still here\n\n");
    for (const reader of this.#readers) run(reader.home, () => reader.stream.write(comment));
  }

  /** Ends all streams; on shutdown. */
  end(): void {
    for (const reader of this.#readers) run(reader.home, () => this.#end(reader));
  }

  #remove(reader: Reader): void {
    clearTimeout(reader.endTimer);
    if (!this.#readers.delete(reader)) return;
    this.#shares.give(reader.tenant);
    this.#reportCount();
  }

  #reportCount(): void {
    this.readerCount.value = this.#readers.size;
  }
}

function reads({ tenant, names }: Reader, chunk: EventChunk): boolean {
  return (chunk.tenant === null || chunk.tenant === tenant) && (names === null || names.has(chunk.event));
}

/** `missed` is null where nobody has counted; the id is the one that the server has. */
function missedEvent(missed: number | null, sinceMs: number, nowMs: number): Uint8Array {
  const data = JSON.stringify({ missed, since: formatRfc3339(sinceMs) });
  return encoder.encode(`event: missed\nid: ${nowMs}-0\ndata: ${data}\n\n`);
}

type Joined = Pick<EventChunk, "bytes" | "count">;

/** Mostly there is one: it is sent as it came. */
function joined(chunks: readonly EventChunk[]): Joined {
  const [first] = chunks;
  if (first !== undefined && chunks.length === 1) return first;
  return {
    bytes: new Uint8Array(Buffer.concat(chunks.map(({ bytes }) => bytes))),
    count: chunks.reduce((sum, { count }) => sum + count, 0),
  };
}
