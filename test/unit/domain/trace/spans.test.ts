import { describe, expect, it } from "vitest";
import { NO_SPAN_TEXT } from "../../../../src/core/layout/span-row.ts";
import { FLAG_OPERATION } from "../../../../src/core/layout/stream-record.ts";
import type { OtlpSpan } from "../../../../src/domain/otlp/otlp-items.ts";
import { readSpanBlockHead, spansOfBlock } from "../../../../src/domain/trace/span-block.ts";
import { SpanBlockWriter } from "../../../../src/domain/trace/span-block-writer.ts";
import { SpanRig, SPANS_START as START, spanOf as span } from "../../../support/span-rig.ts";

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

describe("windows of spans", () => {
  it("close 5 s after their end, with requests, errors and quantiles of the service and of each operation", () => {
    const rig = new SpanRig();
    const spans = Array.from({ length: 100 }, (_, i) =>
      span({ id: i + 1, startMs: START + 1_000, endMs: START + 1_000 + (i + 1), statusCode: i < 7 ? 2 : 0 }),
    );
    spans.push(span({ id: 1_000, name: "SELECT", kind: 3, parent: 1 }));
    expect(rig.send(spans, START + 5_000)).toEqual(spans.map(() => undefined));
    rig.pass(START + 14_999);
    expect(rig.series.lines()).toEqual([]);
    rig.pass(START + 15_000);
    const value = (metric: string) => rig.series.values.get(`default  shop ${metric} @${START + 10_000}`) as number;
    expect([value("service.requests"), value("service.errors")]).toEqual([100, 7]);
    expect([value("span.requests GET /"), value("span.errors GET /"), value("span.requests SELECT")]).toEqual([100, 7, 1]);
    for (const [q, ms] of [
      ["p50", 50],
      ["p95", 95],
      ["p99", 99],
    ] as const)
      expect(Math.abs(value(`service.duration_ms.${q}`) / ms - 1)).toBeLessThan(0.0219);
    expect(rig.series.writes).toBe(15);
    expect(
      [...rig.series.flags]
        .filter(([, flags]) => flags === FLAG_OPERATION)
        .map(([name]) => name.split(" ")[3])
        .sort(),
    ).toEqual(["duration_ms.p50", "duration_ms.p95", "duration_ms.p99", "errors", "requests"].flatMap((m) => [`span.${m}`, `span.${m}`]));
    expect(new Set(rig.series.arrivals)).toEqual(new Set([1_000_000]));
  });

  it("count the work that a service was asked for, not what it asks of others", () => {
    const rig = new SpanRig();
    const kinds = [0, 1, 2, 3, 4, 5];
    rig.send(
      kinds.flatMap((kind) => [span({ id: kind + 1, kind }), span({ id: kind + 11, kind, parent: 99 })]),
      START + 2_000,
    );
    rig.pass(START + 15_000);
    expect(rig.series.values.get(`default  shop service.requests @${START + 10_000}`)).toBe(6); // server and consumer twice, the roots of unspecified and internal
    expect(rig.series.values.get(`default  shop span.requests GET / @${START + 10_000}`)).toBe(12);
  });

  it("take a span once, and none for a window that is closed", () => {
    const rig = new SpanRig();
    rig.send([span({ id: 1 }), span({ id: 1 }), span({ id: 2 })], START + 2_000);
    rig.send([span({ id: 2 }), span({ id: 1, trace: 2 })], START + 14_000);
    rig.pass(START + 15_000);
    rig.send([span({ id: 9 })], START + 15_100);
    rig.pass(START + 60_000);
    expect(rig.series.values.get(`default  shop service.requests @${START + 10_000}`)).toBe(3);
    expect(rig.counters.values).toMatchObject({ spansCounted: 3, spansRepeated: 2, spansLate: 1 });
  });

  it("come in their order when all of them are late", () => {
    const rig = new SpanRig();
    const hour = Array.from({ length: 360 }, (_, w) => span({ id: w + 1, endMs: START - 3_600_000 + w * 10_000 + 5 }));
    rig.send([...hour].reverse(), START);
    rig.pass(START + 15_000);
    const times = [...rig.series.values.keys()].filter((key) => key.includes(" service.requests ")).map((key) => Number(key.split("@")[1]));
    // Nothing says that the last one is whole.
    expect(times).toEqual(hour.slice(0, -1).map((_, w) => START - 3_600_000 + (w + 1) * 10_000));
  });

  it("have no values where a steady sender stopped or began in the middle of them (A7)", () => {
    const rig = new SpanRig();
    const [stopped, began] = [START + 203_000, START + 327_000];
    for (let at = START, id = 1; at < START + 400_000; at += 500, id++) {
      rig.pass(at);
      if (at < stopped || at >= began) rig.send([span({ id, endMs: at })], at + 100);
    }
    rig.pass(START + 500_000);
    const requests = [...rig.series.values].filter(([key]) => key.includes(" service.requests "));
    expect(new Set(requests.map(([, value]) => value))).toEqual(new Set([20]));
    expect(requests).toHaveLength(20 + 7);
    expect(rig.counters.values["windowsCut"]).toBe(2);
  });

  it("of who speaks now and then all have values", () => {
    const rig = new SpanRig();
    for (let w = 0; w < 60; w += 2) {
      rig.pass(START + w * 10_000);
      rig.send([span({ id: w + 1, endMs: START + w * 10_000 + 3_000 })], START + w * 10_000 + 3_100);
    }
    rig.pass(START + 900_000);
    expect([...rig.series.values].filter(([key]) => key.includes(" service.requests "))).toHaveLength(30);
  });

  it("fold names beyond 200 into one operation", () => {
    const rig = new SpanRig();
    rig.send(
      Array.from({ length: 250 }, (_, i) => span({ id: i + 1, name: `GET /${i}` })),
      START + 2_000,
    );
    rig.pass(START + 15_000);
    const operations = [...rig.series.values.keys()].filter((key) => key.includes(" span.requests "));
    expect(operations.length).toBe(201);
    expect(rig.series.values.get(`default  shop span.requests other @${START + 10_000}`)).toBe(50);
    expect(rig.counters.values["spansUnnamed"]).toBe(50);
  });
});

describe("a span", () => {
  it.each([
    ["invalid_record", "traceId", { traceId: "0".repeat(32) }],
    ["invalid_record", "spanId", { spanId: "12" }],
    ["invalid_record", "parentSpanId", { parentSpanId: "zzzzzzzzzzzzzzzz" }],
    ["invalid_record", "parentSpanId", { parentSpanId: "12" }],
    ["invalid_timestamp", "endTimeUnixNano", { endMs: Number.NaN }],
    ["field_too_long", "deployment.environment.name", { environment: "x".repeat(1025) }],
    [undefined, undefined, { environment: "é".repeat(512) }],
    [undefined, undefined, { parentSpanId: "0".repeat(16) }],
  ] as const)("of case %# is refused as %s, %s", (reason, field, fields) => {
    const [refusal] = new SpanRig().send([span({ id: 1, ...fields })], START);
    expect([refusal?.reason, refusal?.field]).toEqual([reason, field]);
  });

  it("may have the longest names, and others beside it", () => {
    const rig = new SpanRig();
    const long = (letter: string) => letter.repeat(1024);
    const spans = Array.from({ length: 40 }, (_, id) =>
      span({
        id: id + 1,
        parent: id + 2,
        serviceId: long(String.fromCharCode(65 + (id % 26))),
        environment: long("e"),
        name: long(String.fromCharCode(97 + (id % 26))),
      }),
    );
    expect(rig.send(spans, START + 2_000)).toEqual(spans.map(() => undefined));
    rig.restart();
    rig.pass(START + 15_000);
    expect([...rig.series.values].filter(([key, value]) => key.includes(" span.requests ") && value > 0).length).toBe(26);
  });
});

describe("calls between services", () => {
  const trace = [
    span({ id: 1, serviceId: "web", kind: 2 }),
    span({ id: 2, serviceId: "web", kind: 3, parent: 1 }),
    span({ id: 3, serviceId: "shop", kind: 2, parent: 2, statusCode: 2, startMs: START, endMs: START + 250 }),
    span({ id: 4, serviceId: "db", kind: 2, parent: 3, startMs: START, endMs: START + 125 }),
    span({ id: 5, serviceId: "db", kind: 2, parent: 3, startMs: START, endMs: START + 60_125 }),
  ];
  const minute = START / 60_000;
  const expected = [`shop /db ${minute + 1} 1 0 60125000`, `shop /db ${minute} 1 0 125000`, `web /shop ${minute} 1 1 250000`].sort();

  it("are found in whatever order their spans come, within five minutes", () => {
    for (const order of [
      [0, 1, 2, 3, 4],
      [4, 3, 2, 1, 0],
      [2, 4, 1, 3, 0],
    ]) {
      const rig = new SpanRig();
      for (const [i, at] of order.entries()) rig.send([trace[at] as OtlpSpan, trace[at] as OtlpSpan], START + 61_000 + i * 59_000);
      expect(rig.calls(START)).toEqual(expected);
      expect(rig.counters.values["callsJoined"]).toBe(3);
    }
    const rig = new SpanRig();
    rig.send([trace[2] as OtlpSpan], START);
    rig.send([trace[1] as OtlpSpan], START + 302_000);
    expect(rig.calls(START)).toEqual([]);
  });
});

describe("blocks of spans", () => {
  const head = { second: START / 1_000, receivedMs: START, serial: 1, salt: 2, resource: '{"host.name":"h"}' };
  const written = {
    traceId: hex(7, 32),
    spanId: hex(8, 16),
    parentSpanId: "",
    name: "GET /",
    kind: 2,
    statusCode: 1,
    endMicroseconds: START * 1_000 + 5,
    microseconds: 2 ** 40,
  };

  it("come back as they were written, and are refused in another version", () => {
    const writer = new SpanBlockWriter({ tenant: "t", environment: "", serviceId: "shop" }, head);
    writer.add({ ...written, attributes: '{"a":1}' });
    const block = writer.finish();
    const [span] = [...spansOfBlock(block, readSpanBlockHead(block))];
    expect({ ...span, attributes: span?.attributes() }).toEqual({ ...written, attributes: { a: 1 } });
    for (const version of [1, 3]) {
      const other = Uint8Array.of(version, ...block.subarray(1));
      expect(() => readSpanBlockHead(other)).toThrow(`version ${version}`);
    }
  });

  it("write a name or an attribute once, as long as the block remembers it", () => {
    const texts = Array.from({ length: 700 }, (_, i) => keyValue(`key.${i}`, "value"));
    const memory = Buffer.concat(texts);
    const places = texts.map((_, i) => texts.slice(0, i).reduce((sum, { length }) => sum + length, 0));
    const source = {
      uint32s: new Uint32Array(2 * texts.length + 3),
      none: NO_SPAN_TEXT,
      memory,
      textAddress: (number: number) => places[number] as number,
      textBytes: (number: number) => texts[number]?.length as number,
    };
    const ids = Uint32Array.of(1, 2, 3, 4, 5, 6, 0, 0);
    const writer = new SpanBlockWriter({ tenant: "t", environment: "", serviceId: "shop" }, head);
    for (let turn = 0; turn < 2; turn++) {
      for (let i = 0; i < texts.length; i++) source.uint32s[i] = i;
      source.uint32s.set([NO_SPAN_TEXT, places[3] as number, texts[3]?.length as number], texts.length);
      writer.addNumbers(ids, 0, 2, "GET /", 9, head.second * 1_000_000, 5);
      writer.addAttributes(source, 0, texts.length + 1);
    }
    const block = writer.finish();
    const spans = [...spansOfBlock(block, readSpanBlockHead(block))];
    expect(spans.map(({ name }) => name)).toEqual(["GET /", "GET /"]);
    for (const { attributes } of spans) expect(attributes()).toEqual(Object.fromEntries(texts.map((_, i) => [`key.${i}`, "value"])));
    expect(block.length).toBeLessThan(2 * memory.length);
  });
});

/** KeyValue {1: key, 2: {1: text}}. */
function keyValue(key: string, text: string): Uint8Array {
  const value = Buffer.from(text);
  return Buffer.concat([Uint8Array.of(10, key.length), Buffer.from(key), Uint8Array.of(18, value.length + 2, 10, value.length), value]);
}
