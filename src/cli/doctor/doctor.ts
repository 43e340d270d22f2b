// `vedette doctor`: says what of a data folder can be read, and writes that into a new one. The folder itself is not changed. Stores are read by a process of its own and never by
// LMDB (adapters/storage/store-walk.ts), so that no damage ends the command.
import { copyFileSync, existsSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { lockFolder } from "../../adapters/log/folder-lock.ts";
import { readBlocks } from "../../adapters/log/log-reader.ts";
import { listSegments } from "../../adapters/log/log-segment.ts";
import { logDirectory } from "../../adapters/log/meta-file.ts";
import { KEPT_FILES } from "../../adapters/log/stored-parts.ts";
import { dataFileOf, findingText, walkBeside } from "../../adapters/storage/store-check.ts";
import { UsageError } from "../exit-code.ts";
import { writeLine } from "../terminal.ts";
import { type RescuedStore, rescueStore } from "./rescue.ts";

const USAGE = "vedette doctor --data DIR [--rescue NEW_DIR]";

/** Runs the command; resolves with 0 where everything can be read, with 1 otherwise. Throws UsageError where an argument cannot be used. */
export async function runDoctor(args: readonly string[], stores: readonly RescuedStore[]): Promise<number> {
  const { data, rescue } = readArguments(args);
  if (!existsSync(data)) throw new UsageError(`--data: there is no folder ${data}`);
  const lock = lockFolder(data);
  try {
    if (rescue !== undefined) prepare(rescue);
    let isWhole = true;
    for (const store of stores) isWhole = (await reportStore(data, store)) && isWhole;
    isWhole = reportLog(data) && isWhole;
    if (rescue !== undefined) await writeRescued(data, rescue, stores);
    else if (!isWhole) writeLine(`what can be read is written into a new folder by: vedette doctor --data ${data} --rescue NEW_DIR`);
    return isWhole ? 0 : 1;
  } finally {
    lock.release();
  }
}

function readArguments(args: readonly string[]): { data: string; rescue: string | undefined } {
  const { data, rescue } = parse(args);
  if (data === undefined) throw new UsageError(`--data is missing; ${USAGE}`);
  return { data, rescue };
}

function parse(args: readonly string[]): { data?: string | undefined; rescue?: string | undefined } {
  try {
    return parseArgs({ args: [...args], options: { data: { type: "string" }, rescue: { type: "string" } } }).values;
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)}; ${USAGE}`);
  }
}

function prepare(rescue: string): void {
  if (existsSync(rescue) && readdirSync(rescue).length > 0) throw new UsageError(`--rescue: ${rescue} is not empty; name a new folder`);
  mkdirSync(rescue, { recursive: true, mode: 0o700 });
}

/** Lines about one store; true where all of it can be read. */
async function reportStore(data: string, { name, tables }: RescuedStore): Promise<boolean> {
  const file = dataFileOf(join(data, name));
  if (file === undefined) {
    writeLine(`${name}: there is no store`);
    return true;
  }
  const { findings, findingCount, tables: counts } = await walkBeside(file, tables, { isThorough: true });
  writeLine(`${name}: ${file}, ${statSync(file).size} bytes, ${findingCount === 0 ? "all of it can be read" : `${findingCount} findings`}`);
  for (const [table, { rows, damaged }] of counts) {
    if (rows + damaged > 0) writeLine(`  ${table.padEnd(20)} ${String(rows).padStart(9)} rows${damaged > 0 ? `, ${damaged} damaged` : ""}`);
  }
  for (const finding of findings) writeLine(`  ${findingText(finding)}`);
  if (findingCount > findings.length) writeLine(`  ... and ${findingCount - findings.length} more`);
  return findingCount === 0;
}

/** A segment that a kill or a loss of power has cut ends before its file does: nobody was answered for those bytes. */
function reportLog(data: string): boolean {
  let isWhole = true;
  for (const { path } of listSegments(logDirectory(data))) {
    const blocks = readBlocks(path);
    let [count, step] = [0, blocks.next()];
    for (; step.done !== true; step = blocks.next()) count++;
    const { endOffset, cutBytes } = step.value;
    writeLine(`log: ${path}, ${count} blocks of ${endOffset} bytes${cutBytes > 0 ? `, then ${cutBytes} bytes that cannot be read` : ""}`);
    isWhole &&= cutBytes === 0;
  }
  return isWhole;
}

async function writeRescued(data: string, rescue: string, stores: readonly RescuedStore[]): Promise<void> {
  for (const store of stores) {
    const file = dataFileOf(join(data, store.name));
    if (file !== undefined) writeLine(`${store.name}: ${await rescueStore(file, join(rescue, store.name), store)}`);
  }
  for (const name of KEPT_FILES) if (existsSync(join(data, name))) copyFileSync(join(data, name), join(rescue, name));
  mkdirSync(logDirectory(rescue), { recursive: true });
  for (const { path } of listSegments(logDirectory(data)))
    copyFileSync(path, join(logDirectory(rescue), path.slice(logDirectory(data).length + 1)));
  writeLine(
    `written to ${rescue}: start the server with DATA_DIR=${rescue}, and keep ${data} until you have seen that it holds what you need`,
  );
}
