// What this program has taken and cannot store, read or apply: set aside with its reason, and never tried again.

/** Reason of dead letters whose records were taken and cannot be stored. */
export const UNSTORABLE = "unstorable";

/** Something that is set aside, whole. */
export interface SetAsideItem {
  /** Name of its files, the same where it is found again. */
  readonly name: string;
  /** What it is, in words. */
  readonly what: string;
  /** Why it cannot be taken. */
  readonly reason: string;
  readonly bytes: Uint8Array;
}
