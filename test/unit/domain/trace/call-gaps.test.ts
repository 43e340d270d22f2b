// The gap of a call: what the caller's span took beyond the called one's, in whatever order they come, over a checkpoint, and in the rows of both versions.
import { describe, expect, it } from "vitest";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import type { OtlpSpan } from "../../../../src/domain/otlp/otlp-items.ts";
import { CallEdges, decodeCallEdges } from "../../../../src/domain/trace/call-edges.ts";
import { JOIN_CHILD, JOIN_CLIENT } from "../../../../src/domain/trace/join-message.ts";
import { type JoinSpan, TraceJoin } from "../../../../src/domain/trace/trace-join.ts";
import { SpanRig, spanOf } from "../../../support/span-rig.ts";

const START = Date.UTC(2026, 0, 5, 10);
const [WEB, SHOP] = [0, 1];

function held(id: number, service: number, flags: number, microseconds: number, parent = 0): JoinSpan {
  return { service, flags, high: id, low: id, parentHigh: parent, parentLow: parent, minute: 7, microseconds, operation: -1 };
}

const caller = (microseconds: number, flags = JOIN_CLIENT) => held(1, WEB, flags, microseconds);
const called = held(2, SHOP, JOIN_CHILD, 200_000, 1);

const untold = () => undefined;

/** Gaps in microseconds of the calls that are found. */
function gapsOf(spans: readonly JoinSpan[], restored = false): number[] {
  const gaps: number[] = [];
  const join = new TraceJoin(100, (_caller, _callee, _minute, _microseconds, _isError, gap) => gaps.push(gap), untold);
  const [first, ...rest] = spans as [JoinSpan, ...JoinSpan[]];
  join.add(first, 0);
  const next = restored ? new TraceJoin(100, (_caller, _callee, _minute, _us, _isError, gap) => gaps.push(gap), untold) : join;
  if (restored) join.forEach((span, seconds, waits) => next.restore({ ...span }, seconds, waits));
  for (const span of rest) next.add(span, 0);
  return gaps;
}

describe("the gap of a call", () => {
  it("is what the client's span took beyond the called one, whichever comes first, and over a checkpoint", () => {
    for (const order of [
      [caller(250_000), called],
      [called, caller(250_000)],
    ])
      for (const restored of [false, true]) expect(gapsOf(order, restored)).toEqual([50_000]);
  });

  it("is nothing where clocks make the called span longer, and not known of a parent that is no client's or endless", () => {
    expect(gapsOf([caller(150_000), called])).toEqual([0]);
    expect(gapsOf([caller(250_000, 0), called])).toEqual([-1]);
    expect(gapsOf([caller(2 ** 40), called])).toEqual([-1]);
  });

  it("is known while the client's span waits for its own parent", () => {
    const waiting = held(1, WEB, JOIN_CHILD | JOIN_CLIENT, 250_000, 9);
    for (const restored of [false, true]) expect(gapsOf([waiting, called], restored)).toEqual([50_000]);
  });

  it("is summed by caller, callee and minute, from the spans of a body on, over restarts", () => {
    const span = (id: number, serviceId: string, kind: number, ms: number, parent?: number): OtlpSpan =>
      spanOf({ id, parent, serviceId, name: "call", kind, startMs: START, endMs: START + ms });
    const rig = new SpanRig();
    rig.send([span(1, "web", 2, 300), span(2, "web", 3, 250, 1)], START + 1_000);
    rig.restart();
    rig.send([span(3, "shop", 2, 200, 2)], START + 2_000);
    expect(rig.edges(START)).toMatchObject([
      { caller: { serviceId: "web" }, callee: { serviceId: "shop" }, calls: 1, gapCalls: 1, gapMicroseconds: 50_000 },
    ]);
  });
});

describe("rows of calls", () => {
  const [web, shop] = ["web", "shop"].map((serviceId) => ({ tenant: "default", environment: "", serviceId })) as [never, never];

  it("have their gaps again, and sums of them", () => {
    const edges = new CallEdges(10);
    const edge = { caller: web, callee: shop, minute: 7, calls: 3, errors: 1, microseconds: 600, gapCalls: 2, gapMicroseconds: 90 };
    edges.addEdge(edge);
    edges.addEdge(edge);
    expect(decodeCallEdges(edges.encode())).toEqual([
      { ...edge, calls: 6, errors: 2, microseconds: 1_200, gapCalls: 4, gapMicroseconds: 180 },
    ]);
  });

  it("of version 1 are read without gaps, of a later one refused", () => {
    const sink = new ByteWriter(64);
    sink.u8(1);
    for (const name of ["web", "shop"]) {
      sink.varint(0);
      for (const part of ["default", "", name]) sink.text(part);
    }
    for (const number of [14, 3, 1, 600]) sink.varint(number);
    const bytes = sink.bytes.slice(0, sink.at);
    expect(decodeCallEdges(bytes)).toEqual([
      { caller: web, callee: shop, minute: 7, calls: 3, errors: 1, microseconds: 600, gapCalls: 0, gapMicroseconds: 0 },
    ]);
    bytes[0] = 3;
    expect(() => decodeCallEdges(bytes)).toThrow("version 3");
  });
});
