/**
 * The threads of V8 that compile functions and help to collect garbage. On one or two cores they take the turns of the threads that somebody waits for: a
 * function of 13 ms held requests and verdicts up for 20. With a nice value they get a tenth of a core that an engine wants too (engine-priority.ts: 10 less), and
 * all of one that nobody wants. Much more is too much: a collection waits for its helpers, and did so for 100 ms where the engine left them nothing.
 *
 * Node 20 does not name its threads, so they are found by the order in which they are made: the main thread, the one that delays Node's tasks, V8's. Wrong
 * ones would be slower, no more.
 */
import { readdirSync } from "node:fs";
import { setPriority } from "node:os";

/** Node's `--v8-pool-size` unless somebody sets it. */
const POOL_THREADS = 4;
/** The main thread, and that of delayed tasks. */
const THREADS_BEFORE = 2;
/** Beyond every id of a thread: these begin again at the low ones. */
const THREAD_IDS_MAX = 2 ** 22;
const NICE = 14;

/** V8's among the ids of all threads of a process: none where there are too few, or where `nodeOptions` set their number. */
export function v8Threads(ids: readonly number[], processId: number, nodeOptions: string): number[] {
  if (/v8[-_]pool[-_]size/.test(nodeOptions)) return [];
  const age = (id: number) => (id < processId ? id + THREAD_IDS_MAX : id);
  const found = ids.toSorted((a, b) => age(a) - age(b)).slice(THREADS_BEFORE, THREADS_BEFORE + POOL_THREADS);
  return found.length === POOL_THREADS ? found : [];
}

/** Lets other threads go before V8's. To be called before any thread is started; where the system does not report threads nothing happens. */
export function yieldV8Threads(): void {
  try {
    const ids = readdirSync("/proc/self/task").map(Number);
    for (const id of v8Threads(ids, process.pid, [...process.execArgv, process.env.NODE_OPTIONS].join(" "))) setPriority(id, NICE);
  } catch {
    // No such folder: not Linux.
  }
}
