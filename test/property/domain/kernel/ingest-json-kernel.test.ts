// What the kernel reads of JSON by itself, against JSON.parse and parseRfc3339: grammar, numbers, times.
import { isUtf8 } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  STATUS_DONE,
  STATUS_ODD_BODY,
  STATUS_ODD_RECORD,
  STATUS_TOO_LARGE,
  STATUS_UNKNOWN_STREAM,
} from "../../../../src/core/layout/kernel-status.ts";
import { BODY_PADDING_BYTES, LARGE_BODY, STAGING } from "../../../../src/core/layout/memory-map.ts";
import { ROW_OFFSET, ROW_VALUE } from "../../../../src/core/layout/row-frame.ts";
import { parseRfc3339 } from "../../../../src/core/time/rfc3339.ts";
import { decodeJson } from "../../../../src/domain/codec/json-body.ts";
import type { IngestExports } from "../../../../src/domain/kernel/ingest-kernel.ts";
import { fillPowersOfFive } from "../../../../src/domain/kernel/powers-of-five.ts";
import { batchText, damaged, numberText, timeText } from "../../../support/json-bodies.ts";
import { loadKernel } from "../../../support/kernel.ts";

const { kernel, bytes, view } = loadKernel<IngestExports>();
fillPowersOfFive(view);

const DEPTH_MAX = 64;
const RECORDS_MAX = 9;
/** Further from 1970 than any date of four digits. */
const FAR_MS = 1e15;

function begin(body: Uint8Array, batch: boolean): number {
  bytes.set(body, LARGE_BODY);
  bytes.fill(0, LARGE_BODY + body.length, LARGE_BODY + body.length + BODY_PADDING_BYTES);
  return kernel.jsonRecordsBegin(LARGE_BODY, body.length, batch ? 1 : 0, 0, 0, -FAR_MS, FAR_MS, RECORDS_MAX, DEPTH_MAX);
}

/** The row that the kernel stages for a record of one stream: undefined when it leaves the record to TypeScript. */
function rowOf(value: string, time: string): { bits: bigint; offset: number } | undefined {
  const body = Buffer.from(`{"service_id":"s","metric_name":"m","value":${value},"timestamp":"${time}"}`);
  kernel.stagingReset(1);
  if (begin(body, false) === STATUS_ODD_BODY) return undefined;
  const status = kernel.jsonRecordsStep();
  if (status === STATUS_ODD_RECORD) return undefined;
  if (status === STATUS_UNKNOWN_STREAM) {
    kernel.keyInsert(7, 0, 0);
    return rowOf(value, time);
  }
  expect(status).toBe(STATUS_DONE);
  return { bits: view.getBigUint64(STAGING + ROW_VALUE, true), offset: view.getUint32(STAGING + ROW_OFFSET, true) };
}

function bitsOf(value: number): bigint {
  const double = new DataView(new ArrayBuffer(8));
  double.setFloat64(0, value);
  return double.getBigUint64(0);
}

function parsed(body: Buffer): unknown {
  if (!isUtf8(body)) return undefined;
  try {
    return JSON.parse(body.toString());
  } catch {
    return undefined;
  }
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

/** Records of a body that the kernel should take. */
function recordsOf(body: Buffer, batch: boolean): number {
  const value = parsed(body);
  if (!batch) return typeof value === "object" && value !== null && !Array.isArray(value) ? 1 : STATUS_ODD_BODY;
  if (!Array.isArray(value)) return STATUS_ODD_BODY;
  return value.length <= RECORDS_MAX ? value.length : STATUS_TOO_LARGE;
}

/** Digits of a number without those zeros that say nothing about their count. */
function significantDigits(text: string): number {
  return (/^-?([0-9.]+)/.exec(text)?.[1] ?? "").replace(".", "").replace(/^0+/, "").length;
}

describe("the JSON kernel", () => {
  it("takes the bodies that JSON.parse takes, and no others", () => {
    const body = fc.oneof(
      damaged(batchText),
      batchText.map((text) => Buffer.from(text)),
      damaged(fc.jsonValue().map((value) => JSON.stringify(value))),
    );
    fc.assert(
      fc.property(body, fc.boolean(), (given, batch) => {
        const [taken, expected] = [begin(given, batch), recordsOf(given, batch)];
        // What stands behind too many records is not looked at.
        expect(taken === STATUS_TOO_LARGE && batch ? STATUS_ODD_BODY : taken).toBe(
          expected === STATUS_TOO_LARGE ? STATUS_ODD_BODY : expected,
        );
        if (expected === STATUS_TOO_LARGE) expect(taken).toBe(STATUS_TOO_LARGE);
      }),
      { numRuns: 10_000 },
    );
  });

  it("takes the words that Python writes for numbers that are not finite, as values and nowhere else", () => {
    const word = fc.constantFrom("NaN", "Infinity", "-Infinity", "-NaN", "nan", "NaNa", "Inf", "-", "1NaN", "null", "-Infinit");
    const place = fc.constantFrom(
      '{"value":#}',
      '{"value":1,"a":[#,1]}',
      "#",
      '{"#":1}',
      '{"a":"#"}',
      '{"service_id":#}',
      "[ # ]",
      '{"attributes":{"a":#}}',
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(place, word), { maxLength: 4 }), (records) => {
        const text = `[${records.map(([given, each]) => given.replace("#", each))}]`;
        const decoded = decodeJson(text);
        expect(begin(Buffer.from(text), true)).toBe(decoded.ok ? records.length : STATUS_ODD_BODY);
      }),
      { numRuns: 3000 },
    );
  });

  it("takes exactly the strings that are UTF-8 and have no control character", () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 6 }),
      fc
        .tuple(fc.nat(40), fc.constantFrom(0xc2, 0xdf, 0xe0, 0xed, 0xef, 0xf0, 0xf4), fc.uint8Array({ min: 0x7f, max: 0xc0, maxLength: 4 }))
        .map(([before, lead, rest]) => Uint8Array.of(...new Uint8Array(before).fill(0x61), lead, ...rest)),
      fc.tuple(fc.nat(40), fc.string({ unit: "binary", maxLength: 30 })).map(([before, text]) => Buffer.from("a".repeat(before) + text)),
    );
    fc.assert(
      fc.property(content, (given) => {
        const body = Buffer.concat([Buffer.from('["'), given, Buffer.from('"]')]);
        expect(begin(body, true)).toBe(recordsOf(body, true));
      }),
      { numRuns: 10_000 },
    );
  });

  it("goes as deep as it is told to", () => {
    for (const levels of [DEPTH_MAX - 1, DEPTH_MAX, DEPTH_MAX + 1]) {
      for (const [open, close] of [["[", "]"] as const, ['{"a":', "}"] as const]) {
        const text = `[${open.repeat(levels - 1)}0${close.repeat(levels - 1)}]`;
        expect(depthOf(JSON.parse(text))).toBe(levels);
        expect(begin(Buffer.from(text), true)).toBe(levels > DEPTH_MAX ? STATUS_ODD_BODY : 1);
        const record = `{"attributes":${open.repeat(levels - 1)}0${close.repeat(levels - 1)}}`;
        expect(begin(Buffer.from(record), false)).toBe(levels > DEPTH_MAX ? STATUS_ODD_BODY : 1);
      }
    }
  });

  it("reads numbers bit for bit, and leaves only long, tiny and infinite ones", () => {
    fc.assert(
      fc.property(numberText, (text) => {
        const value = JSON.parse(text) as number;
        const row = rowOf(text, "2026-11-21T12:00:00Z");
        if (row !== undefined) expect(row.bits).toBe(bitsOf(value));
        const isUsual = Math.abs(value) >= 2.3e-308 && Math.abs(value) < Number.POSITIVE_INFINITY;
        if (isUsual && significantDigits(text) <= 19 && !/[eE][+-]?\d{4}/.test(text)) expect(row, text).toBeDefined();
      }),
      { numRuns: 50_000 },
    );
  });

  it("reads times as parseRfc3339 does", () => {
    fc.assert(
      fc.property(timeText, (text) => {
        const expected = parseRfc3339(text);
        expect(rowOf("1", text)?.offset).toBe(expected === undefined ? undefined : Number(BigInt.asUintN(32, BigInt(expected))));
      }),
      { numRuns: 20_000 },
    );
  });
});
