// Builds remote-write 1.0 bodies byte by byte, so that tests can also write what no encoder would, and reads them with protobufjs, the slow twin.
import protobuf from "protobufjs";
import { loadSchema } from "./schema-files.ts";

const root = loadSchema("prometheus/remote-write-1.proto");
const WriteRequest = root.lookupType("prometheus.v1.WriteRequest");
// The kernel passes over these and does not look inside: here they are bytes too.
passOver(WriteRequest, "metadata");
passOver(root.lookupType("prometheus.v1.TimeSeries"), "exemplars", "histograms");

/** Makes bytes of repeated messages. */
function passOver(type: protobuf.Type, ...fields: readonly string[]): void {
  for (const name of fields) {
    const field = type.fields[name] as protobuf.Field;
    type.remove(field).add(new protobuf.Field(name, field.id, "bytes", "repeated"));
  }
}

export interface Sample {
  readonly value: number;
  readonly time: number;
}

export interface Series {
  readonly labels: ReadonlyArray<readonly [name: string, value: string]>;
  readonly samples: readonly Sample[];
}

/** A body as protobufjs writes it. */
export function encodeBody(series: readonly Series[], metadata = 0): Uint8Array {
  return WriteRequest.encode({
    timeseries: series.map(({ labels, samples }) => ({
      labels: labels.map(([name, value]) => ({ name, value })),
      samples: samples.map(({ value, time }) => ({ value, timestamp: time })),
    })),
    metadata: Array.from({ length: metadata }, (_, i) => Uint8Array.from(bytesField(2, new TextEncoder().encode(`family_${i}`)))),
  } as unknown as protobuf.Message<object>).finish();
}

/** A metadata message of a body: `type` as remote-write numbers it. */
export function metadataField(metricName: string, type: number): Uint8Array {
  return Uint8Array.from(bytesField(3, [...varintField(1, type), ...bytesField(2, new TextEncoder().encode(metricName))]));
}

/** A body as protobufjs reads it; throws where protobufjs does. */
export function decodeBody(body: Uint8Array): Series[] {
  const request = WriteRequest.toObject(WriteRequest.decode(body), { longs: Number, defaults: true, arrays: true });
  return (
    request["timeseries"] as Array<{ labels: Array<{ name: string; value: string }>; samples: Array<{ value: number; timestamp: number }> }>
  ).map(({ labels, samples }) => ({
    labels: labels.map(({ name, value }) => [name, value] as const),
    samples: samples.map(({ value, timestamp }) => ({ value, time: timestamp })),
  }));
}

/** Varint of a non-negative or negative whole number (two's complement, ten bytes). */
export function varint(value: number | bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

/** A length-delimited field. */
export function bytesField(number: number, content: ArrayLike<number>): number[] {
  return [...varint(number * 8 + 2), ...varint(content.length), ...Array.from(content)];
}

export function varintField(number: number, value: number | bigint): number[] {
  return [...varint(number * 8), ...varint(value)];
}

export function fixed64Field(number: number, value: number): number[] {
  return [...varint(number * 8 + 1), ...new Uint8Array(new Float64Array([value]).buffer)];
}

export function labelField(name: string, value: string): number[] {
  const text = new TextEncoder();
  return bytesField(1, [...bytesField(1, text.encode(name)), ...bytesField(2, text.encode(value))]);
}

export function sampleField({ value, time }: Sample): number[] {
  return bytesField(2, [...(Object.is(value, 0) ? [] : fixed64Field(1, value)), ...(time === 0 ? [] : varintField(2, time))]);
}
