// What the shard kernel and TypeScript both keep of the chunks of one partition that wait for a block (domain/codec/chunk-block-builder.ts), u32 each.
// Read by both compilers: integer constants only.

export const WC_END = 0; // bytes of the records
export const WC_CAPACITY = 4; // bytes that the kernel may fill with records; 0 while they stand elsewhere
export const WC_COUNT = 8;
export const WC_CHUNK_BYTES = 12;
export const WC_STREAMS = 16;
export const WC_BLOCK = 20; // counts the blocks, from 1: SR_BLOCK of the streams that have a chunk here
export const WC_BLOCK_BYTES = 24; // most bytes of a block; 0 until the partition is known
export const WC_STATE_BYTES = 32;
