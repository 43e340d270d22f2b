// Bodies that no sender should send, with the answer that each must get. All of them name the service "bad", so that a test can look whether
// anything of them was stored.
import { gzipSync } from "node:zlib";
import { compressSync } from "snappy";
import { MIB } from "./http-exchanges.ts";
import { bytesField, encodeBody, labelField, sampleField, varint } from "./remote-write-body.ts";
import { type Question, REMOTE_WRITE_HEADERS } from "./server-client.ts";

/** One request and what must come back; `says` is what the message must mention. */
export interface BadBody {
  readonly what: string;
  readonly question: Question;
  readonly status: number;
  readonly code: string;
  readonly says: RegExp;
}

const SINGLE = "/api/v1/telemetry";
const BATCH = "/api/v1/telemetry/batch";
const WRITE = "/api/v1/rwmetrics/write";

/** A record as JSON text whose value is the given text. */
export function recordText(value: string, more = ""): string {
  return `{"service_id":"bad","metric_name":"m","value":${value},"timestamp":"${new Date().toISOString()}"${more}}`;
}

function json(
  what: string,
  body: string | Uint8Array,
  code: string,
  says: RegExp,
  more: { status?: number; path?: string; headers?: Record<string, string> } = {},
): BadBody {
  const headers = { "Content-Type": "application/json", ...more.headers };
  return {
    what,
    question: { method: "POST", path: more.path ?? SINGLE, headers, body },
    status: more.status ?? 400,
    code,
    says,
  };
}

function write(what: string, body: Uint8Array, code: string, says: RegExp, status = 400): BadBody {
  return { what, question: { method: "POST", path: WRITE, headers: REMOTE_WRITE_HEADERS, body }, status, code, says };
}

const text = new TextEncoder();
const JOB = ["job", "bad"] as const;
const now = () => ({ value: 1, time: Date.now() });
const packed = (bytes: ArrayLike<number>) => compressSync(Buffer.from(Array.from(bytes)));
const seriesOf = (labels: ReadonlyArray<readonly [string, string]>) =>
  compressSync(Buffer.from(encodeBody([{ labels, samples: [now()] }])));
const utf16 = (value: string) => Buffer.from(value, "utf16le");
const named = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`a${i}`, i]));

/** A body of one series, not compressed: every proper prefix of it but the empty one is cut off in the middle. */
export function smallBody(): Uint8Array {
  return encodeBody([{ labels: [["__name__", "up"], JOB], samples: [now()] }]);
}

/** JSON bodies that are none, or hold records that are none. */
export function badJson(): BadBody[] {
  const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
  return [
    json("an empty body", "", "invalid_json", /empty; send/),
    json("an empty batch body", "", "invalid_json", /empty; send/, { path: BATCH }),
    json("half a record", recordText("1").slice(0, 40), "invalid_json", /not JSON/),
    json("two records without an array", recordText("1") + recordText("2"), "invalid_json", /not JSON/),
    json("an array for one record", `[${recordText("1")}]`, "invalid_json", /batch/),
    json("one record for an array", recordText("1"), "invalid_json", /must be a JSON array/, { path: BATCH }),
    json("null for an array", "null", "invalid_json", /must be a JSON array/, { path: BATCH }),
    json("10,000 levels", deep(10_000), "invalid_json", /nests 10000 levels deep; at most 64/, { path: BATCH }),
    json("10,000 levels in attributes", recordText("1", `,"attributes":{"a":${deep(10_000)}}`), "invalid_json", /levels deep; at most 64/),
    json("10,000 levels never closed", "[".repeat(10_000), "invalid_json", /levels deep/, { path: BATCH }),
    json("NaN", recordText("NaN"), "invalid_value", /finite/),
    json("Infinity", recordText("Infinity"), "invalid_value", /finite/),
    json("-Infinity", recordText("-Infinity"), "invalid_value", /finite/),
    json("1e999", recordText("1e999"), "invalid_value", /finite/),
    json("a hexadecimal number", recordText("0x10"), "invalid_json", /not JSON/),
    json(
      "200,000 attributes",
      recordText("1", `,"attributes":${JSON.stringify(named(200_000))}`),
      "field_too_long",
      /1310720 bytes as JSON, got [23]\d{6}/,
    ),
    json("an attribute of 1 MiB", recordText("1", `,"attributes":{"a":"${"x".repeat(MIB)}"}`), "invalid_attributes", /8192 bytes/),
    json(
      "an attribute of 2 MiB",
      recordText("1", `,"attributes":{"a":"${"x".repeat(2 * MIB)}"}`),
      "field_too_long",
      /1310720 bytes as JSON/,
    ),
    json("an attribute name of 1 MiB", recordText("1", `,"attributes":{"${"x".repeat(MIB)}":1}`), "field_too_long", /1024 bytes/),
    json(
      "attributes of 64 x 8 KiB",
      recordText(
        "1",
        `,"attributes":${JSON.stringify(Object.fromEntries(Object.keys(named(64)).map((name) => [name, "x".repeat(8192)])))}`,
      ),
      "invalid_attributes",
      /together/,
    ),
    json("text that says it is gzip", recordText("1"), "invalid_json", /not gzip/, {
      headers: { "Content-Encoding": "gzip" },
    }),
    json("half of a gzip", gzipSync(recordText("1")).subarray(0, 40), "invalid_json", /not gzip/, {
      headers: { "Content-Encoding": "gzip" },
    }),
    ...badText(),
  ];
}

/** Bodies in which the text is wrong, not the JSON. */
function badText(): BadBody[] {
  return [
    json(
      "invalid UTF-8",
      Buffer.concat([Buffer.from('{"service_id":"bad'), Buffer.from([0xff, 0xfe]), Buffer.from('"}')]),
      "invalid_json",
      /not valid UTF-8; JSON must be sent as UTF-8/,
    ),
    json("an overlong slash", Buffer.from([0x22, 0xc0, 0xaf, 0x22]), "invalid_json", /not valid UTF-8/),
    json("a surrogate as UTF-8", Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), "invalid_json", /not valid UTF-8/),
    json("UTF-16 without mark", utf16(recordText("1")), "invalid_json", /not JSON/),
    json("UTF-16 with mark", Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(recordText("1"))]), "invalid_json", /UTF-8/),
    json("a byte order mark", `\ufeff${recordText("1")}`, "invalid_json", /not JSON/),
    json("half a surrogate pair in a name", recordText("1").replace("bad", "bad\\ud800"), "invalid_record", /surrogate/),
    json("half a surrogate pair in an attribute", recordText("1", ',"attributes":{"a":{"b":["\\udfff"]}}'), "invalid_record", /surrogate/),
  ];
}

/** Remote-write bodies that are none, or hold series that are none. */
export function badRemoteWrite(): BadBody[] {
  const notSnappy = /not a snappy block holding a WriteRequest/;
  const good = Buffer.from(smallBody());
  const label = bytesField(1, [...bytesField(1, [0x61, 0xff]), ...bytesField(2, text.encode("v"))]);
  const invalidLabel = bytesField(1, [...labelField("__name__", "m"), ...labelField("job", "bad"), ...label, ...sampleField(now())]);
  return [
    write("an empty body", new Uint8Array(0), "invalid_protobuf", notSnappy),
    write("protobuf that is not compressed", good, "invalid_protobuf", notSnappy),
    write("snappy of text", packed(text.encode("hello, this is no protobuf")), "invalid_protobuf", notSnappy),
    write(
      "snappy that claims more than it holds",
      Buffer.concat([Buffer.from(varint(good.length + 1)), compressSync(good).subarray(1)]),
      "invalid_protobuf",
      notSnappy,
    ),
    write(
      "snappy that claims less than it holds",
      Buffer.concat([Buffer.from(varint(good.length - 1)), compressSync(good).subarray(1)]),
      "invalid_protobuf",
      notSnappy,
    ),
    write(
      "snappy that claims 4 GiB",
      Buffer.from([...varint(0xffff_ffff), ...compressSync(good).subarray(1)]),
      "payload_too_large",
      /decompresses to more than/,
      413,
    ),
    write("snappy that claims 2^63", Buffer.from([...varint(2n ** 63n), 0]), "invalid_protobuf", notSnappy),
    write("a copy from before the start", Buffer.from([4, 0x01, 0x05]), "invalid_protobuf", notSnappy),
    write("a field longer than the body", packed([...varint(10), ...varint(1_000_000)]), "invalid_protobuf", notSnappy),
    write("a varint without end", packed(Array.from({ length: 40 }, () => 0xff)), "invalid_protobuf", notSnappy),
    write("a series without labels", packed(bytesField(1, sampleField(now()))), "missing_metric_name", /needs __name__/),
    write("a series without a name", seriesOf([JOB]), "missing_metric_name", /no __name__/),
    write("labels that are not UTF-8", packed(invalidLabel), "invalid_attributes", /not valid UTF-8/),
    write("a label of 1 MiB", seriesOf([["__name__", "m"], ["big", "x".repeat(MIB)], JOB]), "invalid_attributes", /8192 bytes/),
    write("a label name of 1 MiB", seriesOf([["__name__", "m"], JOB, ["x".repeat(MIB), "v"]]), "field_too_long", /1024 bytes/),
    write("a name of 1 MiB", seriesOf([["__name__", "m".repeat(MIB)], JOB]), "field_too_long", /1024 bytes/),
    write(
      "10,000 labels",
      seriesOf([["__name__", "m"], JOB, ...Object.keys(named(10_000)).map((name) => [name, "v"] as const)]),
      "invalid_attributes",
      /128 labels, got 10002/,
    ),
  ];
}

/** Bodies that are bad by their size; each takes tens of MiB of the server's memory for a moment. */
export function badSizes(): BadBody[] {
  return [
    json("16 MiB of spaces", Buffer.alloc(16 * MIB, " "), "invalid_json", /not JSON/, { path: BATCH }),
    json("16 MiB and a byte", Buffer.alloc(16 * MIB + 1, " "), "payload_too_large", /16777216/, { status: 413 }),
    json(
      "a gzip that inflates to 65 MiB",
      gzipSync(Buffer.alloc(65 * MIB, " ")),
      "payload_too_large",
      /inflates to more than 300 times the 6\d{4} bytes that were sent/,
      { status: 413, headers: { "Content-Encoding": "gzip" } },
    ),
    json(
      "65 KB of gzip that are 22 million records",
      gzipSync(`[${"{},".repeat(22_000_000)}{}]`, { level: 9 }),
      "payload_too_large",
      /inflates to more than 300 times the 6\d{4} bytes that were sent/,
      { status: 413, headers: { "Content-Encoding": "gzip" }, path: BATCH },
    ),
    json("5 million records", `[${"{},".repeat(5_000_000)}{}]`, "batch_too_large", /may have 10000 records/, { path: BATCH }),
    json(
      "a million members",
      `{${Array.from({ length: 1_000_000 }, (_, i) => `"${i}":0`).join(",")}}`,
      "payload_too_large",
      /4194304 bytes/,
      {
        status: 413,
      },
    ),
    json("16 MiB of one string", `"${"x".repeat(16 * MIB - 2)}"`, "payload_too_large", /may have 4194304 bytes/, { status: 413 }),
    write("16 MiB of zeros", Buffer.alloc(16 * MIB), "invalid_protobuf", /snappy/),
  ];
}

/** Small requests that are refused with a large payload: each becomes a dead letter of 30 MiB. */
export function badGiants(): BadBody[] {
  const body = seriesOf([["__name__", "m"], ["big", "x".repeat(30 * MIB)], JOB]);
  return ["a label of 30 MiB", "another", "a third"].map((what) => write(what, body, "invalid_attributes", /longer than 8192 bytes/));
}
