// Files for a log that nobody reads: they take everything and keep nothing.
import { devNull } from "node:os";
import { type LogFileSystem, nodeFileSystem } from "./log-file-system.ts";

const nothing = () => undefined;

/** Whatever is opened is the device that forgets; directories are empty. */
export const forgottenFiles: LogFileSystem = {
  ...nodeFileSystem,
  openSync: () => nodeFileSystem.openSync(devNull, "w"),
  readdirSync: () => [],
  mkdirSync: nothing,
  unlinkSync: nothing,
  ftruncateSync: nothing,
  fsyncSync: nothing,
  fdatasyncSync: nothing,
};
