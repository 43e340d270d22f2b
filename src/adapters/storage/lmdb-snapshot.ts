// Holds what a store has now while a server goes on writing to it: its pages are not used again until the snapshot is closed.
import { dirname } from "node:path";
import { open } from "lmdb";
import { background, task } from "../../core/faults/guard.ts";

/** A snapshot that is held. */
export interface LiveSnapshot {
  close(): void;
}

/** Holds the newest transaction of a data file, as a reader beside its server. Throws LMDB's error. */
export function openLiveSnapshot(file: string): LiveSnapshot {
  const root = open({ path: dirname(file), noSubdir: false, readOnly: true, keyEncoding: "binary", encoding: "binary" });
  const transaction = root.useReadTransaction();
  return {
    close: () => {
      transaction.done();
      background(task("the end of a snapshot"), root.close());
    },
  };
}
