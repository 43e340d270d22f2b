// What the status says about the stores.

/** A failed write, with what the system or the store said of it; or more on the disk than DISK_LIMIT_GIB. */
export interface StoreRefusal {
  readonly cause: "write_failed" | "disk_limit";
  readonly errorCode: string | null;
}

/** Size of the data folder at the last look. */
export interface DiskFill {
  /** Entries of the stores, and the log. */
  readonly storeBytes: number;
  readonly logBytes: number;
  readonly freeBytes: number;
  /** DISK_LIMIT_GIB; Infinity for none. */
  readonly limitBytes: number;
}
