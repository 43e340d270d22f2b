// Worker threads and message ports, wrapped: nothing else imports node:worker_threads or posts a message.
import { isMainThread, MessageChannel, type MessagePort, parentPort, receiveMessageOnPort, Worker, workerData } from "node:worker_threads";

/** One end of a channel for control messages of two types. */
export class Port<Incoming, Outgoing> {
  /** The raw port: only to be handed to another thread in `spawn`. */
  readonly raw: MessagePort;

  constructor(raw: MessagePort) {
    this.raw = raw;
  }

  send(message: Outgoing, transfer: readonly ArrayBuffer[] = []): void {
    this.raw.postMessage(message, [...transfer]);
  }

  /** The oldest message that has not been taken, without the event loop: for threads that block. */
  take(): Incoming | undefined {
    return receiveMessageOnPort(this.raw)?.message as Incoming | undefined;
  }

  onMessage(receive: (message: Incoming) => void): void {
    this.raw.on("message", receive);
  }

  close(): void {
    this.raw.close();
  }
}

/** Two connected ports. */
export interface Channel<A, B> {
  readonly first: Port<A, B>;
  readonly second: Port<B, A>;
}

/** Makes a channel: what `second` sends, of type A, comes in at `first`. */
export function createChannel<A, B>(): Channel<A, B> {
  const { port1, port2 } = new MessageChannel();
  return { first: new Port<A, B>(port1), second: new Port<B, A>(port2) };
}

/** A thread that runs one actor. */
export interface Thread {
  /** Resolves with the exit code. */
  readonly ended: Promise<number>;
  terminate(): Promise<number>;
}

/** Whether this is the process's first thread. */
export const onMainThread = isMainThread;

/** Starts a built worker file with its data; `ports` are moved to it. `onError` is told of what it did not catch. */
export function spawn(file: URL, name: string, data: unknown, ports: readonly MessagePort[], onError: (error: Error) => void): Thread {
  const worker = new Worker(file, { name, workerData: data, transferList: [...ports] });
  worker.on("error", onError);
  const ended = new Promise<number>((resolve) => worker.once("exit", resolve));
  return { ended, terminate: () => worker.terminate() };
}

/** The data that this thread was spawned with. Throws on the main thread. */
export function threadData<Data>(): Data {
  if (isMainThread || parentPort === null) throw new Error("this file runs as a worker thread only");
  return workerData as Data;
}

/** Wraps a port that came with the thread's data. */
export function adoptPort<Incoming, Outgoing>(raw: MessagePort): Port<Incoming, Outgoing> {
  return new Port<Incoming, Outgoing>(raw);
}

export type { MessagePort };
