// Faults of the data folder: something that was stored cannot be read any more. The server goes on with what is whole, and says so until an operator has seen it.

/** Part at fault: a part of a log, a missing part that the operator chose to go on without, a store, or something whole that this program could not take and has set aside. */
export type DataFaultKind = "log_damaged" | "data_missing" | "store_damaged" | "set_aside";

/** One fault. The same fault found again, by the next start say, has the same id. */
export interface DataFault {
  /** Names the place: what is at fault, and where. */
  readonly id: string;
  readonly kind: DataFaultKind;
  /** One sentence for the operator: what is lost as far as it is known, and where the bytes are kept. */
  readonly what: string;
}

/** A part of a log segment that no block was read from. */
export interface LogFlaw {
  /** torn: the last write was cut off, and nobody was answered for it; damaged: what was written, and answered for, cannot be read. */
  readonly kind: "torn" | "damaged";
  readonly path: string;
  readonly offset: number;
  /** None where whole segments or the end of one are missing between two blocks. */
  readonly bytes: number;
  /** The bytes are not there at all: the file is shorter than what was flushed of it. */
  readonly isGone?: true;
  /** Blocks, and rows and records in them; null where the log does not tell, 0 where bytes are left behind and nothing is missing. */
  readonly blocks: number | null;
  readonly rows: number | null;
}

/** A fault as it is kept. */
export interface RetainedDataFault extends DataFault {
  /** Wall time at which it was found first. */
  readonly sinceMs: number;
  /** Null until an operator has acknowledged it: so long the server is degraded. */
  readonly acknowledged: { readonly by: string; readonly atMs: number } | null;
}
