// Worker threads, wrapped: nothing but this room imports node:worker_threads.
import { isMainThread, type MessagePort, parentPort, Worker, workerData } from "node:worker_threads";
import { fatal, listen } from "../../core/faults/guard.ts";

/** Thread: runs one or more actors. */
export interface Thread {
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  terminate(): Promise<number>;
}

/** Whether this is the process's first thread. */
export const onMainThread = isMainThread;

/** What a thread is started with: `ports` are moved to it. */
export interface ThreadStart {
  readonly data: unknown;
  readonly ports: readonly MessagePort[];
  /** Megabytes of its heap; a thread that takes more ends. */
  readonly heapMbMax?: number;
}

/** Starts a built worker file. `onError` is given what it did not catch. */
export function spawn(file: URL, name: string, { data, ports, heapMbMax }: ThreadStart, onError: (error: unknown) => void): Thread {
  const limits = heapMbMax === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: heapMbMax } };
  const worker = new Worker(file, { name, workerData: data, transferList: [...ports], ...limits });
  listen(worker, "error", fatal("the end of a thread"), onError);
  const ended = new Promise<number>((resolve) => worker.once("exit", resolve));
  return { ended, terminate: () => worker.terminate() };
}

/** The data that this thread was spawned with. Throws on the main thread. */
export function threadData<Data>(): Data {
  if (isMainThread || parentPort === null) throw new Error("this file runs as a worker thread only");
  return workerData as Data;
}
