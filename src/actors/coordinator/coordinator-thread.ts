// The coordinator's thread as main sees it: started, loaded, stopped.
import { Signal } from "../../adapters/runtime/signal.ts";
import { createChannel, type MessagePort, type Port, type Thread } from "../../adapters/runtime/threads.ts";
import type { CoordinatorCommand, CoordinatorMessage } from "../../core/protocol/query.ts";
import type { CoordinatorThreadData, LoadedState } from "./worker.ts";

/** The coordinator as main sees it. */
export interface CoordinatorHandle {
  readonly port: Port<CoordinatorMessage | LoadedState, CoordinatorCommand>;
  readonly thread: Thread;
  /** Rejects where the start has to end. */
  readonly loaded: Promise<LoadedState>;
  readonly stopped: Signal;
}

/** What a start needs besides what the thread is given. */
export interface CoordinatorStart {
  spawn(name: string, file: string, data: unknown, ports: readonly MessagePort[]): Thread;
  onMessage(message: CoordinatorMessage): void;
  /** Why the start has to end. */
  logLost(names: readonly string[]): Error;
}

/** Starts the thread. */
export function startCoordinator(settings: Omit<CoordinatorThreadData, "mainPort">, start: CoordinatorStart): CoordinatorHandle {
  const { first: port, second } = createChannel<CoordinatorMessage | LoadedState, CoordinatorCommand>();
  const data: CoordinatorThreadData = { ...settings, mainPort: second.raw };
  const thread = start.spawn("coordinator", "./actors/coordinator/worker.js", data, [second.raw, ...settings.enginePorts]);
  const stopped = new Signal();
  const loaded = new Promise<LoadedState>((resolve, reject) => {
    port.onMessage((message) => {
      if (message.type === "loaded") resolve(message);
      else if (message.type === "log-lost") reject(start.logLost(message.names));
      else if (message.type === "stopped") stopped.give();
      else start.onMessage(message);
    });
  });
  loaded.catch(() => undefined); // it may come before anybody waits for it
  return { port, thread, loaded, stopped };
}
