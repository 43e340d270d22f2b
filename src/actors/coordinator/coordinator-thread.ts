// The coordinator's thread as main sees it: started, loaded, stopped.
import { ActorHandle } from "../../adapters/threads/actor-handle.ts";
import type { ActorStart, ActorThread } from "../../adapters/threads/actor-thread.ts";
import { createChannel, type Handlers, type MessagePort } from "../../adapters/threads/mailbox.ts";
import { fatal, task } from "../../core/faults/guard.ts";
import type { CoordinatorReport, LoadedState, LogLost } from "../../core/protocol/coordinator-report.ts";
import type { CoordinatorCommand } from "../../core/protocol/query.ts";
import type { CoordinatorThreadData, MainCommand } from "./worker.ts";

type StartReport = LoadedState | LogLost;

/** Dependencies of a start besides what the thread is given. */
export interface CoordinatorStart {
  /** Starts a thread with a built file, relative to `dist/`. */
  startThread(name: string, file: string, start: () => ActorStart): ActorThread;
  readonly handlers: Handlers<CoordinatorReport>;
  /** Why the start has to end. */
  logLost(names: readonly string[]): Error;
}

/** Messages that change nothing here that others rely on. */
const PASSING: ReadonlySet<string> = new Set([
  "event-chunks",
  "summary-wanted",
  "notifier-wanted",
  "notifier-hung",
  "cycle-ended",
  "log",
  "fault",
]);
const PASSING_HOME = task("a message of the coordinator");
const STATE_HOME = fatal("a message of the coordinator");

/** The coordinator as main sees it. It runs from the beginning. */
export class CoordinatorThread {
  readonly #handle: ActorHandle<CoordinatorReport | StartReport, MainCommand>;
  readonly #thread: ActorThread;
  /** Rejects where the start has to end. */
  readonly loaded: Promise<LoadedState>;

  constructor(settings: Omit<CoordinatorThreadData, "mainPort">, { startThread, handlers, logLost }: CoordinatorStart) {
    const { first, second } = createChannel<CoordinatorReport | StartReport | { type: "stopped" }, MainCommand>();
    this.#handle = new ActorHandle(first);
    const data: CoordinatorThreadData = { ...settings, mainPort: second.raw };
    const ports = [second.raw, ...settings.enginePorts];
    this.#thread = startThread("coordinator", "./actors/coordinator/worker.js", () => ({ data, ports }));
    this.loaded = new Promise((resolve, reject) => {
      const whole = {
        ...handlers,
        loaded: resolve,
        "log-lost": ({ names }: { readonly names: readonly string[] }) => reject(logLost(names)),
      };
      this.#handle.serve(whole, ({ type }) => (PASSING.has(type) ? PASSING_HOME : STATE_HOME));
    });
    this.loaded.catch(() => undefined); // it may come before anybody waits for it
  }

  send(command: CoordinatorCommand): void {
    this.#handle.mailbox.send(command);
  }

  /** Its end of the channel to a notifier that has been started; null once that has ended. */
  sendNotifier(port: MessagePort | null): void {
    this.#handle.mailbox.send({ type: "notifier", port }, port === null ? [] : [port]);
  }

  /** Its end of the channel to a query worker that has been started. */
  sendQueryWorker(port: MessagePort): void {
    this.#handle.mailbox.send({ type: "query-worker", port }, [port]);
  }

  /** Has it store what engines have sent, close its stores and end; resolves when it has stopped. */
  async stop(): Promise<void> {
    this.#handle.reportStop();
    await this.#handle.stopped;
  }

  /** Resolves when its thread has ended. */
  get ended(): Promise<void> {
    return this.#thread.ended;
  }
}
