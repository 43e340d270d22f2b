import * as fs from "node:fs";

/** File system as the log needs it: blocking calls of `node:fs` with their errors, which carry `code`. */
export interface LogFileSystem {
  openSync(path: string, flags: string): number;
  closeSync(descriptor: number): void;
  writevSync(descriptor: number, parts: ReadonlyArray<Uint8Array>, position: number): number;
  readSync(descriptor: number, into: Uint8Array, offset: number, length: number, position: number): number;
  ftruncateSync(descriptor: number, length: number): void;
  fdatasyncSync(descriptor: number): void;
  fsyncSync(descriptor: number): void;
  fstatSync(descriptor: number): { readonly size: number };
  readdirSync(path: string): string[];
  unlinkSync(path: string): void;
  mkdirSync(path: string, options: { recursive: true }): unknown;
}

/** The real file system. */
export const nodeFileSystem: LogFileSystem = fs;

/** Returns the `code` of a file system error, such as "ENOSPC"; "EUNKNOWN" where it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "EUNKNOWN";
}

/** Makes the creation and deletion of the directory's files survive a loss of power. */
export function syncDirectory(directory: string, files: Pick<LogFileSystem, "openSync" | "fsyncSync" | "closeSync">): void {
  const descriptor = files.openSync(directory, "r");
  try {
    files.fsyncSync(descriptor);
  } finally {
    files.closeSync(descriptor);
  }
}
