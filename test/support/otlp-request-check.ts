// The slow twin of the kernel's check of Export*ServiceRequest in protobuf: which bytes are a request, with as much in them checked as the kernel checks.
import { WIRE_BYTES, WIRE_FIXED64, WIRE_VARINT, WireReader } from "../../src/domain/codec/wire-reader.ts";
import { isFlagOf } from "../../src/domain/otlp/protobuf-metrics.ts";

const FIELD_GAUGE = 5;
const FIELD_SUM = 7;
const FIELD_SUMMARY = 11;
const DATA_FIELDS: ReadonlySet<number> = new Set([FIELD_GAUGE, FIELD_SUM, 9, 10, FIELD_SUMMARY]);

/** Whether the bytes are a request: its messages down to the items, and the fields of each item as far as `isItem` looks (the reader has entered it). */
export function isRequest(bytes: Buffer, isItem: (reader: WireReader) => boolean = isReadable): boolean {
  const reader = new WireReader(bytes);
  const isScope = () => holds(reader, (field) => field !== 2 || isItem(reader));
  const isSource = () => holds(reader, (field) => (field === 1 ? isResource(reader) : field !== 2 || isScope()));
  while (reader.next(bytes.length)) {
    if (reader.field !== 1) continue;
    const end = reader.to;
    if (!reader.enter() || !isSource()) return false;
    reader.at = end;
  }
  return !reader.failed;
}

/** The levels of resources and scopes: {1: their description, 2: what they hold, 3: a URL}. `isGood` has entered the field. */
function holds(reader: WireReader, isGood: (field: number) => boolean): boolean {
  const end = reader.to;
  while (reader.next(end)) {
    if (reader.field > 3) continue;
    const to = reader.to;
    if (!reader.enter() || !isGood(reader.field)) return false;
    reader.at = to;
  }
  return !reader.failed;
}

function isResource(reader: WireReader): boolean {
  const end = reader.to;
  while (reader.next(end)) if (reader.field === 1 && reader.wire !== WIRE_BYTES) return false;
  return !reader.failed;
}

/** Whether the message that was entered has whole fields. */
function isReadable(reader: WireReader): boolean {
  const end = reader.to;
  while (reader.next(end));
  return !reader.failed;
}

/** Wire types of the fields of NumberDataPoint, by number. */
const NUMBER_POINT_WIRES: Readonly<Record<number, number>> = {
  2: WIRE_FIXED64,
  3: WIRE_FIXED64,
  4: WIRE_FIXED64,
  5: WIRE_BYTES,
  6: WIRE_FIXED64,
  7: WIRE_BYTES,
  8: WIRE_VARINT,
};

/** Whether the bytes are a request, with as much in them checked as the kernel checks. */
export function isMetricsRequest(bytes: Buffer): boolean {
  return isRequest(bytes, isMetric);
}

function isMetric(reader: WireReader): boolean {
  const end = reader.to;
  while (reader.next(end)) {
    const { field } = reader;
    if (field > 3 && !DATA_FIELDS.has(field)) continue;
    if (reader.wire !== WIRE_BYTES) return false;
    if (field > 3 && !isData(reader, field)) return false;
  }
  return !reader.failed;
}

function isData(reader: WireReader, kind: number): boolean {
  const end = reader.to;
  reader.enter();
  while (reader.next(end)) {
    if (reader.field === 1) {
      const to = reader.to;
      if (!reader.enter() || !(kind === FIELD_GAUGE || kind === FIELD_SUM ? isNumberPoint(reader) : isReadable(reader))) return false;
      reader.at = to;
    } else if (reader.wire !== WIRE_VARINT && isFlagOf(kind, reader.field)) return false;
  }
  return !reader.failed;
}

function isNumberPoint(reader: WireReader): boolean {
  const end = reader.to;
  while (reader.next(end)) {
    const wire = NUMBER_POINT_WIRES[reader.field];
    if (wire !== undefined && wire !== reader.wire) return false;
  }
  return !reader.failed;
}
