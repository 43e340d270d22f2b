// The records of a JSON body between the scan that finds them and the steps that stage them: entries in RECORD_INDEX.
import { RECORD_INDEX, RECORD_INDEX_BYTES } from "../../../../core/layout/memory-map";

export const ENTRY_BYTES: usize = 40;
export const ENTRY_START: usize = 0; // u32, address of the record's first byte
export const ENTRY_END: usize = 4; // u32, address behind its last byte
export const ENTRY_OFFSET: usize = 8; // u32, ms after the unit's base
export const ENTRY_IS_ODD: usize = 12; // u32, 1: of the entry only start and end hold
export const ENTRY_VALUE: usize = 16; // f64
export const ENTRY_HASH_LOW: usize = 24; // u64, of the spelling
export const ENTRY_HASH_HIGH: usize = 32; // u64

export const INDEX: usize = RECORD_INDEX;
/** Records that the index has room for. */
export const INDEX_ENTRIES_MAX: u32 = <u32>RECORD_INDEX_BYTES / <u32>ENTRY_BYTES;
