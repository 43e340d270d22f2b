/**
 * Looks at a store before LMDB opens it, which maps its file and follows what it reads: a damaged one ends the process by a signal, or is answered.
 *
 * Small files are scanned where they are, in a few milliseconds; others in a process of their own beside what the start does meanwhile, and its end by a signal is a finding too.
 */
import { spawn } from "node:child_process";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { child as childHome, listen } from "../../core/faults/guard.ts";
import { DATA_FILE, FileDamage, LmdbFile } from "./lmdb-file.ts";
import { readFrames, type ScannedRow, type ScanOrder, type ScanReport } from "./scan-frames.ts";
import { type StoreFinding, scanStore } from "./store-scan.ts";

/** Walked in the calling thread: 16 MiB take some 15 ms, a process 60 ms to begin with. */
const BYTES_MAX_HERE = 16 * 1024 * 1024;
const PROCESS_FILE = fileURLToPath(new URL("./store-scan-process.js", import.meta.url));

type Findings = Pick<ScanReport, "findings" | "findingCount">;

/** A store that is not opened, as what it holds cannot be trusted. */
class DamagedStoreError extends Error {
  constructor(file: string, { findings, findingCount }: Findings) {
    const [first] = findings;
    const more = findingCount > 1 ? ` (the first of ${findingCount} findings)` : "";
    super(`${file} is damaged: ${first === undefined ? "" : findingText(first)}${more}`);
    this.name = "DamagedStoreError";
  }
}

/** One finding in words. */
export function findingText({ table, what }: StoreFinding): string {
  return table === undefined ? what : `${table}: ${what}`;
}

/** The data file of a store's folder; undefined where there is none. */
export function dataFileOf(folder: string): string | undefined {
  const file = join(folder, DATA_FILE);
  return existsSync(file) ? file : undefined;
}

/** Result of the check of a store before it is opened. */
export interface StoreCheck {
  /** Where the file is too large to be waited for: scans it while its server runs. Rejects with DamagedStoreError. */
  readonly later: (() => Promise<void>) | undefined;
}

export interface StoreCheckOptions {
  readonly tables: readonly string[];
  /** A larger file is looked at only where it begins, and scanned later. */
  readonly bytesMaxNow: number;
}

/** Resolves when the store in `folder` may be opened; rejects with DamagedStoreError, or the system's error. */
export async function checkStore(folder: string, { tables, bytesMaxNow }: StoreCheckOptions): Promise<StoreCheck> {
  const file = dataFileOf(folder);
  if (file === undefined) return { later: undefined };
  const { size } = statSync(file);
  if (size > bytesMaxNow) {
    refuse(file, checkHead(file));
    return { later: async () => refuse(file, await scanBeside(file, tables, { isLive: true })) };
  }
  refuse(file, size <= BYTES_MAX_HERE ? scanStore(file, { tables }) : await scanBeside(file, tables));
  return { later: undefined };
}

function refuse(file: string, findings: Findings): void {
  if (findings.findingCount > 0) throw new DamagedStoreError(file, findings);
}

/** Findings in the first pages. */
function checkHead(path: string): Findings {
  const file = new LmdbFile(path);
  try {
    file.snapshot();
    return { findings: [], findingCount: 0 };
  } catch (error) {
    if (!(error instanceof FileDamage)) throw error;
    return { findings: [{ table: undefined, what: error.message }], findingCount: 1 };
  } finally {
    file.close();
  }
}

/** Has a process of its own scan the file. */
export async function scanBeside(file: string, tables: readonly string[], order: Partial<ScanOrder> = {}): Promise<ScanReport> {
  const rows = scanRows(file, tables, order);
  for (;;) {
    const { done, value } = await rows.next();
    if (done === true) return value;
  }
}

/** The same, with every row that is whole where the order says so. */
export async function* scanRows(
  file: string,
  tables: readonly string[],
  order: Partial<ScanOrder>,
): AsyncGenerator<ScannedRow, ScanReport> {
  const whole: ScanOrder = { isThorough: false, sendsRows: false, isLive: false, ...order, file, tables };
  const child = spawn(process.execPath, [PROCESS_FILE, JSON.stringify(whole)], { stdio: ["ignore", "pipe", "pipe"] });
  const errors: Buffer[] = [];
  const home = childHome("the check of a store", () => child.kill("SIGKILL"));
  listen(child.stderr, "data", home, (bytes: Buffer) => errors.push(bytes));
  const ended = new Promise<number | NodeJS.Signals>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? (signal as NodeJS.Signals)));
  });
  ended.catch(() => undefined);
  const report = yield* readFrames(tables, child.stdout);
  const end = await ended;
  if (end === 0 && report !== undefined) return report;
  if (typeof end === "number") throw new Error(`the check of ${file} failed: ${Buffer.concat(errors).toString().slice(0, 2_000)}`);
  return { findings: [{ table: undefined, what: `reading it ended the process by ${end}` }], findingCount: 1, tables: [] };
}
