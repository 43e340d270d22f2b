// Loads the compiled kernel for tests: `node scripts/build-kernel.mjs` first.
import { existsSync, readFileSync } from "node:fs";
import { MEMORY_PAGES } from "../../src/core/layout/memory-map.ts";
import { instantiateKernel } from "../../src/domain/kernel/kernel-instance.ts";

/** Another build can be tried by naming it: KERNEL_WASM=/tmp/kernel.wasm. */
const path = process.env["KERNEL_WASM"] ?? "dist/domain/kernel/kernel.wasm";
let compiled: WebAssembly.Module | undefined;

export interface LoadedKernel<Exports extends object> {
  readonly kernel: Exports;
  readonly memory: WebAssembly.Memory;
  /** All of the memory. */
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

/** A kernel over a fresh shared memory of 4 GiB (untouched pages cost nothing). */
export function loadKernel<Exports extends object>(): LoadedKernel<Exports> {
  if (compiled === undefined) {
    if (!existsSync(path)) throw new Error(`${path} is missing: run node scripts/build-kernel.mjs`);
    compiled = new WebAssembly.Module(readFileSync(path));
  }
  const memory = new WebAssembly.Memory({ initial: MEMORY_PAGES, maximum: MEMORY_PAGES, shared: true });
  const kernel = instantiateKernel<Exports>(compiled, memory);
  return { kernel, memory, bytes: new Uint8Array(memory.buffer), view: new DataView(memory.buffer) };
}
