// Messages between actors: each has a `type`, and whoever receives them has one handler a type. A mailbox is one actor's end of a channel.
import { MessageChannel, type MessagePort, receiveMessageOnPort } from "node:worker_threads";
import { type Home, listen } from "../../core/faults/guard.ts";

/** Message: its `type` says which handler takes it. */
export interface Message {
  readonly type: string;
}

/** Handlers: one for each type of message; one that is missing does not compile. */
export type Handlers<M extends Message, Result = void> = {
  readonly [T in M["type"]]: (message: Extract<M, { readonly type: T }>) => Result;
};

/** Gives a message to its handler. Throws where there is none: sender and receiver are of one build, so that is a defect. */
export function dispatch<M extends Message, Result>(handlers: Handlers<M, Result>, message: M): Result {
  const type = message.type as M["type"];
  if (!Object.hasOwn(handlers, type)) throw new Error(`no handler takes messages of type "${type}": ${Object.keys(handlers).join(", ")}`);
  return (handlers[type] as (message: M) => Result)(message);
}

/** Mailbox: one end of a channel, with the types of what comes in and of what goes out. */
export class Mailbox<Incoming extends Message, Outgoing extends Message> {
  /** The raw port: only to be handed to another thread with its data. */
  readonly raw: MessagePort;

  constructor(raw: MessagePort) {
    this.raw = raw;
  }

  send(message: Outgoing, transfer: ReadonlyArray<ArrayBuffer | MessagePort> = []): void {
    this.raw.postMessage(message, [...transfer]);
  }

  /** Gives each message to its handler from now on; those that came before, first. `home` says what a handler's throw costs. For threads with an event loop. */
  serve(handlers: Handlers<Incoming, unknown>, home: Home | ((message: Incoming) => Home)): void {
    listen(this.raw, "message", home, (message: Incoming) => dispatch(handlers, message));
  }

  /** The oldest message that has not been taken, without the event loop: for threads that block. */
  take(): Incoming | undefined {
    return receiveMessageOnPort(this.raw)?.message as Incoming | undefined;
  }

  close(): void {
    this.raw.close();
  }
}

/** Channel: two connected mailboxes. */
export interface Channel<A extends Message, B extends Message> {
  readonly first: Mailbox<A, B>;
  readonly second: Mailbox<B, A>;
}

/** Makes a channel: what `second` sends, of type A, comes in at `first`. */
export function createChannel<A extends Message, B extends Message>(): Channel<A, B> {
  const { port1, port2 } = new MessageChannel();
  return { first: new Mailbox<A, B>(port1), second: new Mailbox<B, A>(port2) };
}

export type { MessagePort };
