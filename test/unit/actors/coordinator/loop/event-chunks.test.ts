// Events on their way from the coordinator to the readers of the event stream.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { eventChunks } from "../../../../../src/actors/coordinator/loop/event-chunks.ts";
import { EventStreams } from "../../../../../src/actors/front/event-streams.ts";
import type { HttpStream } from "../../../../../src/adapters/http/http-server.ts";

const CLOCK = { wallMs: () => 0, monotonicMs: () => 1 };
const GOOD = { isGood: () => true, endMs: Number.POSITIVE_INFINITY };
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const event = (tenant: string, data: string) => ({ event: "anomaly" as const, tenant, data });

class Reader implements HttpStream {
  readonly chunks: string[] = [];
  readonly bufferedBytes = 0;
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
  it("hold a tenant's events in their order, each in bytes of its own", () => {
    const chunks = eventChunks([event("a", '{"x":"é"}'), event("b", "{}"), event("a", "[]")]);
    expect(chunks.map(({ tenant, count, bytes }) => [tenant, count, text(bytes)])).toEqual([
      ["a", 2, 'event: anomaly\ndata: {"x":"é"}\n\nevent: anomaly\ndata: []\n\n'],
      ["b", 1, "event: anomaly\ndata: {}\n\n"],
    ]);
    expect(new Set(chunks.map(({ bytes }) => bytes.buffer)).size).toBe(2);
    expect(chunks.every(({ bytes }) => bytes.byteLength === bytes.buffer.byteLength)).toBe(true);
  });

  it("go to the readers of their tenant", () => {
    const streams = new EventStreams(CLOCK);
    const [one, other] = [new Reader(), new Reader()];
    streams.add("a", one, GOOD);
    streams.add("b", other, GOOD);
    streams.push(eventChunks([event("a", "{}")]));
    expect(one.chunks.slice(1)).toEqual(["event: anomaly\ndata: {}\n\n"]);
    expect(other.chunks.length).toBe(1);
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
