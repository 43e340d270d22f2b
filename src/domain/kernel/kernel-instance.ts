// Instantiates the WebAssembly kernel. The memory is made by the caller (4 GiB, shared, never grown) and given to exactly one instance:
// a second instance over the same memory would initialise the static data of the first one again.

/** Function that the kernel was compiled to call when it cannot go on; our code has no such path, the compiler's runtime names it. */
function abort(_message: number, _file: number, line: number, column: number): never {
  throw new Error(`kernel aborted at ${line}:${column}`);
}

/** Instantiates the kernel over `memory`; `Exports` is the part of the kernel's functions that the caller uses (LaneExports, ShardExports). */
export function instantiateKernel<Exports extends object>(module: WebAssembly.Module, memory: WebAssembly.Memory): Exports {
  const instance = new WebAssembly.Instance(module, { env: { memory, abort } });
  return instance.exports as unknown as Exports;
}
