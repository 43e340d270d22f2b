// Entry of the kernel: one WebAssembly module with a lane and a shard, over one engine's memory.
export * from "./lane";
export * from "./shard";
