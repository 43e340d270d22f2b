// Compiles src/domain/kernel/assembly/kernel.ts to dist/domain/kernel/kernel.wasm (AssemblyScript, SIMD, shared imported memory).
import { mkdirSync } from "node:fs";
import asc from "assemblyscript/asc";

mkdirSync("dist/domain/kernel", { recursive: true });
const { error, stderr } = await asc.main([
  "src/domain/kernel/assembly/kernel.ts",
  "--outFile",
  "dist/domain/kernel/kernel.wasm",
  "--optimizeLevel",
  "3",
  "--shrinkLevel",
  "0",
  "--noAssert", "--debug",
  "--converge",
  "--runtime",
  "stub",
  "--importMemory",
  "--sharedMemory",
  "--initialMemory",
  "65536",
  "--maximumMemory",
  "65536",
  "--enable",
  "simd",
  "--enable",
  "threads",
  "--enable",
  "bulk-memory",
]);
if (error) {
  process.stderr.write(`${stderr.toString()}\n${error.message}\n`);
  process.exit(1);
}
