/**
 * Which thread runs which engine: engine i thread i modulo the number of threads. There are no more threads than cores: one more would only take turns with the
 * others, compile the same code again, and know the labels of all series once more ([ADR 78](../../../docs/adr/0078-v8-lets-others-go-first.md)). Engines that
 * share a thread are stepped one after another and share the doorbell, which lies in the memory of the first of them. The first alone takes bodies: a thread
 * decodes one at a time.
 */
import { availableParallelism } from "node:os";
import { EngineMemory } from "./engine-memory.ts";

/** Threads for so many engines, at least one; the first engine of thread t is engine t. `cores` are those that the process may use. */
export function threadCount(engines: number, cores = availableParallelism()): number {
  return Math.max(1, Math.min(engines, cores));
}

/** Engines of one thread, ascending. */
export function enginesOfThread(thread: number, engines: number, threads: number): number[] {
  return Array.from({ length: engines }, (_, engine) => engine).filter((engine) => engine % threads === thread);
}

/** Views over the memories of all engines, which ring the bells of the engines' threads. */
export function viewMemories(memories: readonly WebAssembly.Memory[], threads: number): EngineMemory[] {
  return memories.map((memory, engine) => new EngineMemory(memory, { bell: memories[engine % threads] as WebAssembly.Memory }));
}
