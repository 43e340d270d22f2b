// One start over a damaged folder, judged: what the server answers must be what the undamaged folder answers, or it must have said what is wrong.
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CONTROL_TABLES, SERIES_TABLES } from "../../../src/actors/coordinator/nouns/modules.ts";
import { readBlocks } from "../../../src/adapters/log/log-reader.ts";
import { scanStore } from "../../../src/adapters/storage/store-scan.ts";
import { ServerProcess } from "../../support/server-process.ts";
import { differences } from "../holdings.ts";
import { type Damage, damageFolder, damageText } from "./damage.ts";
import { copyFolder, type DamagedFolders } from "./damaged-folders.ts";
import { type FolderContents, QUIET_SETTINGS, readContents } from "./folder-contents.ts";

/**
 * `line`: the start ended with one line. `told`: it serves, and /healthz and the log say what is damaged. `torn`: the end of a log is missing, as after a loss of power, and
 * nothing else. `harmless`: it serves what the whole folder does.
 */
export type DamageOutcome = "line" | "told" | "torn" | "harmless";

/** What came of one damage. */
export interface DamageReport {
  readonly number: number;
  readonly file: string;
  readonly kind: string;
  readonly outcome: DamageOutcome | "failed";
  /** What was done, and where it failed why. */
  readonly text: string;
}

/** Damages a copy of a folder and starts a server over it. Never rejects: what goes wrong is a failure of that damage. */
export async function judgeDamage(folders: DamagedFolders, number: number): Promise<DamageReport> {
  const { path, contents } = number % 2 === 0 ? folders.stopped : folders.killed;
  const folder = join(mkdtempSync(join(tmpdir(), "vedette-damage-")), "data");
  copyFolder(path, folder);
  const damage = damageFolder(folder, number);
  const { file, kind } = damage;
  const server = ServerProcess.launch({ ...QUIET_SETTINGS, DATA_DIR: folder });
  try {
    const outcome = await judge(server, folder, { contents, isLogEnd: isLogEnd(path, damage) });
    return { number, file, kind, outcome, text: `${damageText(damage)}: ${outcome}` };
  } catch (error) {
    const text = `${damageText(damage)}: ${error instanceof Error ? error.message : String(error)}\n${server.output.slice(-1_500)}`;
    return { number, file, kind, outcome: "failed", text };
  } finally {
    await server.kill();
    rmSync(join(folder, ".."), { recursive: true, force: true });
  }
}

/** What is expected. */
interface Expected {
  readonly contents: FolderContents;
  readonly isLogEnd: boolean;
}

/** Whether no whole block of a log lies behind the damage: nobody can tell it from a write that was cut off. */
function isLogEnd(folder: string, { file, kind, at, bytes }: Damage): boolean {
  if (!file.startsWith("log/") || kind === "delete") return false;
  let [lastBlock, end] = [0, 0];
  for (const { endOffset } of readBlocks(join(folder, file))) [lastBlock, end] = [end, endOffset];
  return kind === "cut" || at + bytes > lastBlock;
}

async function judge(server: ServerProcess, folder: string, { contents: whole, isLogEnd }: Expected): Promise<DamageOutcome> {
  const ended = await Promise.race([
    server.ended,
    server.ready().then(
      () => undefined,
      () => server.ended,
    ),
  ]);
  if (ended !== undefined) return judgeEnd(ended, server.output);
  const found = await readContents(server);
  const isReported = (await server.get<{ status: string }>("/healthz")).status === "degraded";
  const wrong = differences(whole.holdings, found.holdings);
  const changed = whole.lists
    .filter((line) => !found.lists.includes(line))
    .concat(found.lists.filter((line) => !whole.lists.includes(line)));
  const unexpected = isReported || isLogEnd ? wrong.filter((line) => !isMissing(line) && !isEarlier(line, whole)) : wrong;
  if (unexpected.length > 0 || changed.length > 0)
    throw new Error(`answers differ: ${[...unexpected, ...changed].slice(0, 6).join(" | ")}`);
  await server.stop();
  if (/\n {4}at /.test(server.output)) throw new Error("a stack in the output");
  for (const store of ["control", "series"]) judgeStore(join(folder, store, "data.mdb"));
  return isReported ? "told" : wrong.length > 0 ? "torn" : "harmless";
}

/** Of a start that a file of the data folder stops which somebody has to see to. */
const EXIT_SETTING = 78;

/** One line that begins like all refusals, and nothing that looks like a crash. */
function judgeEnd(ended: number | string, output: string): DamageOutcome {
  if (ended !== 1 && ended !== EXIT_SETTING) throw new Error(`the server ended with ${ended}`);
  const last = output.trimEnd().split("\n").at(-1) ?? "";
  if (!last.startsWith("vedette: ") || /\n {4}at /.test(output)) throw new Error("it did not end with one line");
  return "line";
}

function judgeStore(file: string): void {
  if (!existsSync(file)) throw new Error(`${file} is not there after the stop`);
  const { findings } = scanStore(file, { tables: [...CONTROL_TABLES, ...SERIES_TABLES] });
  if (findings.length > 0) throw new Error(`${file} after the stop: ${JSON.stringify(findings)}`);
}

/** Without the newest rows an anomaly may be as it was before them: open still, say. */
function isEarlier(line: string, { holdings }: FolderContents): boolean {
  const id = /^anomaly too many: .*"anomaly_id":"([0-9a-f]{32})"/.exec(line)?.[1];
  return id !== undefined && holdings.anomalies.some((each) => each.includes(id));
}

/** Of a damage that was told rows may be missing; none may be there that was not before, but for the marks of what a lost part brought about. */
function isMissing(line: string): boolean {
  return (
    line.includes(" missing: ") || line.startsWith("count of ") || line.includes("further differences") || line.startsWith("dead letters")
  );
}
