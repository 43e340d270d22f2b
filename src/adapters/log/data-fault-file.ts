/**
 * <dataDir>/data-faults.json: {"version":1,"faults":[RetainedDataFault, ...]}, at most DATA_FAULTS_MAX of about 500 bytes. It stands beside the stores and not in one, as a store may
 * be what is at fault. Replaced as a whole, so that after any crash it is the old or the new one. One thread writes it: main until the coordinator is started, then the coordinator.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DATA_FAULTS_MAX } from "../../core/config/limits.ts";
import type { DataFault, RetainedDataFault } from "../../core/protocol/data-fault.ts";
import { errorCode } from "./log-file-system.ts";
import { replaceFile } from "./replaced-file.ts";

const VERSION = 1;

/** Faults of a data folder. */
export class DataFaultFile {
  readonly #path: string;
  #faults: RetainedDataFault[];

  /** A file that cannot be read counts as a fault of its own: what it held is unknown. Throws the system's error where the folder cannot be read. */
  constructor(dataDir: string, nowMs: number) {
    this.#path = join(dataDir, "data-faults.json");
    this.#faults = readFaults(this.#path, nowMs);
  }

  /** The oldest first. */
  get faults(): readonly RetainedDataFault[] {
    return this.#faults;
  }

  /** Number of faults that nobody has acknowledged. */
  get open(): number {
    return this.#faults.filter(({ acknowledged }) => acknowledged === null).length;
  }

  /** Keeps a fault; false where it is known. Beyond the maximum the oldest acknowledged one goes, or the new one is not kept. Throws the system's error. */
  add(fault: DataFault, nowMs: number): boolean {
    if (this.#faults.some(({ id }) => id === fault.id)) return false;
    const retained = [...this.#faults];
    if (retained.length >= DATA_FAULTS_MAX) {
      const oldest = retained.findIndex(({ acknowledged }) => acknowledged !== null);
      if (oldest < 0) return false;
      retained.splice(oldest, 1);
    }
    this.#replace([...retained, { id: fault.id, kind: fault.kind, what: fault.what, sinceMs: nowMs, acknowledged: null }]);
    return true;
  }

  /** An operator has seen all that are open; answers how many. Throws the system's error, and then nothing is acknowledged. */
  acknowledge(by: string, nowMs: number): number {
    const { open } = this;
    if (open > 0)
      this.#replace(this.#faults.map((fault) => (fault.acknowledged === null ? { ...fault, acknowledged: { by, atMs: nowMs } } : fault)));
    return open;
  }

  /** In force also where the disk takes nothing: then the next change stores it. */
  #replace(faults: RetainedDataFault[]): void {
    const before = this.#faults;
    this.#faults = faults;
    try {
      replaceFile(this.#path, `${JSON.stringify({ version: VERSION, faults })}\n`);
    } catch (error) {
      // A fault that could not be stored is still a fault; an acknowledgement that could not be stored is none.
      if (faults.length === before.length) this.#faults = before;
      throw error;
    }
  }
}

function readFaults(path: string, nowMs: number): RetainedDataFault[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
  try {
    const stored = JSON.parse(text) as { version: unknown; faults: RetainedDataFault[] };
    if (stored.version === VERSION && stored.faults.every(isFault)) return stored.faults;
  } catch {
    // not JSON, or not of this form: answered below
  }
  const what = `${path} cannot be read: which faults of the data were found before is unknown`;
  return [{ id: "data-faults", kind: "data_missing", what, sinceMs: nowMs, acknowledged: null }];
}

function isFault({ id, kind, what, sinceMs, acknowledged }: RetainedDataFault): boolean {
  const texts = [id, kind, what];
  const seen = acknowledged === null || (typeof acknowledged.by === "string" && Number.isFinite(acknowledged.atMs));
  return texts.every((text) => typeof text === "string") && Number.isFinite(sinceMs) && seen;
}
