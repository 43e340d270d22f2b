/** Attributes too long or too many, members that are null, ids that are none and events by name, in every encoding, against what a reader of the item expects. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { JSON_PARSED_BYTES_MAX, RESOURCE_ATTRIBUTES_BYTES_MAX } from "../../../../src/core/config/body-limits.ts";
import { ATTRIBUTES_MAX, VALUE_BYTES_MAX } from "../../../../src/core/config/limits.ts";
import { FRAME_RECORD } from "../../../../src/core/protocol/coordinator-frame.ts";
import { JsonRig, NOW_MS } from "../../../support/json-rig.ts";
import { deadLetters, ns } from "../../../support/otlp-requests.ts";
import { OTLP_NOW_MS, OtlpRig } from "../../../support/otlp-rig.ts";
import { encodeRequest } from "../../../support/otlp-schema.ts";

type Value = string | number | boolean | null | readonly Value[] | { readonly [name: string]: Value };
type Own = { readonly [name: string]: Value };

const bytes = (text: string) => Buffer.byteLength(text);
const sizeOf = (value: Value) => bytes(typeof value === "string" ? value : JSON.stringify(value));

const piece = fc.constantFrom("x", "é", "漢", "😀", '"', "\u0001", "    at shop.Checkout.pay(Checkout.java:42)\n");
const text = fc
  .tuple(
    piece,
    fc.oneof({ weight: 3, arbitrary: fc.integer({ min: 0, max: 40 }) }, { weight: 1, arbitrary: fc.integer({ min: 1_000, max: 9_000 }) }),
  )
  .map(([each, times]) => each.repeat(times));
const value: fc.Arbitrary<Value> = fc.oneof(
  { weight: 4, arbitrary: text },
  { weight: 1, arbitrary: fc.integer() },
  { weight: 1, arbitrary: fc.array(text, { maxLength: 4 }) },
  { weight: 1, arbitrary: fc.array(fc.array(text, { maxLength: 3 }), { maxLength: 2 }) },
  { weight: 1, arbitrary: fc.dictionary(fc.constantFrom("a", "b", "c"), text) },
);
const attributes: fc.Arbitrary<Own> = fc
  .tuple(
    fc.array(value, { maxLength: 6 }),
    fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.integer({ min: 50, max: 140 }) }),
  )
  .map(([long, short]) =>
    Object.fromEntries([
      ...long.map((each, i) => [`l${i}`, each] as const),
      ...Array.from({ length: short }, (_, i) => [`s${i}`, i] as const),
    ]),
  );

function anyValue(given: Value): object {
  if (typeof given === "string") return { stringValue: given };
  if (typeof given === "number") return { intValue: String(given) };
  if (typeof given === "boolean") return { boolValue: given };
  if (given === null) return {};
  if (Array.isArray(given)) return { arrayValue: { values: given.map(anyValue) } };
  return { kvlistValue: { values: keyValues(given as Own) } };
}
const keyValues = (own: Own) => Object.entries(own).map(([key, each]) => ({ key, value: anyValue(each) }));

type Stored = { readonly type: string; readonly attributes: Own; readonly body?: string; readonly trace_id?: string };
type Sender = (own: Own, resource: Own, dropped: number) => { readonly records: readonly Stored[]; readonly refused: number };

const rig = new OtlpRig();
const jsonRig = new JsonRig({ kernelReads: true });
const take = (signal: "logs" | "traces", encoding: "json" | "protobuf", request: object) =>
  rig.take(encoding === "json" ? Buffer.from(JSON.stringify(request)) : Buffer.from(encodeRequest(signal, request)), signal, encoding);
const recordsOf = (frames: ReadonlyArray<{ frame: number; envelope: Record<string, unknown> }>) =>
  frames.filter(({ frame }) => frame === FRAME_RECORD).map(({ envelope }) => envelope.record as Stored);
let ids = 0;

const logs =
  (encoding: "json" | "protobuf"): Sender =>
  (own, resource, droppedAttributesCount) => {
    const logRecords = [{ timeUnixNano: ns(OTLP_NOW_MS), body: { stringValue: "b" }, attributes: keyValues(own), droppedAttributesCount }];
    const intake = take("logs", encoding, {
      resourceLogs: [{ resource: { attributes: keyValues(resource) }, scopeLogs: [{ logRecords }] }],
    });
    return { records: recordsOf(intake.frames), refused: deadLetters(intake).length };
  };
const spans =
  (encoding: "json" | "protobuf"): Sender =>
  (own, resource, droppedAttributesCount) => {
    const id = (++ids).toString(16);
    const [traceId, spanId] = [id.padStart(32, "0"), id.padStart(16, "0")];
    const time = { startTimeUnixNano: ns(OTLP_NOW_MS - 5), endTimeUnixNano: ns(OTLP_NOW_MS) };
    const binary = encoding === "json" ? { traceId, spanId } : { traceId: Buffer.from(traceId, "hex"), spanId: Buffer.from(spanId, "hex") };
    const list = [{ ...binary, name: "n", ...time, attributes: keyValues(own), droppedAttributesCount }];
    const intake = take("traces", encoding, {
      resourceSpans: [{ resource: { attributes: keyValues(resource) }, scopeSpans: [{ spans: list }] }],
    });
    return { records: recordsOf(intake.frames), refused: deadLetters(intake).length };
  };
const json =
  (type: "log" | "event"): Sender =>
  (own) => {
    const record = { service_id: "s", type, body: "b", timestamp: new Date(NOW_MS).toISOString(), attributes: own };
    const frames = jsonRig.take(Buffer.from(JSON.stringify([record]))).frames.map((each) => ({
      frame: Number.parseInt(each, 10),
      envelope: JSON.parse(each.slice(each.indexOf(" "))),
    }));
    return { records: recordsOf(frames), refused: frames.length - recordsOf(frames).length };
  };

/** Slow twin: what must hold of the attribute that is kept of one that was sent. */
function expectKept(sent: Value, kept: Value, most: number): void {
  if (sizeOf(sent) <= most) {
    expect(kept).toEqual(sent);
    return;
  }
  expect(sizeOf(kept)).toBeLessThanOrEqual(most);
  expect(JSON.stringify(kept)).toContain(`[cut: ${sizeOf(sent)} bytes came]`);
  if (typeof sent !== "string") return;
  const head = (kept as string).slice(0, (kept as string).lastIndexOf("… [cut: "));
  expect(sent.startsWith(head)).toBe(true);
  expect(Buffer.from(head).toString()).toBe(head);
  expect(bytes(head)).toBeGreaterThan(most - 64);
}

const senders: ReadonlyArray<readonly [string, Sender, boolean]> = [
  ["logs of OTLP in JSON", logs("json"), true],
  ["logs of OTLP in protobuf", logs("protobuf"), true],
  ["spans of OTLP in JSON", spans("json"), true],
  ["spans of OTLP in protobuf", spans("protobuf"), true],
  ["logs in JSON", json("log"), false],
  ["events in JSON", json("event"), false],
];

describe("attributes beyond the limits", () => {
  it.each(senders)("%s: values are cut, the first 128 are kept, nothing is refused", (_name, send, isOtlp) => {
    fc.assert(
      fc.property(attributes, fc.integer({ min: 0, max: 3 }), (own, sentDropped) => {
        const dropped = isOtlp ? sentDropped : 0;
        const { records, refused } = send(own, {}, dropped);
        expect([records.length, refused]).toEqual([1, 0]);
        const stored = records[0]?.attributes as Own;
        const names = Object.keys(own);
        for (const name of names.slice(0, ATTRIBUTES_MAX)) expectKept(own[name] as Value, stored[name] as Value, VALUE_BYTES_MAX);
        for (const name of names.slice(ATTRIBUTES_MAX)) expect(stored).not.toHaveProperty(name);
        const missing = dropped + Math.max(0, names.length - ATTRIBUTES_MAX);
        expect(stored.dropped_attributes_count ?? 0).toBe(missing);
      }),
      { numRuns: 30 },
    );
  });

  it.each(senders.filter(([, , isOtlp]) => isOtlp))("%s: those of a resource too, which stays short in all", (_name, send) => {
    fc.assert(
      fc.property(attributes, (resource) => {
        fc.pre(JSON.stringify(keyValues(resource)).length < JSON_PARSED_BYTES_MAX / 2); // what a piece of a long body in JSON may have beside its items
        const { records, refused } = send({ own: 1 }, resource, 0);
        expect([records.length, refused]).toEqual([1, 0]);
        const stored = records[0]?.attributes as Own;
        const kept = Object.keys(resource).filter((name) => Object.hasOwn(stored, name));
        for (const name of kept) expectKept(resource[name] as Value, stored[name] as Value, VALUE_BYTES_MAX);
        expect(stored["resource.dropped_attributes_count"] ?? 0).toBe(Object.keys(resource).length - kept.length);
        expect(JSON.stringify(Object.fromEntries(kept.map((name) => [name, stored[name]]))).length).toBeLessThan(
          6 * RESOURCE_ATTRIBUTES_BYTES_MAX,
        );
        const inAll = Object.values(resource).reduce<number>((sum, each) => sum + Math.min(VALUE_BYTES_MAX, sizeOf(each)), 0);
        if (Object.keys(resource).length <= ATTRIBUTES_MAX && inAll < RESOURCE_ATTRIBUTES_BYTES_MAX / 2)
          expect(kept.length).toBe(Object.keys(resource).length);
      }),
      { numRuns: 30 },
    );
  });

  it("refuses a metric's point alone, whose attributes are its identity", () => {
    for (const encoding of ["json", "protobuf"] as const) {
      const of = (own: Own) => ({ timeUnixNano: ns(OTLP_NOW_MS), asDouble: 1, attributes: keyValues(own) });
      const many = Object.fromEntries(Array.from({ length: 140 }, (_, i) => [`a${i}`, i]));
      const dataPoints = [
        of({ n: 1 }),
        of({ l: "x".repeat(9_000) }),
        of({ l: ["x".repeat(5_000), "y".repeat(5_000)] }),
        of(many),
        of({ n: 2 }),
      ];
      const request = { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: "g", gauge: { dataPoints } }] }] }] };
      const body = encoding === "json" ? Buffer.from(JSON.stringify(request)) : Buffer.from(encodeRequest("metrics", request));
      const intake = rig.take(body, "metrics", encoding);
      expect(intake.rows).toHaveLength(2);
      expect(deadLetters(intake).map(({ reason }) => reason)).toEqual(Array(3).fill("invalid_attributes"));
    }
  });
});

describe("members that are null in OTLP's JSON", () => {
  const NAMES = ["stringValue", "boolValue", "intValue", "doubleValue", "arrayValue", "kvlistValue", "bytesValue"] as const;
  const given: Readonly<Record<string, readonly [unknown, Value]>> = {
    stringValue: ["x", "x"],
    boolValue: [true, true],
    intValue: ["5", 5],
    doubleValue: [1.5, 1.5],
    arrayValue: [{ values: null }, []],
    kvlistValue: [{ values: null }, {}],
    bytesValue: ["AQI=", "AQI="],
  };

  it("are as good as absent, whatever the sender spells out", () => {
    const spelled = fc.tuple(fc.option(fc.constantFrom(...NAMES)), fc.subarray([...NAMES]));
    fc.assert(
      fc.property(spelled, fc.constantFrom("own", "body", "resource", "list"), ([one, nulls], where) => {
        const any = { ...Object.fromEntries(nulls.map((name) => [name, null])), ...(one === null ? {} : { [one]: given[one]?.[0] }) };
        const right = one === null ? null : (given[one]?.[1] as Value);
        const own = where === "list" ? { arrayValue: { values: [any, any] } } : any;
        const log = {
          timeUnixNano: ns(OTLP_NOW_MS),
          observedTimeUnixNano: null,
          severityNumber: null,
          severityText: null,
          traceId: null,
          spanId: null,
          eventName: null,
          droppedAttributesCount: null,
          body: where === "body" ? any : { stringValue: "b" },
          attributes: where === "resource" ? null : [{ key: "a", value: own }],
        };
        const resource = where === "resource" ? { attributes: [{ key: "a", value: any }], droppedAttributesCount: null } : null;
        const intake = take("logs", "json", {
          resourceLogs: [{ resource, schemaUrl: null, scopeLogs: [{ scope: null, logRecords: [log] }] }],
        });
        expect(deadLetters(intake)).toEqual([]);
        const [record] = recordsOf(intake.frames);
        if (where === "body") expect(record?.body).toBe(right === null ? "" : typeof right === "string" ? right : JSON.stringify(right));
        else expect(record?.attributes.a).toEqual(where === "list" ? [right, right] : right);
      }),
      { numRuns: 150 },
    );
  });

  it("a bad member refuses its own item, and a resource's none", () => {
    const bad = { key: "a", value: { intValue: "x" } };
    const log = (attributes: readonly object[]) => ({ timeUnixNano: ns(OTLP_NOW_MS), body: { stringValue: "b" }, attributes });
    const resource = { attributes: [bad, { key: "service.name", value: { stringValue: "shop" } }] };
    const intake = take("logs", "json", {
      resourceLogs: [{ resource, scopeLogs: [{ logRecords: [log([]), log([bad]), null, log([])] }] }],
    });
    expect(deadLetters(intake)).toHaveLength(2);
    expect(recordsOf(intake.frames)).toEqual(
      Array(2).fill(
        expect.objectContaining({ service_id: "shop", attributes: { "resource.dropped_attributes_count": 1, "service.name": "shop" } }),
      ),
    );
  });
});

describe("ids and names of logs", () => {
  const hex = (digits: number) =>
    fc.array(fc.constantFrom(..."0123456789abcdefABCDEF"), { minLength: digits, maxLength: digits }).map((all) => all.join(""));
  const ofDigits = (digits: number) =>
    fc.oneof(
      hex(digits),
      fc.constant("0".repeat(digits)),
      hex(digits - 1),
      hex(digits * 2),
      fc.constant(""),
      fc.string(),
      fc.base64String(),
    );
  const right = (id: string, digits: number) =>
    new RegExp(`^[0-9a-f]{${digits}}$`, "i").test(id) && !/^0+$/.test(id) ? id.toLowerCase() : "";
  const ofLog = (encoding: "json" | "protobuf", fields: object) => {
    const logRecords = [{ timeUnixNano: ns(OTLP_NOW_MS), ...fields }];
    return recordsOf(take("logs", encoding, { resourceLogs: [{ scopeLogs: [{ logRecords }] }] }).frames);
  };

  it("an id that is none is no id", () => {
    fc.assert(
      fc.property(ofDigits(32), ofDigits(16), (traceId, spanId) => {
        const [record] = ofLog("json", { body: { stringValue: "b" }, traceId, spanId });
        expect([record?.trace_id ?? "", record?.attributes.span_id ?? ""]).toEqual([right(traceId, 32), right(spanId, 16)]);
      }),
    );
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 20 }), fc.uint8Array({ minLength: 7, maxLength: 9 }), (traceId, spanId) => {
        const [record] = ofLog("protobuf", { body: { stringValue: "b" }, traceId: Buffer.from(traceId), spanId: Buffer.from(spanId) });
        const ids = [Buffer.from(traceId).toString("hex"), Buffer.from(spanId).toString("hex")] as const;
        expect([record?.trace_id ?? "", record?.attributes.span_id ?? ""]).toEqual([right(ids[0], 32), right(ids[1], 16)]);
      }),
    );
  });

  it.each(["json", "protobuf"] as const)("a log with an event's name is an event (%s)", (encoding) => {
    const fields = { body: { stringValue: "b" }, attributes: keyValues({ a: 1 }) };
    expect(ofLog(encoding, { ...fields, eventName: "device.crash" })).toEqual([
      expect.objectContaining({ type: "event", body: "b", attributes: { a: 1, "event.name": "device.crash" } }),
    ]);
    expect(ofLog(encoding, { eventName: "device.crash" })).toEqual([expect.objectContaining({ type: "event", body: "device.crash" })]);
    expect(ofLog(encoding, fields)).toEqual([expect.objectContaining({ type: "log" })]);
  });

  it("a record's type and kind that contradict each other are said with both names", () => {
    const types = ["metric", "log", "event", "trace", "profile", "slo"] as const;
    const record = { service_id: "s", metric_name: "m", value: 1, body: "b", timestamp: new Date(NOW_MS).toISOString() };
    fc.assert(
      fc.property(fc.option(fc.constantFrom(...types)), fc.constantFrom(...types, "gauge", "SERVER", 7), (type, kind) => {
        const answer = jsonRig.take(Buffer.from(JSON.stringify([{ ...record, ...(type === null ? {} : { type }), kind }]))).answer
          .body as string;
        const isWrong = (types as readonly unknown[]).includes(kind) && kind !== (type ?? "metric");
        expect(answer.includes('"failed":1')).toBe(isWrong);
        if (isWrong)
          expect(JSON.parse(answer).failures[0]).toMatchObject({ error: "invalid_type", message: expect.stringMatching(/type.*kind/) });
      }),
    );
  });
});
