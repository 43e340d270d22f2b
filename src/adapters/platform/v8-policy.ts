/**
 * How V8 collects garbage and compiles, for all threads. Its defaults save memory on a desktop; here a collection of the coordinator's heap that comes too
 * early holds verdicts up, and threads share cores.
 *
 *  - memory reducer: collects whole heaps again and again once little is allocated. At 50,000 samples a second every thread did so, up to 40 ms each. V8 asks
 *    for it when a heap is made: the flag here counts for threads, and the main thread's heap has none where Node was started with `--no-memory-reducer`, as
 *    `make run` does.
 *  - growth: V8 lets a heap whose program allocates slowly grow by a quarter until the next full collection. The coordinator, with 88 MB for 100,000 mapped
 *    services, was collected every 3.4 s, 90 ms each. By 100 % it is so every fourth time; the price is room for as much garbage as there are live objects.
 *  - least limit: V8 collects a thread's heap as a whole at 12, 20 and 33 MB as it grows, and counts what arrays hold outside of it. An engine with 12 MB of live
 *    objects was collected every few seconds, the coordinator with 25 every ten, 100 ms each. Now not below 128 MB, or a 32nd of a smaller machine's memory.
 *  - concurrent marking: on one or two cores the four threads that mark a heap beside the program take the turns of the engine. A full collection held requests
 *    up for 60 to 100 ms; marked by its own thread in steps, the same work holds up that thread alone ([ADR 42](../../../docs/adr/0042-alerts-in-the-transaction-of-their-verdicts.md)).
 *  - interrupt budget: a function is compiled with optimization once its calls and loops have used so many bytes of bytecode. With a quarter of these 132 KiB
 *    the first 1,000 anomalies of a server had 1,084 functions compiled, 2.1 of the 4.1 s of the processor that they took; with these, 0.7 of 2.6 (row
 *    `anomalies`; [ADR 78](../../../docs/adr/0078-v8-lets-others-go-first.md)). With four times as many the functions themselves take more than is saved. Not while
 *    threads load their modules: what runs then is the loader, which runs no more later, and its compilations were a fifth of what a start takes of the processor.
 *  - inlining stays as V8 has it: a value of a long baseline runs through 60 small functions, and 3,000 bytes of bytecode instead of 920 halve what it allocates and take a third of its
 *    time, but a sample that comes in takes 14 % more of the processor then (nine pairs, remote-write of 2,000 a request).
 *  - threads: on one or two cores those of V8 let others go first (yieldV8Threads), and the new space is collected by its own thread alone:
 *    with helpers it waits for them.
 *
 * V8 reads the others whenever it decides, so they count from this call on, also in threads that are started later. V8 complains on standard error of flags that it does not know:
 * for the versions of Node 20, 22 and 24 it stands below which these are, and any other is asked, which takes 0.1 s of a start; where it does not answer none is set.
 *
 * The threads of V8 that compile functions and help to collect garbage. On one or two cores they take the turns of the threads that somebody waits for: a
 * function of 13 ms held requests and verdicts up for 20. With a nice value they get a tenth of a core that an engine wants too (engine-priority.ts: 10 less), and
 * all of one that nobody wants. Much more is too much: a collection waits for its helpers, and did so for 100 ms where the engine left them nothing.
 *
 * Node 20 does not name its threads, so they are found by the order in which they are made: the main thread, the one that delays Node's tasks, V8's. Wrong
 * ones would be slower, no more.
 */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism, setPriority, totalmem } from "node:os";
import { setFlagsFromString } from "node:v8";
import { MIB } from "../../core/config/byte-units.ts";

/** With so many cores or fewer the threads of the process take one another's turns, and it matters who goes first. */
export const CORES_FEW = 2;

/** Node's `--v8-pool-size` unless somebody sets it. */
const POOL_THREADS = 4;

/** The main thread, and that of delayed tasks. */
const THREADS_BEFORE = 2;

/** Beyond every id of a thread: these begin again at the low ones. */
const THREAD_IDS_MAX = 2 ** 22;
const NICE = 14;

const FLAGS = ["--no-memory-reducer", "--heap-growing-percent=100"] as const;
const LOADING_BUDGET = `--interrupt-budget=${1024 * 1024}`;
const SERVING_BUDGET = `--interrupt-budget=${132 * 1024}`;
/** Flags that a version of V8 does not know, by its first two numbers. */
const UNKNOWN_FLAGS: ReadonlyMap<string, readonly string[]> = new Map([
  ["11.3", []],
  ["12.4", ["interrupt-budget"]],
  ["13.6", ["interrupt-budget"]],
]);
const ASK_MS_MAX = 10_000;
const LEAST_LIMIT_MIB_MAX = 128;
const LEAST_LIMIT_MIB_MIN = 16;
const LEAST_LIMIT_SHARE = 1 / 32;

/** Below this a thread's heap is not collected as a whole, MiB. `memoryBytes` are those of the machine, or of the container. */
export function leastLimitMib(memoryBytes: number): number {
  return Math.max(LEAST_LIMIT_MIB_MIN, Math.min(LEAST_LIMIT_MIB_MAX, Math.floor((memoryBytes * LEAST_LIMIT_SHARE) / MIB)));
}

/** Memory of the machine that the process may use. */
function memoryBytes(): number {
  const constrained = process.constrainedMemory?.() ?? 0;
  return constrained > 0 ? Math.min(totalmem(), constrained) : totalmem();
}

/** Sets V8's flags, and the nice value of its threads; before threads are started. `cores` are those that the process may use. Returns what is to be called once the threads have loaded their modules. */
export function applyV8Policy(cores = availableParallelism()): () => void {
  const few = cores > CORES_FEW ? [] : ["--no-concurrent-marking", "--no-parallel-scavenge"];
  const knows = flagsKnownTo(process.versions.v8, v8Options);
  const set = (flags: readonly string[]) => {
    for (const flag of flags.filter(knows)) setFlagsFromString(flag);
  };
  set([...FLAGS, LOADING_BUDGET, `--initial-old-space-size=${leastLimitMib(memoryBytes())}`, ...few]);
  if (cores <= CORES_FEW) yieldV8Threads();
  return () => set([SERVING_BUDGET]);
}

/** Whether a version of V8 knows a flag; `ask` gives its options, one a line as `node --v8-options` prints them, where nothing stands here of the version. */
export function flagsKnownTo(version: string, ask: () => string): (flag: string) => boolean {
  const unknown = UNKNOWN_FLAGS.get(version.split(".", 2).join("."));
  if (unknown !== undefined) return (flag) => !unknown.includes(nameOf(flag));
  const names = new Set(Array.from(ask().matchAll(/^\s*--([\w-]+)/gm), ([, name = ""]) => name.replaceAll("_", "-")));
  return (flag) => names.has(nameOf(flag));
}

function nameOf(flag: string): string {
  return flag.replace(/^--(no-)?/, "").replace(/=.*$/, "");
}

function v8Options(): string {
  const { NODE_OPTIONS: _, ...env } = process.env;
  return spawnSync(process.execPath, ["--v8-options"], { encoding: "utf8", env, timeout: ASK_MS_MAX }).stdout ?? "";
}

/** V8's among the ids of all threads of a process: none where there are too few, or where `nodeOptions` set their number. */
export function v8Threads(ids: readonly number[], processId: number, nodeOptions: string): number[] {
  if (/v8[-_]pool[-_]size/.test(nodeOptions)) return [];
  const age = (id: number) => (id < processId ? id + THREAD_IDS_MAX : id);
  const found = ids.toSorted((a, b) => age(a) - age(b)).slice(THREADS_BEFORE, THREADS_BEFORE + POOL_THREADS);
  return found.length === POOL_THREADS ? found : [];
}

/** Lets other threads go before V8's. To be called before any thread is started; where the system does not report threads nothing happens. */
function yieldV8Threads(): void {
  try {
    const ids = readdirSync("/proc/self/task").map(Number);
    for (const id of v8Threads(ids, process.pid, [...process.execArgv, process.env.NODE_OPTIONS].join(" "))) setPriority(id, NICE);
  } catch {
    // No such folder: not Linux.
  }
}
