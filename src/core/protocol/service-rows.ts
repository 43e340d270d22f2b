/**
 * Rows of services in the table "detector_states", little-endian: of a detector its state, of a model the model. A row's page is the first word of the
 * service's hash; another service with the same page is distinguished by the hash, and takes the row over.
 *
 *   0 u32 version, u32 count (state: metrics; model: vectors of its training), f64 time ms (state: newest sample judged; model: of its training)
 *  16 hash of the service and environment, 16 bytes    32 hash of its metrics' names, 16 bytes    48 the state's numbers (f64), or the model
 */
import { hash128 } from "../hashing/hash128.ts";

const VERSION = 1;
const SERVICE_ROW_HEADER_BYTES = 48;
const SERVICE = 16;
const COLUMNS = 32;

export interface ServiceRow {
  readonly count: number;
  readonly timeMs: number;
  /** 32 hex digits each. */
  readonly service: string;
  readonly columns: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Hash of a service, as JSON of [tenant, service], in one environment. */
export function serviceHash(key: string, environment: string): string {
  return hash128(`${key} ${JSON.stringify(environment)}`);
}

/** The page of a service's row among its partition's. */
export function servicePage(service: string): number {
  return Number.parseInt(service.slice(0, 8), 16);
}

/** Writes a row. */
export function encodeServiceRow({ count, timeMs, service, columns, bytes }: ServiceRow): Uint8Array<ArrayBuffer> {
  const row = new Uint8Array(SERVICE_ROW_HEADER_BYTES + bytes.length);
  const view = new DataView(row.buffer);
  view.setUint32(0, VERSION, true);
  view.setUint32(4, count, true);
  view.setFloat64(8, timeMs, true);
  row.set(Buffer.from(service, "hex"), SERVICE);
  row.set(Buffer.from(columns, "hex"), COLUMNS);
  row.set(bytes, SERVICE_ROW_HEADER_BYTES);
  return row;
}

/** Reads a row into bytes of its own; undefined where it is of another version. */
export function decodeServiceRow(row: Uint8Array): ServiceRow | undefined {
  if (row.length < SERVICE_ROW_HEADER_BYTES) return undefined;
  const view = new DataView(row.buffer, row.byteOffset, row.byteLength);
  if (view.getUint32(0, true) !== VERSION) return undefined;
  const hex = (from: number) => Buffer.from(new Uint8Array(row.subarray(from, from + 16))).toString("hex");
  return {
    count: view.getUint32(4, true),
    timeMs: view.getFloat64(8, true),
    service: hex(SERVICE),
    columns: hex(COLUMNS),
    bytes: new Uint8Array(row.subarray(SERVICE_ROW_HEADER_BYTES)),
  };
}
