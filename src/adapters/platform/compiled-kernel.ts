// The kernel's module, with all of its functions compiled with optimization at once.
//
// V8 compiles a function of WebAssembly when it is first called, quickly and badly, and again once it has run for long: the first requests of a server ran in the worse code
// and shared the core with the compilations. As a whole it takes 0.13 s of the processor (Node 20; 0.3 with Node 24), on V8's threads, while the coordinator reads its stores.
import { setFlagsFromString } from "node:v8";

/** What is set while the module is compiled, and taken back behind it; Node 20, 22 and 24 know all of them. */
const WHOLE = ["--no-liftoff", "--no-wasm-lazy-compilation"] as const;
const USUAL = ["--liftoff", "--wasm-lazy-compilation"] as const;

/** Compiles the kernel's bytes. */
export function compileKernel(bytes: Uint8Array<ArrayBuffer>): WebAssembly.Module {
  for (const flag of WHOLE) setFlagsFromString(flag);
  try {
    return new WebAssembly.Module(bytes);
  } finally {
    for (const flag of USUAL) setFlagsFromString(flag);
  }
}
