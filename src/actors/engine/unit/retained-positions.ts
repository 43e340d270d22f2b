// Places of the engine's memory that a body needs as they were when it goes on, while other bodies are decoded with the same kernel.
import type { EngineMemory } from "../../../adapters/shared-memory/engine-memory.ts";

/** A place. */
export interface RetainedPosition {
  readonly pointer: number;
  readonly bytes: number;
  /** Whether what lies there stays the same in the course of the body. */
  readonly isConstant: boolean;
  /** Where it is to lie when the body goes on; the same place where it is absent. */
  readonly to?: number;
}

/** Copies of one body's places. */
export class RetainedPositions {
  readonly #memory: EngineMemory;
  /** By where they go back to; buffers are used again. */
  readonly #copies = new Map<number, { readonly buffer: Buffer; readonly bytes: number }>();
  #wanted: readonly number[] = [];

  constructor(memory: EngineMemory) {
    this.#memory = memory;
  }

  /** Copies these; what stays the same is copied once. */
  keep(places: readonly RetainedPosition[]): void {
    this.#wanted = places.map(({ pointer, to = pointer }) => to);
    for (const { pointer, bytes, isConstant, to = pointer } of places) {
      const known = this.#copies.get(to);
      if (isConstant && known?.bytes === bytes) continue;
      const buffer = known !== undefined && known.buffer.length >= bytes ? known.buffer : Buffer.allocUnsafeSlow(bytes);
      buffer.set(this.#memory.bytes.subarray(pointer, pointer + bytes));
      this.#copies.set(to, { buffer, bytes });
    }
  }

  /** Brings back what was kept last. */
  restore(): void {
    for (const to of this.#wanted) {
      const { buffer, bytes } = this.#copies.get(to) as { buffer: Buffer; bytes: number };
      this.#memory.bytes.set(buffer.subarray(0, bytes), to);
    }
  }

  /** Bytes of the copies. */
  get bytes(): number {
    return [...this.#copies.values()].reduce((sum, { buffer }) => sum + buffer.length, 0);
  }
}
