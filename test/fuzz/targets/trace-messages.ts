// Messages on spans and logs, and what is stored of spans and calls: what is taken is read again as it was, everything else is refused by an Error.
import { CallEdges, decodeCallEdges } from "../../../src/domain/trace/call-edges.ts";
import { JOIN_CHILD, JOIN_CLIENT, JOIN_PEER, JoinMessageReader, JoinMessageWriter } from "../../../src/domain/trace/join-message.ts";
import { readSpanBlockHead, spansOfBlock } from "../../../src/domain/trace/span-block.ts";
import { SpanBlockWriter } from "../../../src/domain/trace/span-block-writer.ts";
import { spanRecordId } from "../../../src/domain/trace/span-record.ts";
import { ClosedWindows } from "../../../src/domain/window/closed-windows.ts";
import { type ServiceName, WindowMessageReader, WindowMessageWriter } from "../../../src/domain/window/window-message.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { attempt, type FuzzTarget, magnitude, must, textTokens } from "../target.ts";

const WINDOW = 179_000_000;
const ITEMS_MAX = 12;

const service = (random: Random): ServiceName => ({
  tenant: "default",
  environment: random.oneIn(2) ? "" : "prod",
  serviceId: `service-${random.below(3)}`,
});

/** Items of a message as lines. */
function windowItems(input: Uint8Array): string[] {
  const reader = new WindowMessageReader(input);
  const names: string[] = [];
  const lines = [JSON.stringify(reader.service)];
  while (reader.next()) {
    if (reader.newName !== undefined) names.push(reader.newName);
    const name = names[reader.name - 1];
    must(name !== undefined, "an item has a name that its message does not hold");
    lines.push([name, reader.flags, reader.window, reader.amount, reader.high, reader.low].join(" "));
  }
  return lines;
}

export function windowMessageTarget(): FuzzTarget {
  const writer = new WindowMessageWriter();
  const check = (input: Uint8Array): number => {
    const lines = attempt(() => windowItems(input), Error);
    if (lines === undefined) return -1;
    const reader = new WindowMessageReader(input);
    const names: string[] = [];
    let isBegun = false;
    while (reader.next()) {
      if (reader.newName !== undefined) names.push(reader.newName);
      if (!isBegun) writer.begin(reader.service, reader.window);
      isBegun = true;
      writer.add(names[reader.name - 1] as string, reader.flags, reader.window, reader.amount, reader.high, reader.low);
    }
    if (isBegun) must(windowItems(writer.finish()).join() === lines.join(), "a message that is written again says something else");
    return magnitude(lines.length) * 32 + magnitude(input.length);
  };
  const write = (out: InputWriter, random: Random): void => {
    writer.begin(service(random), WINDOW);
    for (let items = random.below(ITEMS_MAX); items > 0; items--)
      writer.add(
        `operation ${random.below(4)}`,
        random.below(4),
        WINDOW + random.below(9) - 4,
        random.below(641),
        random.next(),
        random.next(),
      );
    out.raw(writer.finish());
  };
  return { name: "window-message", bytesMax: 512, tokens: textTokens("default", "prod"), write, check };
}

/** Spans of a message as lines. */
function joinItems(input: Uint8Array): string[] {
  const reader = new JoinMessageReader(input);
  const services: ServiceName[] = [];
  const lines: string[] = [];
  while (reader.next()) {
    if (reader.newService !== undefined) services.push(reader.newService);
    if (reader.newPeer !== undefined) services.push(reader.newPeer);
    must(services[reader.service - 1] !== undefined, "a span has a service that its message does not hold");
    must(reader.peer === 0 || services[reader.peer - 1] !== undefined, "a span calls somebody whom its message does not hold");
    const parent = (reader.flags & JOIN_CHILD) === 0 ? [] : [reader.parentHigh, reader.parentLow];
    lines.push(
      [
        JSON.stringify(services[reader.service - 1]),
        reader.flags,
        reader.high,
        reader.low,
        reader.minute,
        reader.microseconds,
        reader.operation,
        reader.peer,
        ...parent,
      ].join(" "),
    );
  }
  return lines;
}

export function joinMessageTarget(): FuzzTarget {
  const writer = new JoinMessageWriter();
  const check = (input: Uint8Array): number => {
    const lines = attempt(() => joinItems(input), Error);
    return lines === undefined ? -1 : magnitude(lines.length) * 32 + magnitude(input.length);
  };
  const write = (out: InputWriter, random: Random): void => {
    const services = [service(random), service(random)];
    writer.begin(WINDOW / 6);
    for (let spans = random.below(ITEMS_MAX); spans > 0; spans--) {
      const flags = random.below(4) | (random.below(2) * JOIN_CLIENT) | (random.below(2) * JOIN_PEER);
      const minute = WINDOW / 6 + random.below(3);
      const number = random.below(2);
      writer.add(services[number] as ServiceName, number, flags, random.next(), random.next(), minute, random.next(), random.next() | 0);
      if ((flags & JOIN_PEER) !== 0) writer.addPeer(services[1] as ServiceName, 1);
      if ((flags & JOIN_CHILD) !== 0) writer.addParent(random.next(), random.next());
    }
    out.raw(writer.finish());
  };
  return { name: "join-message", bytesMax: 512, tokens: textTokens("default"), write, check };
}

export function callEdgesTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const edges = attempt(() => decodeCallEdges(input), Error);
    if (edges === undefined) return -1;
    const sums = new CallEdges(1_000);
    for (const edge of edges) sums.addEdge(edge);
    const again = decodeCallEdges(sums.encode());
    const total = (all: typeof edges) => all.reduce((sum, { calls }) => sum + calls, 0);
    must(again.length === sums.size && again.length <= edges.length, "edges that are written again are more, or fewer");
    must(total(again) === total([...sums]), "edges that are written again are others");
    // Beyond, a sum stays where it is.
    if (total(edges) <= 2 ** 52) must(total(again) === total(edges), "sums of edges are others");
    return magnitude(edges.length) * 32 + magnitude(input.length);
  };
  const write = (out: InputWriter, random: Random): void => {
    const sums = new CallEdges(1_000);
    for (let edges = random.below(ITEMS_MAX); edges > 0; edges--) {
      const [calls, errors, microseconds] = [random.below(1000), random.below(10), random.next()];
      const gaps = { gapCalls: random.below(calls + 1), gapMicroseconds: random.below(1_000_000) };
      const minute = WINDOW / 6 + random.below(4);
      sums.addEdge({ caller: service(random), callee: service(random), minute, calls, errors, microseconds, ...gaps });
    }
    out.raw(sums.encode());
  };
  return { name: "call-edges", bytesMax: 512, tokens: textTokens("default"), write, check };
}

export function spanBlockTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const spans = attempt(() => [...spansOfBlock(input, readSpanBlockHead(input))], Error);
    if (spans === undefined) return -1;
    for (const span of spans) must(/^[0-9a-f]{32}$/.test(spanRecordId(span)), "a span has an id that is none");
    return magnitude(spans.length) * 32 + magnitude(input.length);
  };
  const write = (out: InputWriter, random: Random): void => {
    const head = { second: WINDOW * 10, receivedMs: WINDOW * 10_000, serial: random.next(), salt: random.next(), resource: "{}" };
    const writer = new SpanBlockWriter(service(random), head);
    const id = (words: number) => Array.from({ length: words }, () => random.next().toString(16).padStart(8, "0")).join("");
    for (let spans = random.below(4); spans > 0; spans--) {
      const endMicroseconds = WINDOW * 10_000_000 + random.below(1_000_000);
      const ids = { traceId: id(4), spanId: id(2), parentSpanId: random.oneIn(2) ? "" : id(2) };
      const rest = { name: `operation ${random.below(3)}`, kind: random.below(6), statusCode: random.below(3), attributes: '{"a":1}' };
      writer.add({ ...ids, ...rest, endMicroseconds, microseconds: random.next() });
    }
    out.raw(writer.finish());
  };
  return { name: "span-block", bytesMax: 512, tokens: textTokens("{}", "default"), write, check };
}

export function closedWindowsTarget(): FuzzTarget {
  const check = (input: Uint8Array): number => {
    const cursor = { bytes: input, at: 0, end: input.length };
    const closed = ClosedWindows.read(cursor);
    if (closed === undefined) return -1;
    must(cursor.at <= input.length, "read behind the end");
    const has = closed.has(WINDOW);
    closed.add(WINDOW);
    must(closed.has(WINDOW), "a window that was added is not there");
    return (has ? 1 : 0) + 2 * magnitude(input.length);
  };
  const write = (out: InputWriter, random: Random): void => {
    const count = 2 * random.below(4);
    out.raw(Uint8Array.from([count]));
    for (let i = 0; i < count; i++) out.raw(Uint8Array.from([1 + random.below(100)]));
  };
  return { name: "closed-windows", bytesMax: 64, tokens: [], write, check };
}
