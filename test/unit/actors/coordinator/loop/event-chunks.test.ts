// Events on their way from the coordinator to the readers of the event stream.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventIds, eventChunks } from "../../../../../src/actors/coordinator/loop/event-chunks.ts";
import { EventStreams } from "../../../../../src/actors/front/event-streams.ts";
import type { HttpStream } from "../../../../../src/adapters/http/http-server.ts";

const CLOCK = { wallMs: () => 0, monotonicMs: () => 1 };
const GOOD = { isGood: () => true, endMs: Number.POSITIVE_INFINITY };
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const event = (tenant: string | null, data: string, name: "anomaly" | "alert" | "status" = "anomaly") => ({ event: name, tenant, data });
const chunksOf = (...events: Array<ReturnType<typeof event>>) => eventChunks(events, new EventIds(), 7);

class Reader implements HttpStream {
  readonly chunks: string[] = [];
  bufferedBytes = 0;
  ended = false;
  #close: () => void = () => undefined;

  write(chunk: Uint8Array): boolean {
    this.chunks.push(text(chunk));
    return true;
  }

  onDrain(): void {}

  onClose(callback: () => void): void {
    this.#close = callback;
  }

  end(): void {
    this.ended = true;
  }

  leave(): void {
    this.#close();
  }
}

describe("chunks of events", () => {
  it("hold a tenant's events of one name in their order, each with its id, in bytes of their own", () => {
    const chunks = chunksOf(event("a", '{"x":"é"}'), event("b", "{}"), event("a", "[]"), event("a", "{}", "alert"), event("a", "1"));
    expect(chunks.map((chunk) => [chunk.tenant, chunk.event, chunk.count, text(chunk.bytes)])).toEqual([
      ["a", "anomaly", 2, 'event: anomaly\nid: 7-0\ndata: {"x":"é"}\n\nevent: anomaly\nid: 7-1\ndata: []\n\n'],
      ["a", "alert", 1, "event: alert\nid: 7-2\ndata: {}\n\n"],
      ["a", "anomaly", 1, "event: anomaly\nid: 7-3\ndata: 1\n\n"],
      ["b", "anomaly", 1, "event: anomaly\nid: 7-4\ndata: {}\n\n"],
    ]);
    expect(new Set(chunks.map(({ bytes }) => bytes.buffer)).size).toBe(4);
    expect(chunks.every(({ bytes }) => bytes.byteLength === bytes.buffer.byteLength)).toBe(true);
  });

  it("have ids that ascend, also where the clock goes back", () => {
    const ids = new EventIds();
    expect([5, 5, 6, 4, 7].map((nowMs) => ids.next(nowMs))).toEqual(["5-0", "5-1", "6-0", "6-1", "7-0"]);
  });
});

describe("readers of the stream", () => {
  const bodies = (reader: Reader) => reader.chunks.slice(1).join("");

  it("get the events of their tenant and of all, of the names that they want", () => {
    const streams = new EventStreams(CLOCK);
    const [one, other, alerts] = [new Reader(), new Reader(), new Reader()];
    streams.add("a", one, GOOD);
    streams.add("b", other, GOOD);
    streams.add("a", alerts, GOOD, { names: ["alert"] });
    streams.push(chunksOf(event("a", "1"), event("a", "2", "alert"), event(null, "3", "status")));
    expect([one, other, alerts].map((reader) => bodies(reader).match(/data: \d/g))).toEqual([
      ["data: 1", "data: 2", "data: 3"],
      ["data: 3"],
      ["data: 2"],
    ]);
  });

  it("begin with an id, and after a gap with the moment since when they have missed something", () => {
    const streams = new EventStreams({ wallMs: () => 60_000, monotonicMs: () => 1 });
    const [fresh, back, odd, ahead] = [new Reader(), new Reader(), new Reader(), new Reader()];
    streams.add("a", fresh, GOOD);
    streams.add("a", back, GOOD, { lastEventId: "5000-3" });
    streams.add("a", odd, GOOD, { lastEventId: "yesterday" });
    streams.add("a", ahead, GOOD, { lastEventId: "99000-0" });
    expect(fresh.chunks).toEqual([": vedette event stream\nretry: 2000\nid: 60000-0\n\n"]);
    const missed = (since: string) => `event: missed\nid: 60000-0\ndata: {"missed":null,"since":"${since}"}\n\n`;
    expect(bodies(back)).toBe(missed("1970-01-01T00:00:05.000Z"));
    expect(bodies(odd)).toBe("");
    expect(bodies(ahead)).toBe(missed("1970-01-01T00:01:00.000Z"));
  });

  it("that lag are told how many they have missed and since when, and go on from there", () => {
    let nowMs = 1_000;
    const streams = new EventStreams({ wallMs: () => nowMs, monotonicMs: () => nowMs });
    const reader = new Reader();
    streams.add("a", reader, GOOD);
    const push = (atMs: number, data: string, bufferedBytes: number) => {
      nowMs = atMs;
      reader.bufferedBytes = bufferedBytes;
      streams.push(chunksOf(event("a", data)));
    };
    push(2_000, "1", 0);
    push(3_000, "2", Number.MAX_SAFE_INTEGER);
    push(4_000, "3", Number.MAX_SAFE_INTEGER);
    push(5_000, "4", 0);
    expect(bodies(reader)).toContain('event: missed\nid: 5000-0\ndata: {"missed":2,"since":"1970-01-01T00:00:02.000Z"}\n\n');
    expect(bodies(reader).match(/data: \d/g)).toEqual(["data: 1", "data: 4"]);
    expect(streams.missedTotal).toBe(2);
  });
});

describe("the count of readers", () => {
  it("follows those who come, go and are sent away", () => {
    const streams = new EventStreams(CLOCK);
    const count = streams.readerCount;
    const readers = [new Reader(), new Reader(), new Reader()] as const;
    let isGood = true;
    for (const reader of readers) streams.add("a", reader, { ...GOOD, isGood: () => reader !== readers[1] || isGood });
    expect(count.value).toBe(3);
    readers[0].leave();
    expect(count.value).toBe(2);
    isGood = false;
    streams.review();
    expect(count.value).toBe(1);
    streams.end();
    expect(count.value).toBe(0);
  });
});

describe("a stream whose credential expires", () => {
  beforeEach(() => vi.useFakeTimers({ now: 0 }));
  afterEach(() => vi.useRealTimers());
  const clock = { wallMs: () => Date.now(), monotonicMs: () => Date.now() };
  const DAY_MS = 86_400_000;

  it.each([1, 2_000, 14_999, 15_001, 30 * DAY_MS])("ends after %d ms, when that is, and not before", (endMs) => {
    const streams = new EventStreams(clock);
    const [reader, other] = [new Reader(), new Reader()];
    streams.add("a", reader, { isGood: () => true, endMs });
    streams.add("a", other, GOOD);
    vi.advanceTimersByTime(endMs - 1);
    expect([reader.ended, streams.count]).toEqual([false, 2]);
    vi.advanceTimersByTime(1);
    expect([reader.ended, other.ended, streams.count]).toEqual([true, false, 1]);
  });

  it("leaves no timer behind when its client goes first", () => {
    const streams = new EventStreams(clock);
    const reader = new Reader();
    streams.add("a", reader, { isGood: () => true, endMs: 5_000 });
    reader.leave();
    expect(vi.getTimerCount()).toBe(0);
  });
});
