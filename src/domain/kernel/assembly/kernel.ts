// Entry of the kernel: one WebAssembly module with decoders and a shard, over one engine's memory.
export * from "./ingest";
export * from "./shard";
