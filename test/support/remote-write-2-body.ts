// Builds remote-write 2.0 bodies with protobufjs, and reads them with a slow, strict decoder: the twin of the kernel's first pass and walk.
// As Prometheus' own decoder, it takes a known field with another wire type for an error, packed and single references alike, and numbers modulo 2^32.
import type protobuf from "protobufjs";
import { BASE_MS, type Staged } from "./ingest-harness.ts";
import {
  codeOf,
  expectWire,
  fieldsOf,
  Malformed,
  type RawSample,
  readVarint,
  stagedOf,
  textOf,
  type WireField,
} from "./remote-write-decoder.ts";
import { loadSchema } from "./schema-files.ts";

const root = loadSchema("prometheus/remote-write-2.proto");
const Request2 = root.lookupType("prometheus.v2.Request");

export interface Sample2 {
  readonly value: number;
  readonly time: number;
  readonly start?: number;
}

export interface Metadata2 {
  readonly type: number;
  readonly help: string;
  readonly unit: string;
}

export interface Series2 {
  readonly labels: ReadonlyArray<readonly [name: string, value: string]>;
  readonly samples: readonly Sample2[];
  readonly metadata?: Metadata2;
  readonly created?: number;
  /** Histograms as protobufjs takes them (camel case). */
  readonly histograms?: readonly object[];
  readonly exemplars?: number;
}

/** A body as protobufjs writes it; symbols in order of first use behind the empty one, or behind `first`. */
export function encodeBody2(series: readonly Series2[], first: readonly string[] = []): Uint8Array {
  const symbols = ["", ...first];
  const numbers = new Map(symbols.map((symbol, number) => [symbol, number]));
  const ref = (text: string): number => {
    const known = numbers.get(text);
    if (known !== undefined) return known;
    numbers.set(text, symbols.length);
    return symbols.push(text) - 1;
  };
  const timeseries = series.map(({ labels, samples, metadata, created, histograms = [], exemplars = 0 }) => ({
    labelsRefs: labels.flatMap(([name, value]) => [ref(name), ref(value)]),
    samples: samples.map(({ value, time, start }) => ({ value, timestamp: time, ...(start !== undefined && { startTimestamp: start }) })),
    histograms,
    exemplars: Array.from({ length: exemplars }, () => ({ labelsRefs: [0, 0], value: 1, timestamp: BASE_MS })),
    ...(metadata && { metadata: { type: metadata.type, helpRef: ref(metadata.help), unitRef: ref(metadata.unit) } }),
    ...(created !== undefined && { createdTimestamp: created }),
  }));
  return Request2.encode(Request2.fromObject({ symbols, timeseries })).finish();
}

/** Reads a body with protobufjs. */
export function decodeBody2(body: Uint8Array): protobuf.Message {
  return Request2.decode(body);
}

const HistogramMessage = root.lookupType("prometheus.Histogram");

/** Encodes a histogram alone; fields in camel case. */
export function encodeHistogram(fields: object): Uint8Array {
  return HistogramMessage.encode(HistogramMessage.fromObject(fields)).finish();
}

/** Index and count of each bucket that is not empty, as protobufjs reads them; undefined where it does not, or where numbers are not exact. */
export function bucketsOf(histogram: Uint8Array, side: "positive" | "negative"): Array<[index: number, count: number]> | undefined {
  let fields: Record<string, unknown>;
  try {
    fields = HistogramMessage.toObject(HistogramMessage.decode(histogram), { longs: Number, arrays: true });
  } catch {
    return undefined;
  }
  const deltas = fields[`${side}Deltas`] as number[];
  const counts = fields[`${side}Counts`] as number[];
  if (deltas.some((delta) => Math.abs(delta) > 2 ** 40)) return undefined;
  let running = 0;
  const values = counts.length > 0 ? counts : deltas.map((delta) => (running += delta));
  const buckets: Array<[number, number]> = [];
  let index = 0;
  let next = 0;
  for (const { offset = 0, length = 0 } of fields[`${side}Spans`] as Array<{ offset?: number; length?: number }>) {
    index += offset;
    for (let i = 0; i < length; i++, index++, next++) if (values[next] !== 0) buckets.push([index, values[next] as number]);
  }
  return buckets;
}

/** A series as the strict decoder reads it. */
export interface RawSeries2 {
  /** References as they stand. */
  readonly refs: readonly number[];
  /** Undefined when they are no labels, or a text is not UTF-8. */
  readonly labels: Array<[string, string]> | undefined;
  readonly samples: ReadonlyArray<RawSample & { readonly start: bigint }>;
  readonly created: bigint;
  readonly metadata: { readonly type: number; readonly help: number; readonly unit: number } | undefined;
  readonly histograms: number;
  readonly exemplars: number;
}

const low32 = (value: bigint): number => Number(BigInt.asUintN(32, value));

function refsOf(field: WireField): number[] {
  if (field.wireType === 0) return [low32(field.value)];
  if (field.wireType !== 2) throw new Malformed("references");
  const refs: number[] = [];
  for (let at = 0; at < field.content.length; ) {
    const [ref, end] = readVarint(field.content, at);
    refs.push(low32(ref));
    at = end;
  }
  return refs;
}

function sampleOf(content: Uint8Array): RawSample & { readonly start: bigint } {
  let bits = 0n;
  let time = 0n;
  let start = 0n;
  for (const field of fieldsOf(content)) {
    expectWire(field, [9, 1, 0, 0] as const);
    if (field.number === 1) bits = new DataView(new Uint8Array(field.content).buffer).getBigUint64(0, true);
    if (field.number === 2) time = BigInt.asIntN(64, field.value);
    if (field.number === 3) start = BigInt.asIntN(64, field.value);
  }
  return { bits, time, start };
}

function seriesOf(content: Uint8Array): Omit<RawSeries2, "labels"> {
  const refs: number[] = [];
  const samples: Array<ReturnType<typeof sampleOf>> = [];
  let created = 0n;
  let metadata: { type: number; help: number; unit: number } | undefined;
  const counts = { histograms: 0, exemplars: 0 };
  for (const field of fieldsOf(content)) {
    if (field.number >= 2 && field.number <= 5 && field.wireType !== 2) throw new Malformed("series");
    if (field.number === 6 && field.wireType !== 0) throw new Malformed("created");
    if (field.number === 1) refs.push(...refsOf(field));
    if (field.number === 2) samples.push(sampleOf(field.content));
    if (field.number === 3) counts.histograms++;
    if (field.number === 4) counts.exemplars++;
    if (field.number === 5) metadata = metadataOf(field.content, metadata ?? { type: 0, help: 0, unit: 0 });
    if (field.number === 6 && field.value !== 0n) created = BigInt.asIntN(64, field.value);
  }
  return { refs, samples, created, metadata, ...counts };
}

function metadataOf(content: Uint8Array, before: { type: number; help: number; unit: number }) {
  const metadata = { ...before };
  for (const field of fieldsOf(content)) {
    if (field.number === 1 || field.number === 3 || field.number === 4) {
      if (field.wireType !== 0) throw new Malformed("metadata");
      const value = low32(field.value);
      if (field.number === 1) metadata.type = value < 8 ? value : 0;
      else metadata[field.number === 3 ? "help" : "unit"] = value;
    }
  }
  return metadata;
}

/** All series of a body, or undefined when it cannot be decoded. */
export function strictDecode2(body: Uint8Array): RawSeries2[] | undefined {
  try {
    const symbols: Uint8Array[] = [];
    const series: Array<Omit<RawSeries2, "labels">> = [];
    for (const field of fieldsOf(body)) {
      if ((field.number === 4 || field.number === 5) && field.wireType !== 2) throw new Malformed("request");
      if (field.number === 4) symbols.push(field.content);
      if (field.number === 5) series.push(seriesOf(field.content));
    }
    return series.map((each) => ({ ...each, labels: labelsOf(each.refs, symbols) }));
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

function labelsOf(refs: readonly number[], symbols: readonly Uint8Array[]): Array<[string, string]> | undefined {
  if (refs.length === 0 || refs.length % 2 !== 0 || refs.length > 1024) return undefined;
  const texts = refs.map((ref) => (ref < symbols.length ? textOf(symbols[ref] as Uint8Array) : undefined));
  if (texts.includes(undefined)) return undefined;
  return Array.from({ length: refs.length / 2 }, (_, i) => [texts[2 * i] as string, texts[2 * i + 1] as string]);
}

/** What the kernel should stage and reject for those series, start markers left out. */
export function expectedOf2(series: readonly RawSeries2[]): Staged[] {
  return series.flatMap(({ labels, samples }) =>
    labels === undefined ? [] : samples.map(({ bits, time }) => stagedOf(labels, bits, time)),
  );
}

/** The start times that a shard should be told of each stream, in order: those that differ from the one told before. `known` goes on between bodies. */
export function expectedStarts(series: readonly RawSeries2[], known: Map<string, bigint>): Record<string, string[]> {
  const reported: Record<string, string[]> = {};
  for (const { labels, samples, created } of series) {
    if (labels === undefined || samples.length === 0) continue;
    const stream = JSON.stringify(labels);
    const lines = reported[stream] ?? [];
    for (const { time, start } of samples) {
      const now = start !== 0n ? start : created !== 0n ? created : 0n;
      if (now <= 0n || codeOf(time) !== 0) continue;
      if (known.get(stream) !== now) lines.push(`${time} ${now}`);
      known.set(stream, now);
    }
    if (lines.length > 0) reported[stream] = lines;
  }
  return reported;
}
