// What a thread was working at when it threw: the next start leaves that out, and nothing else.
import type { LogPosition } from "./coordinator-frame.ts";

/** A stored row. */
export interface RowPosition {
  readonly type: "row";
  readonly store: "control" | "series";
  readonly table: string;
  /** Hex digits. */
  readonly key: string;
}

/** A block of the log, or a part of it. */
export interface BlockPosition extends LogPosition {
  readonly type: "block";
  readonly epoch: number;
  readonly lane: number;
  /** Kind of the section; null where it was none of them, and the whole block is meant. */
  readonly section: number | null;
  /** One row or message of the section, by its content; null where the whole section is meant. */
  readonly item: string | null;
}

/** The state of a partition. */
export interface CheckpointPosition {
  readonly type: "checkpoint";
  readonly partition: number;
}

export type CrashPosition = RowPosition | BlockPosition | CheckpointPosition;

/** A note of one thread. */
export interface CrashNote {
  /** The start that it ended. */
  readonly epoch: number;
  readonly actor: string;
  readonly reason: string;
  readonly place: CrashPosition;
}
