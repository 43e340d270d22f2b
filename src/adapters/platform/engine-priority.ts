/**
 * On one or two cores an engine lets the threads go first that somebody waits for: the front that reads requests and sends answers, the coordinator that stores
 * an anomaly, the pool that writes it. Their turns are short, and engines do most of the work: an anomaly used to wait for slices of the engine that had found it.
 * A nice value of 4 leaves an engine 29 % of a core that all others want; more was no better (docs/adr/0078-v8-lets-others-go-first.md).
 */
import { availableParallelism, setPriority } from "node:os";
import { CORES_FEW } from "./v8-policy.ts";

const NICE = 4;
/** Queries wait for nothing but cores: detection and answers go first on any machine, as they do before trainings. */
const QUERY_NICE = 10;

/** Lets other threads go before the one that calls. */
export function yieldEngine(cores = availableParallelism()): void {
  if (cores <= CORES_FEW) yieldThread(NICE);
}

/** Lets all other threads go before the one that calls, which evaluates queries. */
export function yieldQueries(): void {
  yieldThread(QUERY_NICE);
}

function yieldThread(nice: number): void {
  // Only Linux has nice values of threads.
  if (process.platform !== "linux") return;
  try {
    setPriority(nice);
  } catch {
    // A sandbox may forbid it: then it is as any thread.
  }
}
