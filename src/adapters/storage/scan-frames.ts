// What the process that scans a store writes: {bytes behind this u32, table's index u8, key bytes u16, key, value} for a row; with index 255 and no key the report, as JSON, last.
import type { StoreFinding, TableCount } from "./store-scan.ts";

/** Order of a scan: what is scanned, and how. */
export interface ScanOrder {
  readonly file: string;
  readonly tables: readonly string[];
  /** Behind damage too. */
  readonly isThorough: boolean;
  readonly sendsRows: boolean;
  /** While a server writes to it. */
  readonly isLive: boolean;
}

/** Findings of a scan; tables with their counts. */
export interface ScanReport {
  readonly findings: readonly StoreFinding[];
  readonly findingCount: number;
  readonly tables: ReadonlyArray<readonly [name: string, count: TableCount]>;
}

/** A row that is whole. */
export interface ScannedRow {
  readonly table: string;
  readonly key: Uint8Array;
  readonly value: Uint8Array;
}

const HEAD_BYTES = 7;
const REPORT = 255;
const GATHERED_BYTES = 1024 * 1024;

/** Writes frames through `write`, which takes some of the bytes and says how many. */
export class FrameWriter {
  readonly #indexes: ReadonlyMap<string, number>;
  readonly #write: (bytes: Uint8Array) => number;
  readonly #gathered: Buffer[] = [];
  #bytes = 0;

  constructor(tables: readonly string[], write: (bytes: Uint8Array) => number) {
    this.#indexes = new Map(tables.map((name, index) => [name, index]));
    this.#write = write;
  }

  /** Rows of tables that were not ordered are the store's own and left out. */
  row(table: string, key: Uint8Array, value: Uint8Array): void {
    const index = this.#indexes.get(table);
    if (index !== undefined) this.#frame(index, key, value);
    if (this.#bytes >= GATHERED_BYTES) this.#flush();
  }

  report(report: ScanReport): void {
    this.#frame(REPORT, new Uint8Array(0), Buffer.from(JSON.stringify(report)));
    this.#flush();
  }

  #frame(index: number, key: Uint8Array, value: Uint8Array): void {
    const frame = Buffer.allocUnsafe(HEAD_BYTES + key.length + value.length);
    frame.writeUInt32LE(frame.length - 4, 0);
    frame[4] = index;
    frame.writeUInt16LE(key.length, 5);
    frame.set(key, HEAD_BYTES);
    frame.set(value, HEAD_BYTES + key.length);
    this.#gathered.push(frame);
    this.#bytes += frame.length;
  }

  #flush(): void {
    let rest: Uint8Array = Buffer.concat(this.#gathered.splice(0));
    this.#bytes = 0;
    while (rest.length > 0) rest = rest.subarray(this.#write(rest));
  }
}

/** Reads what a FrameWriter wrote: yields the rows, whose bytes are copies, and returns the report; undefined where there was none. */
export async function* readFrames(
  tables: readonly string[],
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<ScannedRow, ScanReport | undefined> {
  let report: ScanReport | undefined;
  let waiting: Buffer[] = [];
  let waitingBytes = 0;
  let needed = 4;
  for await (const chunk of chunks) {
    waiting.push(chunk);
    waitingBytes += chunk.length;
    if (waitingBytes < needed) continue;
    let bytes = Buffer.concat(waiting);
    for (needed = frameBytes(bytes); bytes.length >= needed && needed > 4; needed = frameBytes(bytes)) {
      const index = bytes[4] as number;
      const keyEnd = HEAD_BYTES + bytes.readUInt16LE(5);
      const value = Uint8Array.from(bytes.subarray(keyEnd, needed));
      if (index === REPORT) report = JSON.parse(Buffer.from(value).toString()) as ScanReport;
      else yield { table: tables[index] as string, key: Uint8Array.from(bytes.subarray(HEAD_BYTES, keyEnd)), value };
      bytes = bytes.subarray(needed);
    }
    waiting = [bytes];
    waitingBytes = bytes.length;
  }
  return report;
}

function frameBytes(bytes: Buffer): number {
  return bytes.length < 4 ? 4 : 4 + bytes.readUInt32LE(0);
}
