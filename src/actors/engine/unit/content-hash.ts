// Ids of records: a hash of what makes the record that one, so that a repetition is the same record.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { SCRATCH, SCRATCH_BYTES } from "../../../core/layout/memory-map.ts";
import type { IngestExports } from "../../../domain/kernel/ingest-kernel.ts";

/** 32 hex digits for a text, seeded per data folder. What lies behind SCRATCH_BYTES of UTF-8 has no influence. */
export function contentHash(text: string, { memory, kernel }: { readonly memory: EngineMemory; readonly kernel: IngestExports }): string {
  const bytes = memory.slice(SCRATCH, SCRATCH_BYTES).write(text);
  const pointer = kernel.identityHash(SCRATCH, bytes);
  return memory.slice(pointer, 16).toString("hex");
}
