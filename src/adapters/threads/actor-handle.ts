// An actor as whoever started it sees it: its mailbox, whether it is ready, and its orderly stop.
import type { Home } from "../../core/faults/guard.ts";
import type { Handlers, Mailbox, Message } from "./mailbox.ts";

/** Tells an actor to bring to its end what is under way; it answers with Stopped. */
export interface StopCommand {
  readonly type: "stop";
}

/** The last that an actor says. */
export interface Stopped {
  readonly type: "stopped";
}

/** Handle of an actor that says once that it is ready, and once that it has stopped. */
export class ActorHandle<Incoming extends Message, Outgoing extends Message> {
  readonly mailbox: Mailbox<Incoming | Stopped, Outgoing | StopCommand>;
  readonly ready = new Signal();
  readonly #stopped = new Signal();

  constructor(mailbox: Mailbox<Incoming | Stopped, Outgoing | StopCommand>) {
    this.mailbox = mailbox;
  }

  /** Gives each message to its handler; `Stopped` is taken here. */
  serve(handlers: Handlers<Incoming, unknown>, home: Home | ((message: Incoming | Stopped) => Home)): void {
    const all = { ...handlers, stopped: () => this.#stopped.give() } as Handlers<Incoming | Stopped, unknown>;
    this.mailbox.serve(all, home);
  }

  /** Tells it to stop. */
  reportStop(): void {
    this.mailbox.send({ type: "stop" });
  }

  /** Resolves when it has stopped. */
  get stopped(): Promise<void> {
    return this.#stopped.resolved;
  }
}

/** A promise that somebody else fulfils. */
export class Signal {
  readonly resolved: Promise<void>;
  #resolve: () => void = () => {};

  constructor() {
    this.resolved = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  give(): void {
    this.#resolve();
  }
}
