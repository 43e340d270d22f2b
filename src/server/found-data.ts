// What a start finds of the data that a start before has left, before it opens any of it: a store or a log that is missing ends the start, or becomes a fault where the operator accepts the loss.
import { readCrashNotes, removeCrashNote } from "../adapters/log/crash-notes.ts";
import { DataFaultFile } from "../adapters/log/data-fault-file.ts";
import { type LogInventory, type MissingLog, missingLog, notedSegments, readInventory } from "../adapters/log/log-inventory.ts";
import { listSegments } from "../adapters/log/log-segment.ts";
import { logDirectory, type Meta } from "../adapters/log/meta-file.ts";
import { type ClosedFolder, closeFolder } from "../adapters/log/private-folder.ts";
import { missingStores } from "../adapters/log/stored-parts.ts";
import { systemClock } from "../adapters/platform/clock.ts";
import { ConfigError } from "../core/config/config-error.ts";
import type { CrashNote } from "../core/protocol/crash-note.ts";
import type { DataFault } from "../core/protocol/data-fault.ts";
import type { Log } from "../core/telemetry/log-event.ts";
import { messageOf } from "../core/text/error-text.ts";

/** Advice on how to go on. */
const ADVICE = "restore it from a backup, or start once with ACCEPT_DATA_LOSS=true to go on without";

/** Parts of the data folder that are there, and that are not. */
export interface FoundData extends MissingLog {
  readonly inventory: LogInventory;
  /** A folder of an earlier version has no inventory: then it is known only whether there is any log. */
  readonly isLogEmpty: boolean;
  readonly faults: readonly DataFault[];
  /** What of the log threads have thrown over. */
  readonly notes: readonly CrashNote[];
}

/** Looks at a data folder, under its lock. Throws ConfigError where a store is missing and the loss is not accepted. */
export function findData(dataDir: string, meta: Meta, acceptsLoss: boolean): FoundData {
  const stores = missingStores(dataDir, meta);
  const [first] = stores;
  if (first !== undefined && !acceptsLoss) {
    const others = stores.slice(1).map(({ path }) => ` and ${path}`);
    throw new ConfigError(
      `${first.path}${others.join("")} is missing, but was there before (${stores.map(({ holds }) => holds).join("; ")}): ${ADVICE}`,
    );
  }
  const faults = stores.map(
    ({ name, path, holds }): DataFault => ({
      id: `store ${name} missing, start ${meta.epoch}`,
      kind: "data_missing",
      what: `${path} was missing and the loss was accepted: ${holds} of before are gone, as far as the log does not hold them`,
    }),
  );
  const stored = readInventory(dataDir);
  const noted = notedSegments(dataDir).map((name): [string, number] => [name, 0]);
  const inventory = new Map([...noted, ...(stored ?? [])]);
  const isLogEmpty = stored === undefined && listSegments(logDirectory(dataDir)).length === 0;
  return { ...missingLog(dataDir, inventory), inventory, isLogEmpty, faults, notes: notesOfLog(dataDir) };
}

/** Notes of blocks; those whose segment is gone go. */
function notesOfLog(dataDir: string): CrashNote[] {
  const segments = new Set(listSegments(logDirectory(dataDir)).map(({ epoch, writer, segment }) => `${epoch}-${writer}-${segment}`));
  return readCrashNotes(dataDir).filter((note) => {
    const { place: position } = note;
    if (position.type !== "block") return false;
    const isThere = segments.has(`${position.epoch}-${position.lane}-${position.segment}`);
    if (!isThere) removeCrashNote(note);
    return isThere;
  });
}

/** The line of a start that ends because of its log. */
export function missingLogLine(names: readonly string[], directory: string): string {
  const [first, ...others] = names;
  const what =
    first === undefined
      ? `every log segment in ${directory}`
      : `the log segment ${first}${others.length > 0 ? ` (and ${others.length} more)` : ""} in ${directory}`;
  return `${what} is missing, but the stores do not hold what was in it: ${ADVICE}`;
}

/** Makes the folder and closes it to other users of the machine; says what cannot be closed, and what is not the server's. Throws ConfigError where there can be no such folder. */
export function closeDataFolder(dataDir: string, log: Log): void {
  const { failed, strange, exposed } = closedFolder(dataDir);
  if (exposed.length > 0)
    log("warn", `other users of this machine could read ${exposed.join(" and ")} until now: delete it, and the next start makes another`);
  if (failed.length > 0)
    log("warn", `other users of this machine may read ${named(failed)}: another user owns it, who has to close it with chmod`);
  if (strange.length > 0)
    log("warn", `${dataDir} holds what is not Vedette's (${named(strange)}) and stays as open as it is: give DATA_DIR a folder of its own`);
}

function closedFolder(dataDir: string): ClosedFolder {
  try {
    return closeFolder(dataDir);
  } catch (error) {
    throw new ConfigError(`DATA_DIR cannot be used: ${messageOf(error)}`);
  }
}

/** The first of some names, and how many more there are. */
function named(names: readonly string[]): string {
  return names.length > 1 ? `${names[0]} and ${names.length - 1} more` : String(names[0]);
}

/** Keeps faults before there is a coordinator, whose file it is then. */
export function keepFaults(dataDir: string, faults: readonly DataFault[], log: Log): void {
  if (faults.length === 0) return;
  const nowMs = systemClock.wallMs();
  const file = new DataFaultFile(dataDir, nowMs);
  for (const fault of faults) {
    file.add(fault, nowMs);
    log("warn", fault.what);
  }
}
