// `vedette doctor`: says what of a data folder can be read, and writes that into a new one. The folder itself is not changed. Stores are read by a process of its own and never by
// LMDB (adapters/storage/store-scan.ts), so that no damage ends the command.
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { lockFolder } from "../../adapters/log/folder-lock.ts";
import { readBlocks } from "../../adapters/log/log-reader.ts";
import { listSegments } from "../../adapters/log/log-segment.ts";
import { logDirectory } from "../../adapters/log/meta-file.ts";
import { RETAINED_FILES } from "../../adapters/log/stored-parts.ts";
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import { openLmdbStore } from "../../adapters/storage/lmdb-store.ts";
import { dataFileOf, findingText, scanBeside, scanRows } from "../../adapters/storage/store-check.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { UsageError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";

const COMMIT_BYTES = 4 * 1024 * 1024;

const USAGE = "vedette doctor --data DIR [--rescue NEW_DIR] [--json]";

/** Runs the command; resolves with 0 where everything can be read, with 1 otherwise. Throws UsageError where an argument cannot be used. */
export async function runDoctor(args: readonly string[], stores: readonly RescuedStore[]): Promise<number> {
  const { data, rescue, isJson } = readArguments(args);
  if (!existsSync(data)) throw new UsageError(`--data: there is no folder ${data}`);
  const lock = lockFolder(data);
  try {
    if (rescue !== undefined) prepare(rescue);
    const found = [];
    for (const store of stores) found.push(await examineStore(data, store));
    const log = examineLog(data);
    const isWhole = found.every(({ damage }) => damage === 0) && log.every(({ unreadable_bytes }) => unreadable_bytes === 0);
    const say = isJson ? writeError : writeLine;
    if (isJson) writeLine(JSON.stringify({ data, is_whole: isWhole, stores: found, log }, null, 2));
    else for (const line of [...found.flatMap(storeLines), ...log.map(logLine)]) writeLine(line);
    if (rescue !== undefined) await writeRescued(data, rescue, stores, say);
    else if (!isWhole) say(`what can be read is written into a new folder by: vedette doctor --data ${data} --rescue NEW_DIR`);
    return isWhole ? 0 : 1;
  } finally {
    lock.release();
  }
}

function readArguments(args: readonly string[]): { data: string; rescue: string | undefined; isJson: boolean } {
  const { data, rescue, json } = parse(args);
  if (data === undefined) throw new UsageError(`--data is missing; ${USAGE}`);
  return { data, rescue, isJson: json === true };
}

function parse(args: readonly string[]): { data?: string | undefined; rescue?: string | undefined; json?: boolean | undefined } {
  try {
    return parseArgs({ args: [...args], options: { data: { type: "string" }, rescue: { type: "string" }, json: { type: "boolean" } } })
      .values;
  } catch (error) {
    throw new UsageError(`${messageOf(error)}; ${USAGE}`);
  }
}

function prepare(rescue: string): void {
  if (existsSync(rescue) && readdirSync(rescue).length > 0) throw new UsageError(`--rescue: ${rescue} is not empty; name a new folder`);
  mkdirSync(rescue, { recursive: true, mode: 0o700 });
}

/** Readable rows of a store. */
interface StoreReport {
  readonly name: string;
  /** Null where there is no store. */
  readonly file: string | null;
  readonly bytes: number;
  /** Findings in all; `findings` are the first. */
  readonly damage: number;
  readonly findings: readonly string[];
  readonly tables: ReadonlyArray<{ readonly table: string; readonly rows: number; readonly damaged: number }>;
}

async function examineStore(data: string, { name, tables }: RescuedStore): Promise<StoreReport> {
  const file = dataFileOf(join(data, name));
  if (file === undefined) return { name, file: null, bytes: 0, damage: 0, findings: [], tables: [] };
  const { findings, findingCount, tables: counts } = await scanBeside(file, tables, { isThorough: true });
  const counted = [...counts].map(([table, { rows, damaged }]) => ({ table, rows, damaged }));
  return { name, file, bytes: statSync(file).size, damage: findingCount, findings: findings.map(findingText), tables: counted };
}

function storeLines({ name, file, bytes, damage, findings, tables }: StoreReport): string[] {
  if (file === null) return [`${name}: there is no store`];
  const more = damage > findings.length ? [`  ... and ${damage - findings.length} more`] : [];
  return [
    `${name}: ${file}, ${bytes} bytes, ${damage === 0 ? "all of it can be read" : `${damage} findings`}`,
    ...tables
      .filter(({ rows, damaged }) => rows + damaged > 0)
      .map(
        ({ table, rows, damaged }) => `  ${table.padEnd(20)} ${String(rows).padStart(9)} rows${damaged > 0 ? `, ${damaged} damaged` : ""}`,
      ),
    ...findings.map((text) => `  ${text}`),
    ...more,
  ];
}

/** A segment of the log. One that a kill or a loss of power has cut ends before its file does: nobody was answered for those bytes. */
interface SegmentReport {
  readonly path: string;
  readonly blocks: number;
  readonly bytes: number;
  readonly unreadable_bytes: number;
}

function examineLog(data: string): SegmentReport[] {
  return listSegments(logDirectory(data)).map(({ path }) => {
    const blocks = readBlocks(path);
    let [count, step] = [0, blocks.next()];
    for (; step.done !== true; step = blocks.next()) count++;
    return { path, blocks: count, bytes: step.value.endOffset, unreadable_bytes: step.value.cutBytes };
  });
}

function logLine({ path, blocks, bytes, unreadable_bytes: cut }: SegmentReport): string {
  return `log: ${path}, ${blocks} blocks of ${bytes} bytes${cut > 0 ? `, then ${cut} bytes that cannot be read` : ""}`;
}

async function writeRescued(data: string, rescue: string, stores: readonly RescuedStore[], say: (line: string) => void): Promise<void> {
  for (const store of stores) {
    const file = dataFileOf(join(data, store.name));
    if (file !== undefined) say(`${store.name}: ${await rescueStore(file, join(rescue, store.name), store)}`);
  }
  for (const name of RETAINED_FILES) if (existsSync(join(data, name))) copyFileSync(join(data, name), join(rescue, name));
  mkdirSync(logDirectory(rescue), { recursive: true });
  for (const { path } of listSegments(logDirectory(data)))
    copyFileSync(path, join(logDirectory(rescue), path.slice(logDirectory(data).length + 1)));
  say(`written to ${rescue}: start the server with DATA_DIR=${rescue}, and keep ${data} until you have seen that it holds what you need`);
}

// Writes the rows of a damaged store that can be read into a new one.

/** Amendments to the rows of a store so that a server can start over them. */
interface RowMender {
  take(table: string, key: Uint8Array, value: Uint8Array): void;
  /** Call it once, when all rows are in; `partitions` are those whose state is lost. */
  replacements(): { readonly partitions: readonly number[]; readonly operations: readonly StoreOperation[] };
}

/** A store of a data folder. */
interface RescuedStore {
  /** Name of its folder. */
  readonly name: string;
  readonly tables: readonly string[];
  readonly mender: RowMender | undefined;
}

/** Writes `file` into the new folder `path` and says what came of it. */
async function rescueStore(file: string, path: string, { tables, mender }: RescuedStore): Promise<string> {
  const store = openLmdbStore({ path, tables });
  try {
    let rows = 0;
    let batch: StoreOperation[] = [];
    let bytes = 0;
    for await (const { table, key, value } of scanRows(file, tables, { isThorough: true, sendsRows: true })) {
      mender?.take(table, key, value);
      batch.push({ table, key, value });
      bytes += value.length;
      rows++;
      if (bytes < COMMIT_BYTES) continue;
      await store.commit(batch);
      [batch, bytes] = [[], 0];
    }
    const { partitions, operations } = mender?.replacements() ?? { partitions: [], operations: [] };
    await store.commit([...batch, ...operations], { sync: true });
    const lost = partitions.length === 0 ? "" : `; the baselines of partitions ${partitions.join(", ")} are lost and learned anew`;
    return `${rows} rows written${lost}`;
  } finally {
    await store.close();
  }
}
