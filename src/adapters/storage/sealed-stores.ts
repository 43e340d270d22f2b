// A store whose values all have their seal (value-seal.ts) says so in a table of its own.

/** The table; it has one row where all values of the store are sealed. */
export const SEALED_TABLE = "sealed_values";
/** That row. */
export const SEALED_KEY = Uint8Array.of(1);
export const SEALED_VALUE = Uint8Array.of(1);
