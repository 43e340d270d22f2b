/** Bodies of JSON telemetry that would hold an engine: refused before they are parsed, or taken in many turns. What is counted is text parsed and turns taken. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  JSON_ELEMENT_BYTES_MAX,
  JSON_PARSED_BYTES_MAX,
  JSON_SCANNED_BYTES_MAX,
  WORK_TEXT_BYTES_MAX,
} from "../../../../src/core/config/body-limits.ts";
import { logsOfProtobuf } from "../../../../src/domain/otlp/protobuf-logs.ts";
import { JsonRig, NOW_MS } from "../../../support/json-rig.ts";
import { OTLP_NOW_MS, OtlpRig } from "../../../support/otlp-rig.ts";
import { encodeRequest } from "../../../support/otlp-schema.ts";

const MIB = 1024 * 1024;
const NOW = new Date(NOW_MS).toISOString();

/** Characters of the longest text that was parsed, and of all. */
const parsed = { longest: 0, all: 0 };

beforeEach(() => {
  parsed.longest = parsed.all = 0;
  const parse = JSON.parse;
  vi.spyOn(JSON, "parse").mockImplementation((text: string, reviver) => {
    parsed.longest = Math.max(parsed.longest, text.length);
    parsed.all += text.length;
    return parse(text, reviver) as unknown;
  });
});

afterEach(() => {
  vi.restoreAllMocks();
});

const rig = new JsonRig({ kernelReads: true });

function logText(index: number, body = "a"): string {
  return `{"service_id":"s","type":"log","body":"${body}","trace_id":"${index}","timestamp":"${NOW}"}`;
}

function refusal(bytes: Uint8Array, batch = true) {
  const { answer, units } = rig.take(bytes, { batch });
  const error = JSON.parse(answer.body as string) as { error: string; message: string };
  return { status: answer.status, code: error.error, message: error.message, units };
}

describe("bodies that are refused before they are parsed", () => {
  const many = `[${"{},".repeat(10_000)}{}]`;
  const keys = (count: number) => `{${Array.from({ length: count }, (_, i) => `"k${i}":0`).join(",")}}`;
  it.each([
    ["10,001 records", many, "batch_too_large"],
    ["22 million records", `[${"{},".repeat(22_000_000)}{}]`, "batch_too_large"],
    ["5 million numbers", `[${"1,".repeat(5_000_000)}1]`, "batch_too_large"],
    ["spaces", " ".repeat(64 * MIB), "invalid_json"],
    ["spaces in an array", `[${" ".repeat(64 * MIB - 2)}}`, "invalid_json"],
    ["a record of 8 MiB", `[{"a":[${"{},".repeat(3 * MIB)}{}]}]`, "payload_too_large"],
    ["a number of 8 MiB", `[${"1".repeat(8 * MIB)}]`, "payload_too_large"],
    ["letters beyond ASCII, 8 MiB", `["${"ä".repeat(4 * MIB)}"]`, "payload_too_large"],
    ["no end", `[${`${logText(1)},`.repeat(2000)}`, "invalid_json"],
    ["6 MiB without an end", `[${`${logText(1, "a".repeat(8000))},`.repeat(800)}`, "invalid_json"],
    ["something behind 6 MiB", `[${`${logText(1, "a".repeat(8000))},`.repeat(800)}1] 2`, "invalid_json"],
    ["an object of 200,000 members", keys(200_000), "invalid_json"],
  ])("%s", (_, text, code) => {
    expect(refusal(Buffer.from(text)).code).toBe(code);
    expect(parsed.all).toBeLessThan(1000); // the answer alone
  });

  it("one record of more than 4 MiB, whatever is in it", () => {
    const text = keys(600_000);
    expect(text.length).toBeGreaterThan(JSON_SCANNED_BYTES_MAX);
    expect(refusal(Buffer.from(text), false)).toMatchObject({ status: 413, code: "payload_too_large" });
    expect(parsed.all).toBeLessThan(1000);
  });

  it("one record of more than 1,280 KiB is refused unread, as one that keeps its neighbours", () => {
    const long = keys(200_000);
    expect(long.length).toBeGreaterThan(JSON_ELEMENT_BYTES_MAX);
    expect(refusal(Buffer.from(long), false)).toMatchObject({ status: 400, code: "field_too_long" });
    const { answer, frames } = rig.take(Buffer.from(`[${logText(1)},${long},${logText(2)}]`));
    expect(answer.body).toMatch(/"queued":2,"failed":1,"failures":\[\{"index":1,"error":"field_too_long"/);
    expect(frames).toHaveLength(3);
    expect(frames[2]).toContain(`"payload":{"left_out":"the record has ${long.length} bytes as JSON"}`);
    expect(parsed.longest).toBeLessThan(1000);
  });

  it("says where a long body ceases to be JSON", () => {
    const good = `[${`${logText(1)},`.repeat(1000)}`;
    expect(refusal(Buffer.from(`${good}{"a":}]`)).message).toContain(`byte ${good.length}`);
    const longer = `[${`${logText(1, "a".repeat(8000))},`.repeat(800)}`;
    expect(refusal(Buffer.from(`${longer}{"a":}]`)).message).toContain(`byte ${longer.length}`);
  });

  it("a body that is short is parsed, to say what is wrong with it", () => {
    expect(refusal(Buffer.from('[{"a":}]')).message).toMatch(/not JSON: .*token/i);
    expect(parsed.longest).toBeLessThan(JSON_PARSED_BYTES_MAX);
  });
});

describe("a body that is long and allowed", () => {
  it("is checked a piece a turn, and its records are taken in many", () => {
    const records = Array.from({ length: 10_000 }, (_, i) => logText(i, "b".repeat(1000)));
    const bytes = Buffer.from(`[${records.join(",")}]`);
    expect(bytes.length).toBeGreaterThan(2 * JSON_SCANNED_BYTES_MAX);
    const { answer, frames, units } = rig.take(bytes);
    expect(answer.body).toBe('{"status":"ok","queued":10000,"failed":0,"failures":[]}');
    expect(frames.map((frame) => /"trace_id":"(\d+)"/.exec(frame)?.[1])).toEqual(records.map((_, i) => String(i)));
    expect(units).toBeGreaterThanOrEqual(bytes.length / WORK_TEXT_BYTES_MAX);
    expect(parsed.longest).toBeLessThan(JSON_PARSED_BYTES_MAX);
  });

  it("keeps the places of what is refused across turns, and buries it behind what is accepted", () => {
    const records = Array.from({ length: 10_000 }, (_, i) => (i % 2 === 0 ? logText(i) : `{"service_id":"s","n":${i}}`));
    const { answer, frames, units } = rig.take(Buffer.from(`[${records.join(",")}]`));
    const { queued, failed, failures } = JSON.parse(answer.body as string) as {
      queued: number;
      failed: number;
      failures: Array<{ index: number }>;
    };
    expect([queued, failed]).toEqual([5000, 5000]);
    expect(failures.map(({ index }) => index)).toEqual(Array.from({ length: 5000 }, (_, i) => 2 * i + 1));
    expect(frames.slice(0, 5000).every((frame) => frame.includes('"type":"log"'))).toBe(true);
    expect(frames.slice(5000).map((frame) => Number(/"n":(\d+)/.exec(frame)?.[1]))).toEqual(failures.map(({ index }) => index));
    expect(units).toBeGreaterThan(5);
  });

  it("of points that the kernel stages is taken at once, with others among them in turns, and the same comes of it", () => {
    const point = (i: number, odd: boolean) =>
      `{"service_id":"s","metric_name":"m","value":${i},"timestamp":"${NOW}"${odd ? `,"trace_id":"\\u0061"` : ""}}`;
    const usual = Array.from({ length: 10_000 }, (_, i) => point(i, false));
    const mixed = Array.from({ length: 10_000 }, (_, i) => point(i, i % 3 === 0));
    rig.take(Buffer.from(`[${usual[0]}]`));
    const atOnce = rig.take(Buffer.from(`[${usual.join(",")}]`));
    const inTurns = rig.take(Buffer.from(`[${mixed.join(",")}]`));
    expect(atOnce.units).toBe(1);
    expect(inTurns.units).toBeGreaterThan(1);
    expect(inTurns.rows).toEqual(atOnce.rows);
    expect(inTurns.answer).toEqual(atOnce.answer);
  });
});

describe("OTLP requests in JSON that are long", () => {
  const otlp = (options = {}) => new OtlpRig(options);
  const text = (key: string, value: string) => ({ key, value: { stringValue: value } });
  const resource = (name: string, more = "") => ({ attributes: [text("service.name", name), text("more", more)] });
  const nano = (i: number) => `${OTLP_NOW_MS + (i % 1000)}000000`;
  const log = (i: number) => ({ timeUnixNano: nano(i), body: { stringValue: `log ${i}` }, attributes: [text("n", String(i))] });
  const span = (i: number) => ({
    traceId: i.toString(16).padStart(32, "1"),
    spanId: i.toString(16).padStart(16, "1"),
    name: `span ${i % 10}`,
    startTimeUnixNano: nano(i),
    endTimeUnixNano: `${OTLP_NOW_MS + (i % 1000) + 1}000000`,
  });
  const point = (i: number) => ({ timeUnixNano: nano(i), asDouble: i, attributes: [text("n", String(i % 500))] });
  const list = <T>(count: number, make: (i: number) => T) => Array.from({ length: count }, (_, i) => make(i));

  const requests: ReadonlyArray<readonly [string, "logs" | "traces" | "metrics", object]> = [
    [
      "one resource with all logs",
      "logs",
      { resourceLogs: [{ resource: resource("a"), scopeLogs: [{ scope: {}, logRecords: list(5000, log) }] }] },
    ],
    [
      "many resources",
      "logs",
      { resourceLogs: list(800, (i) => ({ resource: resource(`s${i}`, "x".repeat(i)), scopeLogs: [{ logRecords: list(3, log) }] })) },
    ],
    [
      "resources and scopes of every size, what is beside the arrays before and behind them",
      "logs",
      {
        resourceLogs: list(12, (i) => ({
          scopeLogs: list(i + 1, (k) => ({ logRecords: list(20 * k * i, log), schemaUrl: "b", scope: { name: "]},{" } })),
          resource: resource(`s${i}`),
        })),
        other: [{ a: 1 }],
      },
    ],
    [
      "nulls where nothing is",
      "logs",
      {
        resourceLogs: [
          { resource: null, scopeLogs: null },
          { scopeLogs: [{ logRecords: null }] },
          { scopeLogs: [{ logRecords: list(2000, log) }, { scope: null, logRecords: [] }] },
        ],
      },
    ],
    ["spans", "traces", { resourceSpans: list(3, (i) => ({ resource: resource(`s${i}`), scopeSpans: [{ spans: list(1000, span) }] })) }],
    [
      "points of one metric, and histograms",
      "metrics",
      {
        resourceMetrics: [
          {
            resource: resource("a"),
            scopeMetrics: [
              {
                metrics: [
                  { name: "m", gauge: { dataPoints: list(2000, point) } },
                  {
                    name: "h",
                    histogram: {
                      aggregationTemporality: 2,
                      dataPoints: list(600, (i) => ({
                        ...point(i),
                        startTimeUnixNano: nano(0),
                        count: "3",
                        sum: 4,
                        bucketCounts: ["1", "2"],
                        explicitBounds: [1],
                      })),
                    },
                  },
                  { name: "c", sum: { dataPoints: list(500, point), isMonotonic: true, aggregationTemporality: 2 } },
                ],
              },
            ],
          },
        ],
      },
    ],
  ];

  it.each(requests)("%s: pieces become what the whole would", (_, signal, request) => {
    const bytes = Buffer.from(JSON.stringify(request));
    expect(bytes.length).toBeGreaterThan(2 * JSON_PARSED_BYTES_MAX);
    const taken = otlp().take(bytes, signal, "json");
    expect(parsed.longest).toBeLessThanOrEqual(2 * JSON_PARSED_BYTES_MAX);
    const wire = JSON.parse(bytes.toString(), (key, each: unknown) =>
      /Id$/.test(key) ? Buffer.from(String(each), "hex") : each,
    ) as object;
    const protobuf = otlp().take(encodeRequest(signal, wire), signal, "protobuf");
    expect(taken.answer).toEqual(protobuf.answer);
    expect(taken.answer).toEqual({ status: 200, body: null });
    expect(taken.rows).toEqual(protobuf.rows);
    // Blocks of spans end where units do; a walk tells metrics of number points first, pieces each in its place.
    const inOrder = (frames: typeof taken.frames) => (signal === "logs" ? frames : frames.map((each) => JSON.stringify(each)).sort());
    expect(inOrder(taken.frames)).toEqual(inOrder(protobuf.frames));
    expect([...taken.spanLines].sort()).toEqual([...protobuf.spanLines].sort());
    expect(taken.messageBytes > 0).toBe(protobuf.messageBytes > 0);
    expect(taken.rows.length + taken.frames.length + taken.messageBytes).toBeGreaterThan(0);
  });

  it("metrics beyond 4 MiB are walked by the kernel, a piece at a time", () => {
    const request = {
      resourceMetrics: [
        { resource: resource("a"), scopeMetrics: [{ metrics: [{ name: "m", gauge: { dataPoints: list(60_000, point) } }] }] },
      ],
    };
    const bytes = Buffer.from(JSON.stringify(request));
    expect(bytes.length).toBeGreaterThan(JSON_SCANNED_BYTES_MAX);
    const rigOfPieces = otlp();
    const taken = rigOfPieces.take(bytes, "metrics", "json");
    expect(rigOfPieces.walks).toBeGreaterThan(50);
    expect(taken.rows).toEqual(otlp().take(encodeRequest("metrics", request), "metrics", "protobuf").rows);
    expect(taken.rows).toHaveLength(60_000);
  });

  const empties = (count: number) => "{},".repeat(count);
  const deep = (count: number) => `{"scopeLogs":[{"logRecords":[${`${empties(count)}{}`}]}]}`;
  it.each([
    ["resources", "logs", `{"resourceLogs":[${empties(5_000_000)}{}]}`],
    ["resources of metrics", "metrics", `{"resourceMetrics":[${empties(2_000_000)}{}]}`],
    ["resources of metrics, fewer", "metrics", `{"resourceMetrics":[${empties(1_000_000)}{}]}`],
    ["metrics", "metrics", `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${empties(1_000_000)}{}]}]}]}`],
    [
      "points",
      "metrics",
      `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[{"name":"a","gauge":{"dataPoints":[${empties(1_000_000)}{}]}}]}]}]}`,
    ],
    ["resources of spans", "traces", `{"resourceSpans":[${empties(1_000_000)}{}]}`],
    ["logs", "logs", `{"resourceLogs":[{"scopeLogs":[{"logRecords":[${empties(1_000_000)}{}]}]}]}`],
    ["logs in many resources", "logs", `{"resourceLogs":[${`${deep(10_000)},`.repeat(50)}{}]}`],
    ["attributes", "logs", `{"resourceLogs":[${`{"resource":{"attributes":[${empties(15_000)}{}]}},`.repeat(50)}{}]}`],
  ] as const)("too many empty ones are refused before anything is parsed: %s", (_, signal, body) => {
    const { answer, frames, rows } = otlp().take(Buffer.from(body), signal, "json");
    expect(JSON.parse(answer.body as string)).toMatchObject({ error: "batch_too_large" });
    expect(answer.status).toBe(400);
    expect(frames.length + rows.length).toBe(0);
    expect(parsed.all).toBeLessThan(2000);
  });

  /** A field of bytes, all in hex. */
  function field(tag: number, content: string): string {
    const head = [tag];
    for (let rest = content.length / 2; ; rest >>>= 7) {
      head.push(rest > 127 ? (rest & 127) | 128 : rest);
      if (rest <= 127) return Buffer.from(head).toString("hex") + content;
    }
  }

  it.each([
    ["resources", "logs", "0a00".repeat(500_000)],
    ["resources of metrics", "metrics", "0a00".repeat(500_000)],
    ["resources of spans", "traces", "0a00".repeat(500_000)],
    ["fields that nobody knows", "logs", "7800".repeat(500_000)],
    ["logs", "logs", field(0x0a, field(0x12, "1200".repeat(400_000)))],
    ["spans", "traces", field(0x0a, field(0x12, "1200".repeat(400_000)))],
    ["metrics", "metrics", field(0x0a, field(0x12, "1200".repeat(400_000)))],
    ["points", "metrics", field(0x0a, field(0x12, field(0x12, field(0x2a, "0a00".repeat(400_000)))))],
  ] as const)("too many empty messages in protobuf are refused as well: %s", (_, signal, hex) => {
    const { answer, frames } = otlp().take(Buffer.from(hex, "hex"), signal, "protobuf");
    expect(JSON.parse(answer.body as string)).toMatchObject({ error: "batch_too_large" });
    expect(frames).toHaveLength(0);
  });

  it.each([
    ["resources of nothing", "0a00".repeat(50_000), 50_000],
    ["scopes of nothing", field(0x0a, "1200".repeat(50_000)), 50_000],
    ["fields that nobody knows", field(0x0a, field(0x12, "7800".repeat(50_000))), 50_000],
  ])("a walk over protobuf that finds no item lets its caller look up: %s", (_, hex, fields) => {
    const items = [...logsOfProtobuf(Buffer.from(hex, "hex"))];
    expect(items.every((item) => item === undefined)).toBe(true);
    expect(items.length).toBeGreaterThanOrEqual(Math.floor(fields / 4096));
  });

  it("a resource and a log in protobuf of more than 1,280 KiB are not read", () => {
    const attributes = "3200".repeat(660_000);
    const ofLog = [...logsOfProtobuf(Buffer.from(field(0x0a, field(0x12, field(0x12, attributes))), "hex"))];
    const ofResource = [...logsOfProtobuf(Buffer.from(field(0x0a, field(0x0a, "0a00".repeat(660_000)) + field(0x12, "1200")), "hex"))];
    for (const items of [ofLog, ofResource]) expect(items.filter((item) => item !== undefined)).toMatchObject([{ type: "damaged" }]);
  });

  it.each([
    ["no end", `{"resourceLogs":[${`${deep(100)},`.repeat(500)}`, "invalid_json"],
    ["a comma too many", `{"resourceLogs":[${`${deep(100)},`.repeat(500)}]}`, "invalid_json"],
    ["something behind it", `{"resourceLogs":[${`${deep(100)},`.repeat(500)}{}]} x`, "invalid_json"],
    ["resources that are no objects", `{"resourceLogs":[${`${deep(100)},`.repeat(500)}1]}`, "invalid_json"],
    ["an array twice", `{"resourceLogs":[${`${deep(100)},`.repeat(500)}{}],"resourceLogs":[]}`, "invalid_json"],
    ["a name with an escape", `{"resourceLogs":[${`${deep(100)},`.repeat(500)}{}],"a\\u0041":1}`, "invalid_json"],
    ["members of no meaning without end", `{${'"a":1,'.repeat(1_000_000)}"b":2}`, "invalid_json"],
    ["a resource of 1 MiB", `{"resourceLogs":[{"resource":{"a":"${"x".repeat(MIB)}"},"scopeLogs":[]}]}`, "invalid_json"],
    ["an item of 5 MiB", `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"a":[${empties(1_700_000)}1]}]}]}]}`, "payload_too_large"],
    ["64 MiB of spaces", `{${" ".repeat(64 * MIB - 2)}}`, "invalid_json"],
  ])("what cannot be cut is refused, and nothing of it is stored: %s", (_, body, code) => {
    const { answer, frames } = otlp().take(Buffer.from(body), "logs", "json");
    expect(JSON.parse(answer.body as string)).toMatchObject({ error: code });
    expect(frames).toHaveLength(0);
    expect(parsed.all).toBeLessThan(2000);
  });

  it("an item of more than 1,280 KiB is refused unread, and its neighbours are taken", () => {
    const long = `{"attributes":[${'{"key":"a"},'.repeat(150_000)}{}]}`;
    const item = JSON.stringify(log(1));
    const { answer, frames } = otlp().take(
      Buffer.from(`{"resourceLogs":[{"scopeLogs":[{"logRecords":[${item},${long},${item}]}]}]}`),
      "logs",
      "json",
    );
    expect(answer.body).toMatch(/"rejected":1,"message":"1 of 3 .*invalid_record: an item may have 1310720 bytes/);
    expect(frames).toHaveLength(3);
    expect(parsed.longest).toBeLessThan(2000);
  });
});
