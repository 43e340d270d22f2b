// A remote-write request (1.0) of the samples that rules made: they enter as a Prometheus' would. Snappy without anything packed: the body goes from one thread to
// another and no further.
import { ByteWriter } from "../../codec/byte-writer.ts";
import type { RuleSample } from "./alerting-evaluation.ts";

const SERIES_FIELD = 0x0a;
const LABEL_FIELD = 0x0a;
const SAMPLE_FIELD = 0x12;
const NAME_FIELD = 0x0a;
const VALUE_FIELD = 0x12;
const DOUBLE_FIELD = 0x09;
const TIME_FIELD = 0x10;
/** Bits of a stale marker: as a number it would be any NaN. */
const MARKER_HIGH = 0x7ff00000;
const MARKER_LOW = 2;
/** A literal of snappy with its length, less one, in two bytes. */
const LITERAL_TAG = 0xf4;
const LITERAL_BYTES_MAX = 65_536;

/** The body of a request; empty where there are no samples. */
export function sampleRequest(samples: readonly RuleSample[]): Uint8Array<ArrayBuffer> {
  if (samples.length === 0) return new Uint8Array(0);
  const request = new ByteWriter();
  const series = new ByteWriter();
  const part = new ByteWriter();
  for (const sample of samples) {
    series.at = 0;
    for (const [name, value] of sample.labels.entries()) {
      part.at = 0;
      addText(part, NAME_FIELD, name);
      addText(part, VALUE_FIELD, value);
      addBytes(series, LABEL_FIELD, part);
    }
    part.at = 0;
    addSample(part, sample);
    addBytes(series, SAMPLE_FIELD, part);
    addBytes(request, SERIES_FIELD, series);
  }
  return unpackedSnappy(request.bytes.subarray(0, request.at));
}

function addSample(out: ByteWriter, { value, timeMs, isStale }: RuleSample): void {
  out.u8(DOUBLE_FIELD);
  out.reserve(8);
  out.view.setFloat64(out.at, value, true);
  if (isStale) {
    out.view.setUint32(out.at, MARKER_LOW, true);
    out.view.setUint32(out.at + 4, MARKER_HIGH, true);
  }
  out.at += 8;
  out.u8(TIME_FIELD);
  out.varint(timeMs);
}

function addText(out: ByteWriter, field: number, text: string): void {
  out.u8(field);
  const bytes = Buffer.from(text);
  out.varint(bytes.length);
  add(out, bytes);
}

function addBytes(out: ByteWriter, field: number, { bytes, at }: ByteWriter): void {
  out.u8(field);
  out.varint(at);
  add(out, bytes.subarray(0, at));
}

function add(out: ByteWriter, bytes: Uint8Array): void {
  out.reserve(bytes.length);
  out.bytes.set(bytes, out.at);
  out.at += bytes.length;
}

function unpackedSnappy(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const out = new ByteWriter(bytes.length + 64);
  out.varint(bytes.length);
  for (let from = 0; from < bytes.length; from += LITERAL_BYTES_MAX) {
    const literal = bytes.subarray(from, from + LITERAL_BYTES_MAX);
    out.u8(LITERAL_TAG);
    out.u8((literal.length - 1) & 0xff);
    out.u8((literal.length - 1) >> 8);
    add(out, literal);
  }
  return out.bytes.slice(0, out.at);
}
