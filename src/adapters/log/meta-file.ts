/**
 * <dataDir>/meta.json, about 170 bytes: {"version":1,"epoch":<starts so far>,"hasStores":true,"seed":"<64 hex digits>","check":"<CRC-32 of the JSON without this, 8 hex digits>"}. Written beside, flushed, renamed and
 * the directory flushed, so that after any crash it is the old or the new one. Call it under the folder lock.
 */

import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "../../core/hashing/crc32.ts";
import { errorCode, syncDirectory } from "./log-file-system.ts";
import { listSegments } from "./log-segment.ts";
import { replaceFile } from "./replaced-file.ts";

const VERSION = 1;
/** Advice on how to go on. */
const META_ADVICE = "restore it from a backup: its seed cannot be made again";
const SEED = /^[0-9a-f]{64}$/;

/** Facts that a start knows about its data folder. */
export interface Meta {
  readonly version: number;
  /** Number of this start: larger than that of any start or log segment before, at least 1. */
  readonly epoch: number;
  /** Both stores have been opened by a start before: one that is not there is lost. */
  readonly hasStores: boolean;
  /** 32 random bytes in hex, made on the first start: stored identities depend on it, so it never changes. */
  readonly seed: string;
}

/**
 * A data folder that this version must not touch: `code` is META_MALFORMED, META_VERSION, META_MISSING (segments without it) or META_SEED; or one
 * whose disk is full: META_NO_ROOM.
 */
export class MetaError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "MetaError";
    this.code = code;
  }
}

/** Returns the directory of the log segments in a data folder. */
export function logDirectory(dataDir: string): string {
  return join(dataDir, "log");
}

/**
 * Begins a new epoch: reads the folder's meta file, or makes it with the seed of `makeSeed` where the folder has neither file nor segments,
 * and stores it with a larger epoch before it returns. Throws MetaError, or the system's error.
 */
export function openMeta(dataDir: string, makeSeed: () => string): Meta {
  mkdirSync(dataDir, { recursive: true });
  const path = join(dataDir, "meta.json");
  const lastSegmentEpoch = listSegments(logDirectory(dataDir)).at(-1)?.epoch ?? 0;
  const stored = readMeta(path);
  const found = lastSegmentEpoch > 0 ? "log segments" : existsSync(join(dataDir, "control", "data.mdb")) ? "stores" : undefined;
  if (stored === undefined && found !== undefined) {
    throw new MetaError("META_MISSING", `${path} is missing, but the folder has ${found}: restore the file, its seed cannot be made again`);
  }
  const { epoch: lastEpoch, seed, hasStores } = stored ?? { epoch: 0, seed: makeSeed(), hasStores: false };
  if (!SEED.test(seed)) throw new MetaError("META_SEED", "the seed must be 64 lower-case hex digits");
  const meta: Meta = { version: VERSION, epoch: Math.max(lastEpoch, lastSegmentEpoch) + 1, hasStores, seed };
  storeMeta(path, meta);
  syncDirectory(dataDir, { openSync, fsyncSync, closeSync });
  return meta;
}

/** Notes that both stores are there from now on. Throws MetaError where the disk is full, or the system's error. */
export function noteStores(dataDir: string, meta: Meta): void {
  if (!meta.hasStores) storeMeta(join(dataDir, "meta.json"), { ...meta, hasStores: true });
}

function readMeta(path: string): Meta | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
  const { check, ...members } = parseObject(text, path);
  // A file of an earlier version has none; every other bit of one that has it is covered.
  if (check !== undefined && check !== checkOf(members)) {
    throw new MetaError("META_MALFORMED", `${path} is damaged: its checksum is not that of its content; ${META_ADVICE}`);
  }
  const { version, epoch, seed, hasStores } = members;
  if (typeof version === "number" && version !== VERSION) {
    throw new MetaError(
      "META_VERSION",
      `${path} has version ${version}, this server knows ${VERSION}: ${version > VERSION ? "a newer one wrote it; start that, or a backup of before in another folder" : "it is too old"}`,
    );
  }
  if (typeof version !== "number" || typeof epoch !== "number" || !Number.isSafeInteger(epoch) || epoch < 1 || typeof seed !== "string") {
    throw new MetaError("META_MALFORMED", `${path} is damaged: it has no valid version, epoch or seed; ${META_ADVICE}`);
  }
  return { version, epoch, seed, hasStores: hasStores === true };
}

function parseObject(text: string, path: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // not JSON: answered below like JSON that is no object
  }
  throw new MetaError("META_MALFORMED", `${path} is damaged: it is not a JSON object; ${META_ADVICE}`);
}

function checkOf(members: object): string {
  return crc32(Buffer.from(JSON.stringify(members)))
    .toString(16)
    .padStart(8, "0");
}

function storeMeta(path: string, meta: Meta): void {
  try {
    replaceFile(path, `${JSON.stringify({ ...meta, check: checkOf(meta) })}\n`);
  } catch (error) {
    if (errorCode(error) !== "ENOSPC") throw error;
    throw new MetaError("META_NO_ROOM", `${path} cannot be written: the disk is full; make room and start again, nothing is lost`);
  }
}
