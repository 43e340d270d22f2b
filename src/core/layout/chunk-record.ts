// A chunk on its way into a block, as the shard's kernel writes it and a partition keeps it: 36 bytes, the chunk, zeros up to a multiple of four.
// Read by both compilers: integer constants only.

export const CR_STREAM = 0; // u128, identity hash of the stream
export const CR_FIRST_TIME = 16; // f64, ms of the first sample
export const CR_LAST_TIME = 24; // f64, ms of the last
export const CR_CHUNK_BYTES = 32; // u32
export const CR_CHUNK = 36;
