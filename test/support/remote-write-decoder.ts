// A slow, strict decoder of remote-write 1.0 bodies: the twin of the kernel's first pass and walk. Where protobufjs and Prometheus' own decoder differ
// (wire type of a known field, groups), it does as Prometheus: an error.
import { REJECT_IN_FUTURE, REJECT_TOO_OLD } from "../../src/core/layout/kernel-event.ts";
import { BASE_MS, type Staged, WINDOW_MS } from "./ingest-harness.ts";

export interface RawSample {
  readonly bits: bigint;
  readonly time: bigint;
}

export interface RawSeries {
  /** Undefined when a text is not UTF-8. */
  readonly labels: Array<[string, string]> | undefined;
  readonly samples: RawSample[];
}

export interface WireField {
  readonly number: number;
  readonly wireType: number;
  readonly value: bigint;
  readonly content: Uint8Array;
  /** Its tag or its length takes more than five bytes: Prometheus takes such, protobufjs does not. */
  readonly isLong: boolean;
}

export class Malformed extends Error {}

export function readVarint(bytes: Uint8Array, from: number): [value: bigint, end: number] {
  let value = 0n;
  for (let i = 0; i < 10; i++) {
    const byte = bytes[from + i];
    if (byte === undefined) throw new Malformed("varint is cut off");
    value |= BigInt(byte & 127) << BigInt(7 * i);
    if (byte < 128) return [BigInt.asUintN(64, value), from + i + 1];
  }
  throw new Malformed("varint is too long");
}

/** The fields of a message. Throws Malformed. */
export function fieldsOf(bytes: Uint8Array): WireField[] {
  const fields: WireField[] = [];
  for (let at = 0; at < bytes.length; ) {
    const [tag, start] = readVarint(bytes, at);
    let isLong = start - at > 5;
    const number = Number(tag >> 3n);
    const wireType = Number(tag & 7n);
    if (number === 0 || tag > 0xffffffffn) throw new Malformed("field number");
    let value = 0n;
    let from = start;
    let length = 0n;
    if (wireType === 0) [value, from] = readVarint(bytes, start);
    else if (wireType === 1) length = 8n;
    else if (wireType === 5) length = 4n;
    else if (wireType === 2) {
      [length, from] = readVarint(bytes, start);
      isLong ||= from - start > 5;
    } else throw new Malformed("wire type");
    if (length > BigInt(bytes.length - from)) throw new Malformed("length");
    at = from + Number(length);
    fields.push({ number, wireType, value, content: bytes.subarray(from, at), isLong });
  }
  return fields;
}

export function expectWire(field: WireField, wireTypes: readonly number[]): void {
  const expected = wireTypes[field.number];
  if (expected !== undefined && expected !== field.wireType) throw new Malformed("wire type of a known field");
}

/** Proto3 wants every string to be UTF-8, also one that a later one replaces; protobufjs and parseLabelSpan() refuse it too. */
function labelOf(content: Uint8Array): [string, string] | undefined {
  const label: [string, string] = ["", ""];
  let isText = true;
  for (const field of fieldsOf(content)) {
    if (field.number > 2) continue;
    if (field.wireType !== 2) throw new Malformed("label");
    const text = textOf(field.content);
    if (text === undefined) isText = false;
    else label[field.number - 1] = text;
  }
  return isText ? label : undefined;
}

/** Text of UTF-8 bytes, or undefined. */
export function textOf(content: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
}

function sampleOf(content: Uint8Array): RawSample {
  let bits = 0n;
  let time = 0n;
  for (const field of fieldsOf(content)) {
    expectWire(field, [9, 1, 0] as const);
    if (field.number === 1) bits = new DataView(new Uint8Array(field.content).buffer).getBigUint64(0, true);
    if (field.number === 2) time = BigInt.asIntN(64, field.value);
  }
  return { bits, time };
}

function seriesOf(content: Uint8Array): RawSeries {
  const labels: Array<[string, string] | undefined> = [];
  const samples: RawSample[] = [];
  for (const field of fieldsOf(content)) {
    if (field.number <= 4 && field.wireType !== 2) throw new Malformed("series");
    if (field.number === 1) labels.push(labelOf(field.content));
    if (field.number === 2) samples.push(sampleOf(field.content));
  }
  return { labels: labels.includes(undefined) ? undefined : (labels as Array<[string, string]>), samples };
}

/** All series of a body, or undefined when it cannot be decoded. */
export function strictDecode(body: Uint8Array): RawSeries[] | undefined {
  try {
    const series: RawSeries[] = [];
    for (const field of fieldsOf(body)) {
      if ((field.number === 1 || field.number === 3) && field.wireType !== 2) throw new Malformed("request");
      if (field.number === 1) series.push(seriesOf(field.content));
    }
    return series;
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

/** What the kernel should stage and reject for those series. */
export function expectedOf(series: readonly RawSeries[]): Staged[] {
  return series.flatMap(({ labels, samples }) =>
    labels === undefined || labels.length === 0 ? [] : samples.map(({ bits, time }) => stagedOf(labels, bits, time)),
  );
}

const EXPONENT = 0x7ff0000000000000n;
const STALE_MARKER = 0x7ff0000000000002n;
/** What the kernel stages for every NaN but stale markers. */
export const NOT_A_NUMBER = 0x7ff8000000000001n;

/** A sample as it should be staged or rejected. */
export function stagedOf(labels: ReadonlyArray<readonly [string, string]>, bits: bigint, time: bigint): Staged {
  const code = codeOf(time);
  const isPlainNaN = (bits & EXPONENT) === EXPONENT && (bits & 0xfffffffffffffn) !== 0n && bits !== STALE_MARKER;
  return { stream: JSON.stringify(labels), time: Number(time), bits: isPlainNaN && code === 0 ? NOT_A_NUMBER : bits, code };
}

/** 0 for a sample that is staged, else why not. */
export function codeOf(time: bigint): number {
  if (time < BigInt(BASE_MS)) return REJECT_TOO_OLD;
  return time > BigInt(BASE_MS + WINDOW_MS) ? REJECT_IN_FUTURE : 0;
}
