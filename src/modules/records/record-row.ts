/**
 * A stored record: what filters read stands before the JSON, so that a row that does not match costs no parsing.
 *
 *   version u8 = 1, type u8 (place in RECORD_TYPES), service bytes u16 little-endian, service UTF-8, JSON {environment, receivedMs, record}
 */
import { RECORD_TYPES, type RecordType } from "../../core/layout/counters.ts";
import type { RecordEnvelope } from "../../core/protocol/coordinator-frame.ts";

const VERSION = 1;
const HEADER_BYTES = 4;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Contents of the JSON part. */
export interface RecordRow {
  readonly environment: string;
  readonly receivedMs: number;
  readonly record: Readonly<Record<string, unknown>>;
}

/** Encodes a record that the engine has validated. */
export function encodeRecordRow({ environment, receivedMs, record }: RecordEnvelope): Uint8Array {
  const type = RECORD_TYPES.indexOf(record.type as RecordType);
  if (type < 0 || typeof record.service_id !== "string") throw new RangeError("a record to be stored has a type and a service");
  const service = encoder.encode(record.service_id);
  const json = encoder.encode(JSON.stringify({ environment, receivedMs, record }));
  const row = new Uint8Array(HEADER_BYTES + service.length + json.length);
  row.set([VERSION, type, service.length & 0xff, service.length >> 8]);
  row.set(service, HEADER_BYTES);
  row.set(json, HEADER_BYTES + service.length);
  return row;
}

/** Bytes to compare with the service of a row; the same for each row of a query. */
export function serviceBytes(serviceId: string): Uint8Array {
  return encoder.encode(serviceId);
}

/** Whether a row is of that type and service; undefined selects all. */
export function rowMatches(row: Uint8Array, type: RecordType | undefined, service: Uint8Array | undefined): boolean {
  if (type !== undefined && RECORD_TYPES[row[1] as number] !== type) return false;
  if (service === undefined) return true;
  if (rowServiceBytes(row) !== service.length) return false;
  return Buffer.compare(row.subarray(HEADER_BYTES, HEADER_BYTES + service.length), service) === 0;
}

/** Decodes a row. Throws on another version. */
export function decodeRecordRow(row: Uint8Array): RecordRow {
  if (row[0] !== VERSION) throw new Error(`a stored record has version ${row[0]}, this program reads ${VERSION}`);
  return JSON.parse(decoder.decode(row.subarray(HEADER_BYTES + rowServiceBytes(row)))) as RecordRow;
}

function rowServiceBytes(row: Uint8Array): number {
  return (row[2] as number) | ((row[3] as number) << 8);
}
