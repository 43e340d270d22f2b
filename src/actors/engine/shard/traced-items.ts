// Rows and messages named by their content, the same in the memory of the run that threw over them and in the log that the next start reads.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";
import { hash128 } from "../../../core/hashing/hash128.ts";
import { COLD_SLOTS } from "../../../core/layout/memory-map.ts";
import { ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../core/layout/row-frame.ts";
import type { ShardKernel } from "../../../domain/kernel/shard-kernel.ts";
import type { TracedItems } from "./work-trace.ts";

export interface TracedItemsDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly hashOf: (slot: number) => Uint8Array;
}

/** Slot of a row's stream; undefined where it is not in memory. */
export function slotOfRow({ memory, kernel }: Omit<TracedItemsDependencies, "hashOf">, pointer: number): number | undefined {
  const slot = kernel.slotOfRef(memory.uint32s[(pointer + ROW_REF) >>> 2] as number);
  return slot >= 0 && slot < COLD_SLOTS ? slot : undefined;
}

/** Namer of what a shard works at. */
export function tracedItems(dependencies: TracedItemsDependencies): TracedItems {
  const { uint32s: slots } = dependencies.memory;
  return {
    row: (pointer) => {
      const slot = slotOfRow(dependencies, pointer);
      if (slot === undefined) return null;
      const [offset, low, high] = [ROW_OFFSET, ROW_VALUE, ROW_VALUE + 4].map((at) => slots[(pointer + at) >>> 2] as number);
      return [Buffer.from(dependencies.hashOf(slot)).toString("hex"), offset, low, high].join(" ");
    },
    message: (partition, payload) => `${partition} ${hash128(Buffer.from(payload).toString("latin1"))}`,
  };
}
