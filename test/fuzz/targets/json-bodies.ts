// JSON bodies, single and batch, through the engine's decoder, whatever it decodes with, against JSON.parse and judgeRecord. The ingest table stays from input
// to input, so most streams are known, under whatever spelling they first came in.

import { JsonDecoder } from "../../../src/actors/engine/json/json-decoder.ts";
import { EngineCounters } from "../../../src/actors/engine/report/engine-counters.ts";
import { LabelIntake } from "../../../src/actors/engine/unit/label-intake.ts";
import type { StreamDefiner } from "../../../src/actors/engine/unit/stream-definer.ts";
import { WorkUnit } from "../../../src/actors/engine/unit/work-unit.ts";
import { EngineMemory } from "../../../src/adapters/shared-memory/engine-memory.ts";
import { BODY_PADDING_BYTES, LARGE_BODY, STAGING } from "../../../src/core/layout/memory-map.ts";
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../src/core/layout/row-frame.ts";
import { BODY_JSON_BATCH, BODY_JSON_SINGLE } from "../../../src/core/protocol/body-kind.ts";
import { FRAME_RECORD, type StreamName } from "../../../src/core/protocol/coordinator-frame.ts";
import type { IngestExports } from "../../../src/domain/kernel/ingest-kernel.ts";
import { FieldExclusions } from "../../../src/domain/series/field-exclusions.ts";
import { identityText } from "../../../src/domain/series/stream-identity.ts";
import { depthOf, type ExpectedBody, expectedOfJson, streamOf } from "../../support/json-body-twin.ts";
import { loadKernel } from "../../support/kernel.ts";
import type { InputWriter } from "../input/input-writer.ts";
import { hashName, type Random } from "../input/random.ts";
import { attempt, type FuzzTarget, magnitude, must, textTokens } from "../target.ts";

const TENANT = "default";
const WALL_MS = Date.UTC(2026, 10, 21, 12);
/** The decoder's table, and our list of its streams, begin anew after so many. */
const STREAMS_MAX = 50_000;
const BYTES_MAX = 1536;

/** An ingest of one engine, as far as the decoder needs one; streams are noted instead of defined. */
class JsonRig {
  readonly #loaded = loadKernel<IngestExports>();
  readonly kernel = this.#loaded.kernel;
  readonly memory = new EngineMemory(this.#loaded.memory);
  readonly unit = new WorkUnit(this.memory, this.kernel, 1);
  readonly streams: string[] = [];
  readonly decoder = new JsonDecoder({
    logs: { count: () => undefined },
    labels: new LabelIntake(new FieldExclusions("")),
    memory: this.memory,
    kernel: this.kernel,
    definer: {
      define: (...[, , name, flags]: [unknown, unknown, StreamName, number]) => this.#define(name, flags),
    } as unknown as StreamDefiner,
    counters: new EngineCounters(this.memory),
    exclusions: new FieldExclusions(""),
    tenantName: () => TENANT,
    requestId: () => "0-0",
  });

  #define(name: StreamName, flags: number) {
    return { ref: this.streams.push(streamOf(identityText(name), flags)) - 1, destination: 0, partition: 0 };
  }

  decode(input: Uint8Array, isBatch: boolean) {
    if (this.streams.length > STREAMS_MAX) {
      this.kernel.keyTableClear();
      this.streams.length = 0;
    }
    this.memory.bytes.set(input, LARGE_BODY);
    this.memory.bytes.fill(0, LARGE_BODY + input.length, LARGE_BODY + input.length + BODY_PADDING_BYTES);
    this.kernel.stagingReset(1);
    this.unit.begin(1, WALL_MS, 0);
    this.unit.dropOpaque();
    const kind = isBatch ? BODY_JSON_BATCH : BODY_JSON_SINGLE;
    const body = {
      pointer: LARGE_BODY,
      bytes: input.length,
      kind,
      tenant: 1,
      idempotencyKey: "",
      admission: 1,
      arrivalMs: 0,
      wallMs: WALL_MS,
      isAnonymous: false,
      sender: 0,
    };
    const decoded = this.decoder.begin(body, this.unit);
    if (decoded === undefined) throw new Error("a body of so few bytes lets others go first");
    const { status, body: text } = decoded;
    return { status, answer: JSON.parse(text ?? "null") };
  }

  row(index: number): { stream: string | undefined; timeMs: number; value: number } {
    const { view } = this.memory;
    const at = STAGING + index * ROW_BYTES;
    const stream = this.streams[view.getUint32(at + ROW_REF, true)];
    return { stream, timeMs: this.unit.baseMs + view.getUint32(at + ROW_OFFSET, true), value: view.getFloat64(at + ROW_VALUE, true) };
  }
}

export function jsonBodyTarget(): FuzzTarget {
  const rig = new JsonRig();
  const check = (input: Uint8Array): number => {
    const isBatch = (input[0] === 0x5b) !== (input.length % 32 === 0);
    const expected = expectedOfJson(input, isBatch, TENANT, WALL_MS);
    const { status, answer } = rig.decode(input, isBatch);
    sameAnswer(expected, isBatch, status, answer);
    sameRows(rig, expected);
    sameFrames(rig, expected);
    if (expected.code !== undefined) return -hashName(expected.code) % 64;
    const reasons = expected.failures.reduce((sum, { reason, field }) => sum ^ hashName(`${reason} ${field?.slice(0, 12)}`), 0);
    return (magnitude(expected.rows.length) * 8 + magnitude(expected.kept.length)) * 0x10000 + (reasons & 0xffff);
  };
  return { name: "json-body", bytesMax: BYTES_MAX, tokens: TOKENS, write, check };
}

type Answer = { error?: string; queued?: number; failed?: number; failures?: Array<{ index: number; error: string; field?: string }> };

function sameAnswer(expected: ExpectedBody, isBatch: boolean, status: number, answer: Answer): void {
  const refusal = expected.code ?? (isBatch ? undefined : expected.failures[0]?.reason);
  if (refusal !== undefined)
    return must(status >= 400 && answer.error === refusal, `answers ${status} ${answer.error} instead of ${refusal}`);
  must(status === 200, `answers ${status} ${answer.error} instead of 200`);
  must(answer.queued === expected.records - expected.failures.length, `queued ${answer.queued} of ${expected.records}`);
  const failures = (answer.failures ?? []).map(({ index, error, field }) => ({ index, reason: error, field: field ?? null }));
  must(
    JSON.stringify(failures) === JSON.stringify(expected.failures),
    `${JSON.stringify(failures)} instead of ${JSON.stringify(expected.failures)}`,
  );
}

function sameRows(rig: JsonRig, { rows }: ExpectedBody): void {
  must(rig.kernel.stagedRows() === rows.length, `${rig.kernel.stagedRows()} rows instead of ${rows.length}`);
  for (const [index, expected] of rows.entries()) {
    const row = rig.row(index);
    const same = row.stream === expected.stream && row.timeMs === expected.timeMs && Object.is(row.value, expected.value);
    must(same, `row ${JSON.stringify(row)} instead of ${JSON.stringify(expected)}`);
  }
}

/** Records for the coordinator, and dead letters: one for all records that are equal. */
function sameFrames(rig: JsonRig, { kept, failures }: ExpectedBody): void {
  rig.unit.gather();
  const frames = rig.unit.opaqueFrames;
  const buried = new Map<number, { reason: string; field: string | null }>();
  let records = 0;
  for (const { frame, payload } of frames) {
    const envelope = JSON.parse(Buffer.from(payload).toString());
    if (frame === FRAME_RECORD) {
      const record = kept[records++];
      const { service_id: service, type, metric_name: metric = "", body = "", trace_id: trace = "" } = envelope.record;
      must(record !== undefined && envelope.timeMs === record.timeMs && type === record.type, `record ${records} is another`);
      const names =
        [service, metric, body, trace].join("\0") === [record.serviceId, record.metricName, record.body, record.traceId].join("\0");
      must(
        names && JSON.stringify(envelope.record.attributes) === JSON.stringify(record.attributes),
        `record ${records} says something else`,
      );
    } else {
      const alone = Number.parseInt(envelope.id.slice(-12), 16);
      const { reason, field, count = 1, places = [[alone, alone]] } = envelope;
      const sum = places.reduce((total: number, [first, last]: [number, number]) => total + last - first + 1, 0);
      must(sum === count, `a dead letter of ${count} records names ${sum}`);
      for (const [first, last] of places) for (let place = first; place <= last; place++) buried.set(place, { reason, field });
    }
  }
  must(records === kept.length, `${records} records instead of ${kept.length}`);
  must(buried.size === failures.length, `${buried.size} dead letters instead of ${failures.length}`);
  for (const { index, reason, field } of failures) {
    const letter = buried.get(index);
    must(letter?.reason === reason && letter.field === field, `the dead letter of record ${index} says ${letter?.reason}`);
  }
}

/** Depth of brackets, in steps of 64 bytes, against one character after another. What is no JSON has no defined depth. */
export function jsonDepthTarget(): FuzzTarget {
  const { kernel, bytes: memory } = loadKernel<IngestExports>();
  const check = (input: Uint8Array): number => {
    const pointer = memory.length - BODY_PADDING_BYTES - input.length;
    memory.set(input, pointer);
    const depth = kernel.jsonDepth(pointer, input.length);
    must(depth >= 0 && depth <= input.length, `depth ${depth} in ${input.length} bytes`);
    const text = Buffer.from(input.buffer, input.byteOffset, input.length).toString("latin1");
    if (attempt(() => JSON.parse(text) ?? 0, SyntaxError) === undefined) return -1 - magnitude(depth);
    must(depth === depthOf(text), `depth ${depth} instead of ${depthOf(text)}`);
    return depth * 16 + magnitude(input.length);
  };
  return { name: "json-depth", bytesMax: 512, tokens: TOKENS, write: (out, random) => out.text(anyValue(random, random.below(12))), check };
}

const TOKENS = textTokens(
  '"',
  "\\",
  '\\"',
  "\\u0041",
  "\\ud800",
  "\\ud83d\\ude00",
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  " ",
  "\n",
  "null",
  "true",
  "NaN",
  "-Infinity",
  "1e999",
  "1e-7",
  "-0",
  "0.1",
  "123456789012345678901234567890",
  '"value":',
  '"service_id":"a"',
  '"type":"log"',
  '"attributes":{"a":1}',
  '"timestamp":"2026-11-21T12:00:00Z"',
  '"__proto__":',
  "\ufeff",
  "é",
  "\u0000",
  "{}",
  "[]",
  "[[[[[[[[",
);
const NUMBERS = [
  "0",
  "-0",
  "1",
  "-1.5",
  "0.1",
  "1e3",
  "1E+3",
  "1e-7",
  "1.7976931348623157e308",
  "5e-324",
  "2.2250738585072011e-308",
  "9007199254740993",
  "1e400",
  "01",
  "1.",
  ".5",
  "+1",
  "0x1",
  "NaN",
  "Infinity",
  "123456789012345678901234567890",
  "0.30000000000000004",
  "4.35",
  "null",
  '"1"',
  "true",
];
const SPELLINGS = [
  '"checkout"',
  '"a"',
  '""',
  '"\\u0061"',
  '"é"',
  '"\\ud83d\\ude00"',
  '"\\ud800"',
  '"a\\nb"',
  "1",
  "null",
  '"日本"',
  '"NaN"',
  '"a\\/b"',
  '"a/b"',
];
const TIMES = [
  '"2026-11-21T12:00:00Z"',
  '"2026-11-21T11:59:59.123456Z"',
  '"2026-11-21T13:00:00.5+01:00"',
  '"2026-11-20T12:00:00Z"',
  '"2026-11-20T11:59:59.999Z"',
  '"2026-11-21T12:10:00Z"',
  '"2026-11-21T12:10:00.001Z"',
  '"2026-02-30T00:00:00Z"',
  '"yesterday"',
  "1795264800000",
  "null",
  '"2026-11-21t12:00:00\\u005a"',
];

function gap(random: Random): string {
  return random.oneIn(5) ? random.pick([" ", "\n", "\t ", "\r\n  "]) : "";
}

function anyValue(random: Random, depth: number): string {
  const kind = depth <= 0 ? random.below(3) : random.below(5);
  if (kind === 0) return random.pick(["null", "true", "false", "1", "-0.5", "1e3"]);
  if (kind < 3) return random.pick(SPELLINGS);
  const members = Array.from(
    { length: random.below(4) },
    () => (kind === 3 ? "" : `"${random.pick(["a", "b", "__proto__", "é"])}":`) + anyValue(random, depth - 1),
  );
  return kind === 3 ? `[${gap(random)}${members.join(`,${gap(random)}`)}]` : `{${members.join(`${gap(random)},`)}${gap(random)}}`;
}

/** A record whose fields come in any order, are absent, come twice, or hold something odd. */
function record(random: Random): string {
  const odd = random.oneIn(3);
  const type = random.oneIn(3) ? random.pick(["log", "trace", "event", "profile", "slo", "metric", "span"]) : "metric";
  const fields: Array<readonly [string, string]> = [
    ["service_id", odd ? random.pick(SPELLINGS) : random.pick(['"checkout"', '"a"'])],
    ["metric_name", odd ? random.pick(SPELLINGS) : random.pick(['"latency"', '"requests_total"', '"cpu_percent"'])],
    ["value", odd ? random.pick(NUMBERS) : `${random.below(100_000) / 1000}`],
    [
      "timestamp",
      odd ? random.pick(TIMES) : `"2026-11-21T11:${10 + random.below(50)}:${10 + random.below(50)}.${100 + random.below(900)}Z"`,
    ],
  ];
  if (type !== "metric" || random.oneIn(3)) fields.push(["type", `"${type}"`]);
  if (type === "log" || type === "event" || random.oneIn(9)) fields.push(["body", odd ? random.pick(SPELLINGS) : '"started"']);
  if (random.oneIn(2)) fields.push(["attributes", odd ? anyValue(random, 3) : `{"zone":"${random.pick(["a", "b"])}","env":"prod"}`]);
  if (random.oneIn(8)) fields.push(["trace_id", random.pick(['"abc"', "null", "7"])]);
  if (random.oneIn(8)) fields.push([random.pick(["unknown", "__proto__", "valu", "Value", ""]), anyValue(random, 3)]);
  if (odd && random.oneIn(3)) fields.splice(random.below(fields.length), 1);
  if (odd && random.oneIn(6)) fields.push(random.pick(fields));
  if (random.oneIn(3)) fields.sort(([a], [b]) => hashName(a) - hashName(b));
  const members = fields.map(
    ([name, value]) => `${gap(random)}"${random.oneIn(40) ? escaped(name) : name}"${gap(random)}:${gap(random)}${value}${gap(random)}`,
  );
  return `{${members.join(",")}}`;
}

/** The same name with its first character as an escape. */
function escaped(name: string): string {
  return name === "" ? "" : `\\u${name.charCodeAt(0).toString(16).padStart(4, "0")}${name.slice(1)}`;
}

function write(out: InputWriter, random: Random): void {
  if (random.oneIn(3)) out.text(gap(random) + record(random) + gap(random));
  else {
    const records = Array.from({ length: random.below(6) }, () => (random.oneIn(20) ? anyValue(random, 2) : record(random)));
    out.text(`[${gap(random)}${records.join(`${gap(random)},`)}]${gap(random)}`);
  }
}
