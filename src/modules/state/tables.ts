/** Keys of the tables of both environments (domain/codec/key.ts). Which tables there are, and what their keys and values are, stands in each noun's module. */
import { compareKeys, KeyBuilder, KeyReader } from "../../domain/codec/key.ts";

/** Tables of no noun. Log marks stand beside the records and the usage that they speak of, so that one transaction holds both. */
export const STATE_TABLES = {
  control: {
    secrets: { key: "name", value: "raw bytes" },
  },
  series: {
    checkpoints: { key: "partition", value: "header and last part of the state" },
    checkpoint_parts: { key: "partition, generation, part", value: "the parts before it" },
    lane_marks: { key: "epoch, lane", value: "LogMark" },
  },
} as const;

/** Without their rows nobody knows what else is stored, or whose keys are good. */
export const NEEDED_TABLES: ReadonlySet<string> = new Set([...Object.keys(STATE_TABLES.control), ...Object.keys(STATE_TABLES.series)]);

/** Bytes of an id of 32 hex digits. */
export const ID_BYTES = 16;
export const TIME_BYTES = 8;
/** Above every key of a table: no key starts with eight bytes of 0xff. */
export const TABLE_END = new Uint8Array(8).fill(0xff);
/** Below every key of a table. */
export const TABLE_START = new Uint8Array(0);

/** Used again for every key. */
const rowKey = new KeyBuilder();
const idScratch = new Uint8Array(ID_BYTES);

function noId(id: string): RangeError {
  return new RangeError(`an id has 32 hex digits, got ${JSON.stringify(id.slice(0, 40))}`);
}

/** Makes an id of random bytes. */
export function newId(source: { randomBytes(count: number): Uint8Array }): string {
  return idText(source.randomBytes(ID_BYTES));
}

/** The bytes of an id; undefined of a text that is none. */
export function knownIdBytes(id: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = new Uint8Array(ID_BYTES);
  return writeId(id, bytes) ? bytes : undefined;
}

export function idBytes(id: string): Uint8Array {
  const bytes = knownIdBytes(id);
  if (bytes === undefined) throw noId(id);
  return bytes;
}

/** Whether a text is an id, whose bytes stand in `bytes` then. */
function writeId(id: string, bytes: Uint8Array): boolean {
  if (id.length !== 2 * ID_BYTES) return false;
  for (let i = 0; i < ID_BYTES; i++) {
    const [high, low] = [hexDigit(id, 2 * i), hexDigit(id, 2 * i + 1)];
    if (((high | low) & ~0xf) !== 0) return false;
    bytes[i] = (high << 4) | low;
  }
  return true;
}

export function idText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** Key of anomalies, records and dead letters. */
export function tenantTimeKey(tenant: string, timeMs: number, id: string): Uint8Array {
  if (!writeId(id, idScratch)) throw noId(id);
  return rowKey.clear().fixed(tenantPrefix(tenant)).time(timeMs).fixed(idScratch).finish();
}

/** Order of a commit's rows: LMDB fills its pages with rows that come in the order of their keys, and leaves them half empty otherwise. */
export function byKey(a: { readonly key: Uint8Array }, b: { readonly key: Uint8Array }): number {
  return compareKeys(a.key, b.key);
}

/** Contents of such a key. */
export interface RowKey {
  readonly tenant: string;
  readonly timeMs: number;
  readonly id: string;
}

/** Reads a key of anomalies, alerts and the ledger. Throws RangeError on bytes that are none. */
export function tenantTimeOf(key: Uint8Array): RowKey {
  const tenantBytes = key.length - TIME_BYTES - ID_BYTES;
  const tenant = isLastTenant(key, tenantBytes) ? lastTenant : new KeyReader(key).text();
  tenantPrefix(tenant);
  return {
    tenant,
    timeMs: new KeyReader(key, tenantBytes).time(),
    id: idText(key.subarray(key.length - ID_BYTES)),
  };
}

/** Whether the key begins with the tenant that was asked for last, and nothing more. */
function isLastTenant(key: Uint8Array, tenantBytes: number): boolean {
  if (tenantBytes !== lastPrefix.length) return false;
  for (let i = 0; i < tenantBytes; i++) if (key[i] !== lastPrefix[i]) return false;
  return true;
}

/** Value of a lower-case hex digit; below 0 or above 15 for any other character. */
function hexDigit(hex: string, at: number): number {
  const code = hex.charCodeAt(at);
  return code < 0x3a ? code - 0x30 : code < 0x61 ? -1 : code - 0x57;
}

let lastTenant = "";
let lastPrefix = new KeyBuilder().text(lastTenant).finish();

/** Prefix of the keys of a tenant; that of the last is kept, as rows come in runs of a tenant's. */
function tenantPrefix(tenant: string): Uint8Array {
  if (tenant !== lastTenant) {
    lastPrefix = new KeyBuilder().text(tenant).finish();
    lastTenant = tenant;
  }
  return lastPrefix;
}

/** Key of what belongs to something of a tenant, as lines of an alert do, with what `add` writes behind it; it makes no other key. */
export function tenantIdKey(tenant: string, id: string, add?: (key: KeyBuilder) => void): Uint8Array {
  if (!writeId(id, idScratch)) throw noId(id);
  rowKey.clear().fixed(tenantPrefix(tenant)).fixed(idScratch);
  add?.(rowKey);
  return rowKey.finish();
}

/** Bound of a tenant's keys: those of earlier times lie below it. */
export function tenantTimeBound(tenant: string, timeMs: number): Uint8Array {
  return rowKey.clear().text(tenant).time(timeMs).finish();
}

/** Key of a block and its span, or of a roll-up and its own. */
export function blockKey(partition: number, block: number): Uint8Array {
  return rowKey.clear().u16(partition).u32(block).finish();
}

/** Key of a part of a checkpoint; also the bound of the parts of generations from it on. */
export function checkpointPartKey(partition: number, generation: number, part: number): Uint8Array {
  return rowKey.clear().u16(partition).u32(generation).u32(part).finish();
}

/** Key of a batch of streams that left memory; also the bound of those with serials from it on. */
export function coldKey(partition: number, serial: number): Uint8Array {
  return rowKey.clear().u16(partition).u32(serial).finish();
}

/** Key of a page of a detector's states. */
export function detectorStatesKey(partition: number, detector: number, page: number): Uint8Array {
  return rowKey.clear().u16(partition).u16(detector).u32(page).finish();
}

/** Key of a checkpoint; also the bound of the blocks of partitions from it on. */
export function partitionKey(partition: number): Uint8Array {
  return rowKey.clear().u16(partition).finish();
}
