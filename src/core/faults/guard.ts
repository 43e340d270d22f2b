/**
 * The one guard that listeners, timers and promises nobody waits for run under, in every thread that has an event loop. A throw there has no caller: without a guard it ends the process, whoever's
 * fault it was. Each names its home, which says what the throw costs (ADR 8 has the table). scripts/check-listeners.mjs refuses a listener, timer or promise in src that goes past this file.
 *
 * A guard costs a closure a listener and a try a turn, nothing a sample.
 */
import { errorOf } from "../text/error-text.ts";

/** What a throw costs, and the label by which it is counted. A fatal one is not counted: it ends the process. */
export const FAULT_PLACES = ["request", "connection", "task", "child", "thread"] as const;
export type FaultPosition = (typeof FAULT_PLACES)[number];

/** Where a throw is at home. */
export interface Home {
  readonly where: FaultPosition | "fatal";
  /** What has failed, as the log names it: a constant of the code, so that there are few. */
  readonly name: string;
  /** Ends what the throw has spoilt, and nothing else; what has none goes on at its next turn. */
  readonly answer?: (error: unknown) => void;
}

/** A throw that was answered. */
export interface Fault {
  readonly where: FaultPosition;
  readonly name: string;
  readonly error: unknown;
}

/** Work that goes on at its next turn. */
export function task(name: string): Home {
  return { where: "task", name };
}

/** A socket, or a session over one, that ends with the throw. */
export function connection(name: string, answer: () => void): Home {
  return { where: "connection", name, answer };
}

/** A process of ours that does a job; the job fails with the throw, and the process ends. */
export function child(name: string, answer: (error: unknown) => void): Home {
  return { where: "child", name, answer };
}

/** A part without which nothing can be trusted: the throw ends the process, and names the part (ADR 8). */
export function fatal(name: string): Home {
  return { where: "fatal", name };
}

/** Of a thread that counts nothing: what has no answer of its own is thrown on, as if there were no guard. */
function throwOn({ where, error }: Fault): void {
  if (where === "task" || where === "thread") throw error;
}

let report: (fault: Fault) => void = throwOn;

/** Says who counts and logs the faults of this thread, from now on; once a thread, before its first listener. Gives back what takes it away again. */
export function reportFaults(to: (fault: Fault) => void): () => void {
  report = to;
  return () => {
    report = throwOn;
  };
}

/** Counts a fault that was answered already. */
export function noteFault(fault: Fault): void {
  report(fault);
}

/** Answers a throw that was caught elsewhere, as its home has it. Throws where the home is fatal, or the throw has come of a fatal part. */
export function answerFault(home: Home, error: unknown): void {
  const { where, name } = home;
  if (where === "fatal" || (error instanceof Error && failedPart(error) !== undefined)) throw failureOf(name, error);
  try {
    home.answer?.(error);
  } catch (second) {
    report({ where, name: `${name}, as its fault was answered`, error: second });
  }
  report({ where, name, error });
}

/** Runs a call under the guard; a promise that it returns is guarded until it settles. */
export function run(home: Home, call: () => unknown): void {
  try {
    const result = call();
    if (result instanceof Promise) background(home, result);
  } catch (error) {
    answerFault(home, error);
  }
}

/** A home, or how it follows from what the listener is called with first: a server's listener is at home at the connection that it is given. Asked only where something is thrown. */
type HomeOf<Value> = Home | ((value: Value) => Home);

function homeOf<Value>(home: HomeOf<Value>, value: Value): Home {
  return typeof home === "function" ? home(value) : home;
}

/** The call under the guard, to be handed to whoever makes it. */
export function guarded<Values extends unknown[]>(
  home: HomeOf<NoInfer<Values>[0]>,
  call: (...values: Values) => unknown,
): (...values: Values) => void {
  return (...values) => {
    try {
      const result = call(...values);
      if (result instanceof Promise) background(homeOf(home, values[0]), result);
    } catch (error) {
      answerFault(homeOf(home, values[0]), error);
    }
  };
}

/** The same for a listener of one object, with its home made where it throws: for what is made with every request. */
export function guardedOf<Owner, Values extends unknown[]>(
  owner: Owner,
  home: (owner: Owner) => Home,
  call: (owner: Owner, ...values: Values) => void,
): (...values: Values) => void {
  return (...values) => {
    try {
      call(owner, ...values);
    } catch (error) {
      answerFault(home(owner), error);
    }
  };
}

/** The same for who makes the call wants an answer: `otherwise` where it threw. */
export function guardedOr<Values extends unknown[], Result>(
  home: Home,
  otherwise: Result,
  call: (...values: Values) => Result,
): (...values: Values) => Result {
  return (...values) => {
    try {
      return call(...values);
    } catch (error) {
      answerFault(home, error);
      return otherwise;
    }
  };
}

/** A promise that nobody waits for. */
export function background(home: Home, promise: Promise<unknown>): void {
  promise.catch((error: unknown) => answerFault(home, error));
}

/** What events come from: sockets, streams, servers, ports, workers, child processes. */
interface Emitter {
  on(event: string, listener: (...values: unknown[]) => void): unknown;
  once(event: string, listener: (...values: unknown[]) => void): unknown;
}

type Listener<Values extends unknown[]> = (...values: Values) => unknown;

/** Calls `call` with each event of a name. */
export function listen<Values extends unknown[]>(
  emitter: Emitter,
  event: string,
  home: HomeOf<NoInfer<Values>[0]>,
  call: Listener<Values>,
): void {
  emitter.on(event, guarded(home, call) as (...values: unknown[]) => void);
}

/** Calls `call` with the first event of a name, before those who listen already. */
export function listenFirst<Values extends unknown[]>(
  emitter: NodeJS.EventEmitter,
  event: string,
  home: HomeOf<NoInfer<Values>[0]>,
  call: Listener<Values>,
): void {
  emitter.prependOnceListener(event, guarded(home, call));
}

/** Calls `call` with the first event of a name. */
export function listenOnce<Values extends unknown[]>(
  emitter: Emitter,
  event: string,
  home: HomeOf<NoInfer<Values>[0]>,
  call: Listener<Values>,
): void {
  emitter.once(event, guarded(home, call) as (...values: unknown[]) => void);
}

/** The last home of the main thread: what went past every guard, or was thrown on by one, ends the process. Other threads end by themselves, and are named by who started them. */
export function endOnUncaught(end: (error: Error) => never): void {
  const take = (error: unknown): never => end(errorOf(error));
  process.on("uncaughtException", take);
  process.on("unhandledRejection", take);
}

/** Takes errors that are told by another event too, or that nobody can do anything about: an error event without a listener is thrown. */
export function ignoreErrors(emitter: Emitter, event = "error"): void {
  emitter.on(event, () => undefined);
}

/** Calls once, `ms` from now at the earliest. */
export function after(ms: number, home: Home, call: () => unknown): NodeJS.Timeout {
  return setTimeout(() => run(home, call), ms);
}

/** Calls every `ms`, also behind a call that threw. */
export function every(ms: number, home: Home, call: () => unknown): NodeJS.Timeout {
  return setInterval(() => run(home, call), ms);
}

/** A call that waits for the end of a turn. */
interface Due {
  readonly home: Home;
  readonly call: () => unknown;
}

/** What waits for the end of this turn, in its order, and what comes behind all of that. One immediate runs both: hundreds of requests may end in a turn. */
let due: Due[] = [];
const lastDue: Due[] = [];
let isEndScheduled = false;

/** Calls once this turn of the event loop is over; at its end, what is added waits for the end of the next. */
export function afterTurn(home: Home, call: () => unknown): void {
  due.push({ home, call });
  scheduleEnd();
}

/** Calls once this turn of the event loop is over, and all that waited for that has been called, which may ask for this: it gathers what they leave. */
export function lastInTurn(home: Home, call: () => unknown): void {
  lastDue.push({ home, call });
  scheduleEnd();
}

function scheduleEnd(): void {
  if (isEndScheduled) return;
  isEndScheduled = true;
  setImmediate(runEnd);
}

function runEnd(): void {
  const now = due;
  due = [];
  let next = 0;
  try {
    while (next < now.length) runDue(now[next++] as Due);
    for (let last = lastDue.length; last > 0; last--) runDue(lastDue.shift() as Due);
  } finally {
    // Of what waited behind a throw that nobody answers nothing is lost.
    if (next < now.length) due = [...now.slice(next), ...due];
    isEndScheduled = false;
    if (due.length > 0 || lastDue.length > 0) scheduleEnd();
  }
}

function runDue({ home, call }: Due): void {
  run(home, call);
}

/** Resolves once this turn of the event loop is over. */
export function turnEnd(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Resolves in `ms`; with `unref` it keeps no thread alive. */
export function sleep(ms: number, { unref = false } = {}): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    if (unref) timer.unref();
  });
}

/** Makes a call without which nothing can be trusted, wherever it is made from: no guard on its way takes what it throws. */
export function critical<Result>(name: string, call: () => Result): Result {
  try {
    return call();
  } catch (error) {
    throw failureOf(name, error);
  }
}

/** The error as it was, with the name of the part that failed, which makes it fatal; anything else thrown becomes an error. */
export function failureOf(name: string, thrown: unknown): Error {
  const error = errorOf(thrown);
  if (failedPart(error) === undefined) Object.defineProperty(error, "failedPart", { value: name, enumerable: true, configurable: true });
  return error;
}

/** Name of the part whose failure an error is, also of another thread's. */
export function failedPart(error: Error): string | undefined {
  const { failedPart: name } = error as { failedPart?: unknown };
  return typeof name === "string" ? name : undefined;
}
