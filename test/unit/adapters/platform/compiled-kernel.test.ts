import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { compileKernel } from "../../../../src/adapters/platform/compiled-kernel.ts";
import { createEngineMemory } from "../../../../src/adapters/shared-memory/engine-memory.ts";
import type { IngestExports } from "../../../../src/domain/kernel/ingest-kernel.ts";
import { instantiateKernel } from "../../../../src/domain/kernel/kernel-instance.ts";

const built = new URL("../../../../dist/adapters/platform/compiled-kernel.js", import.meta.url);
const kernel = new URL("../../../../dist/domain/kernel/kernel.wasm", import.meta.url);

it("has the functions of the kernel", () => {
  const { remoteWriteStep } = instantiateKernel<IngestExports>(compileKernel(readFileSync(kernel)), createEngineMemory());
  expect(remoteWriteStep).toBeTypeOf("function");
});

it("sets flags that this V8 knows, and takes them back: it says so of others", () => {
  const program = `
    import { compileKernel } from ${JSON.stringify(built.href)};
    import { readFileSync } from "node:fs";
    compileKernel(readFileSync(new URL(${JSON.stringify(kernel.href)})));
    console.log("compiled");`;
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-e", program], { encoding: "utf8" });
  expect({ stdout, stderr }).toEqual({ stdout: "compiled\n", stderr: "" });
});
