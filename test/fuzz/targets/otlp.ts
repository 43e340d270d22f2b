// OTLP bodies through an ingest's decoder. Metrics in protobuf: the kernel's walk, over a table that knows the streams of the inputs before, against the
// decoder in TypeScript; spans likewise. Traces and logs: what follows the body in memory has no influence, and the ingest counts what the decoder finds. JSON: metrics likewise, the others an answer.
import type { OtlpEncoding, OtlpSignal } from "../../../src/core/protocol/otlp-kind.ts";
import { logsOfProtobuf } from "../../../src/domain/otlp/protobuf-logs.ts";
import { spansOfProtobuf } from "../../../src/domain/otlp/protobuf-traces.ts";
import { isMetricsRequest, isRequest } from "../../support/otlp-request-check.ts";
import { OTLP_NOW_MS, type OtlpIntake, OtlpRig } from "../../support/otlp-rig.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { type FuzzTarget, magnitude, must, textTokens } from "../target.ts";

/** A rig keeps every stream it has seen; after so many inputs new ones begin. */
const INPUTS_PER_RIG = 1 << 14;
const BYTES_MAX = 1536;

/** Number points by the kernel and by its twin. */
export function otlpMetricsTarget(): FuzzTarget {
  const take = twins("protobuf");
  const check = (input: Uint8Array): number => {
    const { status, feature } = take(input);
    const isGood = isMetricsRequest(Buffer.from(input));
    must(status === (isGood ? 200 : 400), `answered ${status}, the twin ${isGood ? "takes" : "refuses"} it`);
    return isGood ? feature : -1;
  };
  return { name: "otlp-metrics", bytesMax: BYTES_MAX, tokens: TOKENS, write: writeMetrics, check };
}

/** Takes metrics with an ingest whose kernel walks and with one whose kernel does not, which must come to the same. */
function twins(encoding: OtlpEncoding): (input: Uint8Array) => { readonly status: number; readonly feature: number } {
  const make = () => [new OtlpRig(), new OtlpRig({ kernelWalks: false })] as const;
  let rigs = make();
  let calls = 0;
  return (input) => {
    if (++calls % INPUTS_PER_RIG === 0) rigs = make();
    const [walked, decoded] = [rigs[0].take(input, "metrics", encoding), rigs[1].take(input, "metrics", encoding)] as const;
    const { status } = walked.answer;
    must(status === decoded.answer.status, `answered ${status}, the decoder without the kernel ${decoded.answer.status}`);
    if (status !== 200) return { status, feature: -1 };
    const [rows, others] = [valuesOf(walked), valuesOf(decoded)];
    must(rows.length === others.length, `${rows.length} rows instead of ${others.length}`);
    for (const [place, row] of rows.entries()) must(row === others[place], `row ${place}: ${row}, the twin has ${others[place]}`);
    must(rejectedOf(walked) === rejectedOf(decoded), `${rejectedOf(walked)} rejected instead of ${rejectedOf(decoded)}`);
    must(walked.messageBytes === decoded.messageBytes, "other histograms");
    return { status, feature: magnitude(rows.length) * 16 + magnitude(rejectedOf(walked)) };
  };
}

/** Start markers come where the table forgot or never knew the start: that differs between keys in bytes and keys in text. */
function valuesOf({ rows }: OtlpIntake): string[] {
  return rows.filter((row) => !row.includes(" start "));
}

function rejectedOf({ answer }: OtlpIntake): number {
  return answer.body === null ? 0 : (JSON.parse(answer.body).rejected as number);
}

/** Spans, by the kernel's walk and by its twin too. */
export function otlpTracesTarget(): FuzzTarget {
  const target = recordTarget("otlp-traces", "traces", spansOfProtobuf, writeSpans);
  const walks = new OtlpRig();
  const decodes = new OtlpRig({ kernelWalks: false });
  const said = ({ answer, frames, spanLines }: OtlpIntake) => JSON.stringify([answer, frames, spanLines]);
  const check = (input: Uint8Array): number => {
    const walked = said(walks.take(input, "traces", "protobuf"));
    const decoded = said(decodes.take(input, "traces", "protobuf"));
    must(walked === decoded, `the kernel's walk says ${walked}, the decoder ${decoded}`);
    return target.check(input);
  };
  return { ...target, check };
}

export function otlpLogsTarget(): FuzzTarget {
  return recordTarget("otlp-logs", "logs", logsOfProtobuf, writeLogs);
}

function recordTarget(
  name: string,
  signal: OtlpSignal,
  itemsOf: (bytes: Buffer) => Iterable<unknown>,
  write: (out: InputWriter, random: Random) => void,
): FuzzTarget {
  const rig = new OtlpRig();
  const check = (input: Uint8Array): number => {
    const { answer, frames } = rig.take(input, signal, "protobuf");
    const alone = Buffer.from(new Uint8Array(input));
    const isGood = isRequest(alone);
    must(answer.status === (isGood ? 200 : 400), `answered ${answer.status}`);
    if (!isGood) return -1;
    const items = [...itemsOf(alone)];
    const followed = Buffer.concat([alone, Buffer.alloc(64, 0xff)]).subarray(0, alone.length);
    must(JSON.stringify(items) === JSON.stringify([...itemsOf(followed)]), "what follows the body has an influence");
    const taken = frames.reduce((sum, { envelope }) => sum + ((envelope as { count?: number }).count ?? 1), 0);
    must(taken === items.length, `${taken} records and dead letters of ${items.length} items`);
    return magnitude(items.length) * 16 + magnitude(answer.body === null ? 0 : JSON.parse(answer.body).rejected);
  };
  return { name, bytesMax: BYTES_MAX, tokens: TOKENS, write, check };
}

/** Requests in JSON; which signal they are sent as hangs on their length. Metrics as in protobuf. */
export function otlpJsonTarget(): FuzzTarget {
  const rig = new OtlpRig();
  const take = twins("json");
  const check = (input: Uint8Array): number => {
    const signal = (["metrics", "traces", "logs", "metrics"] as const)[input.length % 4] as OtlpSignal;
    if (signal === "metrics") return take(input).feature;
    const { answer, frames } = rig.take(input, signal, "json");
    must(answer.status === 200 || answer.status === 400, `answered ${answer.status}`);
    return answer.status === 400 ? -1 : (input.length % 4) * 256 + magnitude(frames.length);
  };
  return { name: "otlp-json", bytesMax: BYTES_MAX, tokens: JSON_TOKENS, write: writeJson, check };
}

const NAMES = ["service.name", "env", "pod", "http.route", "", "__proto__", "x".repeat(130)];
const VALUES = ["shop", "GET", "", "ü", "y".repeat(140)];
const TIMES_MS = [OTLP_NOW_MS, OTLP_NOW_MS - 1, OTLP_NOW_MS - 86_400_001, OTLP_NOW_MS + 600_001, 0, 2 ** 43];
const TOKENS = [
  ...textTokens("\x3a\x08\n\x01a\x12\x03\n\x01b", "\x12\x07\x0a\x05depth", "\x40\x01", "\x30\x01"),
  Uint8Array.from([0x21, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]),
  Uint8Array.from([0x31, 5, 0, 0, 0, 0, 0, 0, 0]),
  Uint8Array.from([0x10, 0x02, 0x18, 0x01]),
  Uint8Array.from([0x0b]),
  Uint8Array.from([0xff, 0xfe]),
];

const tag = (out: InputWriter, field: number, wire: number) => out.varint(field * 8 + wire);

function message(out: InputWriter, field: number, content: () => void): void {
  tag(out, field, 2).prefixed(content);
}

function textField(out: InputWriter, field: number, text: string): void {
  message(out, field, () => out.text(text));
}

function timeField(out: InputWriter, random: Random, field: number): void {
  if (random.oneIn(8)) return;
  const nanoseconds = BigInt(random.oneIn(4) ? random.pick(TIMES_MS) : OTLP_NOW_MS - random.below(100_000)) * 1_000_000n;
  tag(out, field, 1)
    .u32(Number(nanoseconds & 0xffffffffn))
    .u32(Number((nanoseconds >> 32n) & 0xffffffffn));
}

function attribute(out: InputWriter, random: Random, field: number): void {
  message(out, field, () => {
    textField(out, 1, random.pick(NAMES));
    if (!random.oneIn(10)) message(out, 2, () => anyValue(out, random, 0));
  });
}

function anyValue(out: InputWriter, random: Random, depth: number): void {
  const kind = random.between(1, depth < 3 ? 7 : 4);
  if (kind === 1) textField(out, 1, random.pick(VALUES));
  else if (kind === 2) tag(out, 2, 0).varint(random.below(2));
  else if (kind === 3) tag(out, 3, 0).varint(random.below(2 ** 31));
  else if (kind === 4) tag(out, 4, 1).f64(random.below(1000) / 8);
  else if (kind === 5) message(out, 5, () => message(out, 1, () => anyValue(out, random, depth + 1)));
  else if (kind === 6) message(out, 6, () => attribute(out, random, 1));
  else textField(out, 7, random.pick(VALUES));
}

function attributes(out: InputWriter, random: Random, field: number): void {
  for (let i = random.below(4); i > 0; i--) attribute(out, random, field);
}

/** Request {1: {1: Resource, 2: {2: items}}}. */
function request(out: InputWriter, random: Random, item: () => void): void {
  for (let i = random.between(1, 2); i > 0; i--) {
    message(out, 1, () => {
      const resource = () => message(out, 1, () => attributes(out, random, 1));
      const isLast = random.oneIn(8);
      if (!isLast) resource();
      message(out, 2, () => {
        for (let items = random.between(1, 3); items > 0; items--) message(out, 2, item);
      });
      if (isLast || random.oneIn(16)) resource();
    });
  }
}

function writeMetrics(out: InputWriter, random: Random): void {
  request(out, random, () => {
    if (!random.oneIn(10)) textField(out, 1, random.pick(["depth", "orders", "cpu.ratio"]));
    const kind = random.pick([5, 5, 7, 7, 7, 9, 10, 11]);
    message(out, kind, () => {
      for (let points = random.between(0, 4); points > 0; points--) message(out, 1, () => writePoint(out, random, kind));
      if (kind === 7 || random.oneIn(3)) tag(out, 2, 0).varint(random.between(0, 2));
      if (kind === 7 && !random.oneIn(3)) tag(out, 3, 0).varint(1);
    });
  });
}

function writePoint(out: InputWriter, random: Random, kind: number): void {
  const own = () => attributes(out, random, kind === 9 ? 9 : kind === 10 ? 1 : 7);
  if (random.oneIn(4)) own();
  timeField(out, random, 2);
  timeField(out, random, 3);
  if (kind > 7) {
    tag(out, 4, 1).u32(random.below(100)).u32(0);
    if (random.oneIn(2)) message(out, kind === 11 ? 6 : random.pick([6, 7, 8, 9]), () => tag(out, 1, 1).f64(random.below(100)));
  } else if (random.oneIn(3)) tag(out, 6, 1).u32(random.below(100)).u32(random.below(3));
  else if (!random.oneIn(10)) tag(out, 4, 1).f64(random.oneIn(8) ? Number.NaN : random.below(1000) / 8);
  own();
  if (random.oneIn(8)) tag(out, kind === 9 || kind === 10 ? 10 : 8, 0).varint(random.below(3));
  if (random.oneIn(8)) message(out, 5, () => out.u8(random.below(256)));
}

function writeSpans(out: InputWriter, random: Random): void {
  request(out, random, () => {
    message(out, 1, () => out.text("abcdefghijklmnop".slice(0, random.oneIn(8) ? 3 : 16)));
    message(out, 2, () => out.text("abcdefgh"));
    if (random.oneIn(2)) message(out, 4, () => out.text("ijklmnop".slice(0, random.oneIn(8) ? 3 : 8)));
    textField(out, 5, random.pick(["GET /", "", "SELECT", "GET /"]));
    tag(out, 6, 0).varint(random.below(6));
    timeField(out, random, 7);
    timeField(out, random, 8);
    attributes(out, random, 9);
    if (random.oneIn(2)) message(out, 15, () => tag(out, 3, 0).varint(random.below(3)));
  });
}

function writeLogs(out: InputWriter, random: Random): void {
  request(out, random, () => {
    timeField(out, random, 1);
    timeField(out, random, 11);
    tag(out, 2, 0).varint(random.below(25));
    textField(out, 3, random.pick(["INFO", "", "ERROR"]));
    message(out, 5, () => anyValue(out, random, 0));
    attributes(out, random, 6);
    if (random.oneIn(3)) message(out, 9, () => out.text("abcdefghijklmnop"));
  });
}

const JSON_TOKENS = textTokens(
  '"asInt":"5"',
  '"asDouble":1.5',
  '"value":{"stringValue":"a"}',
  '{"key":"a","value":{"intValue":"1"}}',
  '"dataPoints":[',
  '"flags":1',
  '"arrayValue":{"values":[',
  '"kvlistValue":{"values":[',
  "null",
  "1e400",
  '"NaN"',
  '"-0"',
  '"__proto__"',
  '"timeUnixNano":"1795220410000000000"',
  '"timeUnixNano":1795220410000000000',
  '"asInt":-7',
  '"asDouble":"1.5"',
  '"aggregationTemporality":2',
  '"isMonotonic":true',
  '"gauge":{"dataPoints":[{"asInt":3}]}',
  '"gau\\u0067e"',
  '"resource":{}',
  '"resourceMetrics":[',
  '"name":"a"',
  " \n\t",
  "[]",
  "{}",
);

function writeJson(out: InputWriter, random: Random): void {
  const now = `${OTLP_NOW_MS}000000`;
  const value = random.pick([
    { stringValue: "a" },
    { intValue: "7" },
    { doubleValue: 0.5 },
    { arrayValue: { values: [{ boolValue: true }] } },
    {},
  ]);
  const own = [{ key: random.pick(NAMES), value }];
  const resource = { attributes: own };
  const timed = { timeUnixNano: random.pick([now, "0", "1", 1e18]), attributes: own };
  const point = { ...timed, startTimeUnixNano: now, ...random.pick([{ asDouble: 1.5 }, { asInt: "3" }, { flags: 1 }, {}]) };
  const data = {
    aggregationTemporality: random.between(0, 2),
    isMonotonic: true,
    dataPoints: [point, { ...point, count: "3", bucketCounts: ["1", 2], explicitBounds: [0.5] }],
  };
  const metrics = [{ name: "depth", [random.pick(["gauge", "sum", "histogram", "exponentialHistogram", "summary"])]: data }];
  const spans = [
    {
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      name: "GET /",
      kind: 2,
      startTimeUnixNano: now,
      endTimeUnixNano: now,
      attributes: own,
    },
  ];
  const logRecords = [{ ...timed, severityNumber: random.below(25), body: value }];
  const whole = {
    resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }],
    resourceSpans: [{ resource, scopeSpans: [{ spans }] }],
    resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }],
  };
  out.text(JSON.stringify(random.oneIn(2) ? whole : { [random.pick(["resourceMetrics", "resourceSpans", "resourceLogs"] as const)]: [] }));
}
