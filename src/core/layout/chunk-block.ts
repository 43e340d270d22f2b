// A block of chunks (domain/codec/chunk-block.ts), as TypeScript and the shard's kernel write it. Read by both compilers: integer constants only.

export const CB_VERSION = 0; // u32, 2
export const CB_CHUNKS = 4; // u32
export const CB_STREAMS = 8; // u32
export const CB_ZERO = 12; // u32
export const CB_MIN_TIME = 16; // f64, ms, earliest first time
export const CB_MAX_TIME = 24; // f64, ms, latest last time
export const CB_HEADER_BYTES = 32;
export const CB_STREAM_END = 16; // u32, of a stream, behind its id: place in the chunk area behind its last chunk
export const CB_STREAM_BYTES = 20;
export const CB_LENGTH_BYTES = 2; // before each chunk
export const CB_CHECKSUM_BYTES = 4;
export const CB_VERSION_NOW = 2;
