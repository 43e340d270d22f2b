// The windows of one service that are not closed: what came for them, and the ids of it, so that a repeat changes nothing.
//
// A sender that stops or starts in the middle of a window leaves one that is not whole: its rate is no rate, its share of errors one of fewer. After a run of
// windows the first one behind a gap and the last one before it are cut. The last one is known by its successor: where that has nothing yet when the window
// closes, it waits for one closing more. All of it follows from the closings that items belong to, so a replay decides alike.
import { IdSet } from "../../core/collections/id-set.ts";
import type { WordPool } from "../../core/collections/word-pool.ts";
import { ClosedWindows } from "./closed-windows.ts";

/** Keys of windows by closing and window: the closing is at most 9,000 behind the window. */
const KEY_SPREAD = 2 ** 34;
/** Windows this far before the newest closing can get nothing more: 25 hours. */
const REACH = 9_000;
/** Windows in a row behind which a missing one says that the sender stopped, as many as a baseline needs: who speaks less often leaves gaps anyway. */
const RUN_MIN = 12;

/** One window on its way to its closing. */
export interface OpenWindow<T> {
  readonly window: number;
  readonly closing: number;
  readonly ids: IdSet;
  readonly content: T;
}

/** Whether the values of an ended window stand: they do not where it was closed before, nor where its sender began or ended in the middle of it. */
export type WindowOutcome = "whole" | "late" | "cut";

/** A window that has ended, and the closing that decided it. */
export interface EndedWindow<T> {
  readonly open: OpenWindow<T>;
  readonly outcome: WindowOutcome;
  readonly closing: number;
}

/** Windows of one service. */
export class OpenWindows<T> {
  readonly #pool: WordPool;
  readonly #content: () => T;
  readonly #open = new Map<number, OpenWindow<T>>();
  /** Closed windows that wait for a successor, for one closing. */
  #waiting: OpenWindow<T>[] = [];
  #last: OpenWindow<T> | undefined;
  closed = new ClosedWindows();
  /** The newest closing that has been done. */
  closedUpTo = 0;

  /** Ids lie in memory of `pool`. */
  constructor(pool: WordPool, content: () => T) {
    this.#pool = pool;
    this.#content = content;
  }

  get size(): number {
    return this.#open.size + this.#waiting.length;
  }

  /** The window that takes what came for a closing, made at first; undefined when the window has been closed before. */
  take(window: number, closing: number): OpenWindow<T> | undefined {
    const wanted = Math.max(closing, this.closedUpTo + 1);
    const last = this.#last;
    if (last !== undefined && last.window === window && last.closing === wanted) return last;
    const key = keyOf(window, wanted);
    let open = this.#open.get(key);
    if (open === undefined) {
      if (this.closed.has(window)) return undefined;
      open = this.#make(window, wanted);
      this.#open.set(key, open);
    }
    this.#last = open;
    return open;
  }

  /** The ids of the window that took something last. */
  get lastIds(): IdSet | undefined {
    return this.#last?.ids;
  }

  /** The first closing that has something to close; Infinity for none. */
  get nextClosing(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const { closing } of this.#open.values()) next = Math.min(next, closing);
    for (const { closing } of this.#waiting) next = Math.min(next, closing + 1);
    return next;
  }

  /** Ends what is due up to a closing, in the order of closings and windows. */
  close(upTo: number): EndedWindow<T>[] {
    if (this.nextClosing > upTo) return [];
    this.#last = undefined;
    this.closedUpTo = Math.max(this.closedUpTo, upTo);
    const due = [...this.#open.values()].filter(({ closing }) => closing <= upTo);
    const ended: EndedWindow<T>[] = [];
    for (const open of due.sort((a, b) => a.closing - b.closing || a.window - b.window)) {
      this.#endWaiting(open.closing, ended);
      this.#end(open, ended);
    }
    this.#endWaiting(upTo, ended);
    this.closed.forgetBefore(upTo - REACH);
    return ended;
  }

  /** A closed window that waits for its successor, as a checkpoint holds it. */
  wait(window: number, closing: number): OpenWindow<T> {
    const known = this.#waiting.find((open) => open.window === window);
    if (known !== undefined) return known;
    const open = this.#make(window, closing);
    this.#waiting.push(open);
    return open;
  }

  /** Those that are not closed. */
  values(): Iterable<OpenWindow<T>> {
    return this.#open.values();
  }

  /** Those that are closed and wait for a successor. */
  get waiting(): readonly OpenWindow<T>[] {
    return this.#waiting;
  }

  #make(window: number, closing: number): OpenWindow<T> {
    return { window, closing, ids: new IdSet(this.#pool), content: this.#content() };
  }

  #end(open: OpenWindow<T>, ended: EndedWindow<T>[]): void {
    const { window, closing } = open;
    this.#open.delete(keyOf(window, closing));
    const outcome = this.#outcome(window, closing);
    this.closed.add(window);
    if (outcome === undefined) this.#waiting.push(open);
    else ended.push({ open, outcome, closing });
  }

  /** Undefined where it depends on what comes until the next closing. */
  #outcome(window: number, closing: number): WindowOutcome | undefined {
    if (this.closed.has(window)) return "late";
    if (this.closed.runBefore(window) < RUN_MIN) return "whole";
    if (!this.closed.has(window - 1)) return "cut";
    return this.#hasBy(window + 1, closing + 1) ? "whole" : undefined;
  }

  #endWaiting(upTo: number, ended: EndedWindow<T>[]): void {
    if (this.#waiting.length === 0) return;
    const due = this.#waiting.filter(({ closing }) => closing < upTo);
    this.#waiting = this.#waiting.filter(({ closing }) => closing >= upTo);
    for (const open of due) {
      const closing = open.closing + 1;
      ended.push({ open, outcome: this.#hasBy(open.window + 1, closing) ? "whole" : "cut", closing });
    }
  }

  /** Whether something came for a window that belongs to a closing up to this one. */
  #hasBy(window: number, upTo: number): boolean {
    if (this.closed.has(window)) return true;
    for (const open of this.#open.values()) if (open.window === window && open.closing <= upTo) return true;
    return false;
  }
}

function keyOf(window: number, closing: number): number {
  return (closing - window) * KEY_SPREAD + window;
}
